#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# imap:// and imaps://: dovecot with TLS.
NAME=imap
. "$RJ_SRC/tests/backends/tree.sh"
B_URL=$B_TLS_URL
suite log/test-race RJ_ROUNDS=1 RJ_RACERS=3
