#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stores that take a conditional PUT and do not look at its condition: nginx, which
# serves as such an S3; and as a WebDAV without PROPFIND.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/backends/frame.sh"
b_need nginx

RJLOG=$RJ_BUILD/rjlog/rjlog
check "nginx starts" b_start nginx || exit 1

refused() { # NAME URL
	status 1 "$1: mkrjfs refuses it" "$MKRJFS" -q -F -t ext4 -J "remote=$2,size=8,ack=received" "$T_DIR/n.img" 64M
	like "$1: and changes nothing" "$OUT" 'nothing was changed'
}
status 4 "an S3 that ignores If-None-Match: found" "$RJLOG" probe "$B_URL"
like "... and said" "$OUT" 'it ignores If-None-Match'
refused "an S3 that ignores If-None-Match" "$B_URL"
status 4 "a WebDAV that cannot list" "$RJLOG" probe "$NGINX_DAV"
like "... is said" "$OUT" 'no journal can be kept there.*status 405'
refused "a WebDAV that cannot list" "$NGINX_DAV"
