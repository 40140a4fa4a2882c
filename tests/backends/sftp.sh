#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# sftp://: OpenSSH.
NAME=sftp FILES=sftp/logs
. "$RJ_SRC/tests/backends/tree.sh"
