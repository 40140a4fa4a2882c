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

truncate -s 64M "$T_DIR/n.img" && mke2fs -q -F -t ext4 -L old "$T_DIR/n.img" && cp "$T_DIR/n.img" "$T_DIR/n.was" || exit 99
refused() { # NAME URL
	status 1 "$1: mkrjfs refuses it" "$MKRJFS" -q -F -t ext4 -J "remote=$2,size=8,ack=received" "$T_DIR/n.img"
	like "$1: and changes nothing" "$OUT" 'nothing was changed'
	check "... the old file system is there" cmp "$T_DIR/n.img" "$T_DIR/n.was"
}
status 4 "an S3 that ignores If-None-Match: found" "$RJLOG" probe "$B_URL"
like "... and said" "$OUT" 'it ignores If-None-Match'
refused "an S3 that ignores If-None-Match" "$B_URL"
status 4 "a WebDAV that cannot list" "$RJLOG" probe "$NGINX_DAV"
like "... is said" "$OUT" 'no journal can be kept there.*status 405'
refused "a WebDAV that cannot list" "$NGINX_DAV"

# a move tries its target before the volume, or its old log, is changed
mkdir "$T_DIR/store" && truncate -s 64M "$T_DIR/v.img"
check "a volume" "$MKRJFS" -q -F -t ext4 -J "remote=file://$T_DIR/store,size=8" "$T_DIR/v.img"
cp "$T_DIR/v.img" "$T_DIR/was.img"
find "$T_DIR/store" | sort >"$T_DIR/was"
for url in "$B_URL" "$NGINX_DAV"; do
	status 2 "rjtune -J refuses $url" "$RJ_BUILD/rjtune/rjtune" -J "remote=$url,ack=received" "$T_DIR/v.img"
	check "the volume is as it was" cmp "$T_DIR/v.img" "$T_DIR/was.img"
	is "and its log" "$(find "$T_DIR/store" | sort)" "$(cat "$T_DIR/was")"
done
