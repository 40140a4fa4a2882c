#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ftp://: vsftpd with TLS.
NAME=ftp FILES=ftp/root/logs
. "$RJ_SRC/tests/backends/tree.sh"
