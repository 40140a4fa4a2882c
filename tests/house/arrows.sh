#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The include arrows point down only, and a third-party header is included
# only by the room that owns it.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

# violations TREE: one line for each #include that arrows.table does not allow
violations() {
	(cd "$1" && find lib tools mkrjfs rjtune rjrecover rjmount rjadvise rjbackup rjlog rjournald \
		rjctl rjserver bench tests -name '*.[ch]' 2>/dev/null | LC_ALL=C sort |
		xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null) |
		awk -v table="$RJ_SRC/tests/house/arrows.table" '
	BEGIN {
		while ((getline line < table) > 0) {
			n = split(line, w, " ")
			if (w[1] == "room")
				known[w[2]] = 1
			for (i = 3; i <= n; i++)
				if (w[1] == "room")
					may[w[2], w[i]] = 1
				else
					owner[w[2], w[i]] = 1
			if (w[1] == "header")
				owned[w[2]] = 1
		}
	}
	# the room of a path in the tree: the longest of its folders that is one
	function room(path, dir) {
		dir = path
		while (sub(/\/[^\/]*$/, "", dir))
			if (dir in known)
				return dir
		split(path, w, "/")
		return w[1] == "lib" ? w[1] "/" w[2] : w[1]
	}
	# may a file of room FROM include NAME, which is in room TO?
	function allowed(from, to, name) {
		if (from == to || (from, to) in may || (from, name) in may ||
			(from, "all") in may)
			return 1
		return to ~ /^lib\// && (from, "lib") in may
	}
	# whose third-party headers may FROM include: its own, and those of its room
	function owns(h, from) {
		while (!((h, from) in owner))
			if (!sub(/\/[^\/]*$/, "", from))
				return 0
		return 1
	}
	{
		file = $0; sub(/:.*/, "", file)
		where = $0; sub(/^[^:]*:/, "", where); sub(/:.*/, "", where)
		where = file ":" where
		from = room(file)
		if (!(from in known)) {
			print where ": no such room in arrows.table: " from
			next
		}
		if (match($0, /"[^"]*"/)) {
			name = substr($0, RSTART + 1, RLENGTH - 2)
			if (name == "config.h" || index(name, "/") == 0)
				next
			if (name ~ /\.\.\//) {
				print where ": write it from lib/, without ..: " name
				next
			}
			# "util/error.h" is lib/util; "support/x.h" is in tests;
			# a tool names its own headers as "mkrjfs/options.h"
			split(name, w, "/")
			to = ("lib/" w[1] in known) ? room("lib/" name) : room(name)
			if (name ~ /^support\//)
				to = "tests"
			if (allowed(from, to, name))
				next
			print where ": " from " may not include " name
		} else if (match($0, /<[^>]*>/)) {
			name = substr($0, RSTART + 1, RLENGTH - 2)
			for (h in owned)
				if (index(name, h) == 1 && !owns(h, from))
					print where ": " from " may not include <" name ">"
		}
	}'
}

# refused NAME FILE LINE: a tree whose FILE has LINE is complained about, once
refused() {
	local tree=$T_DIR/tree
	rm -rf "$tree"
	mkdir -p "$tree/$(dirname "$2")"
	printf '%s\n' '#include <stdio.h>' "$3" >"$tree/$2"
	like "refused: $1" "$(violations "$tree")" "^$2:2: "
}

is "no include goes against the arrows" "$(violations "$RJ_SRC")" ""
cases=$(cd "$RJ_SRC" && find lib tests -name '*.[ch]' | wc -l)
check "there are sources to look at ($cases)" test "$cases" -gt 20

refused "upwards" lib/util/a.c '#include "format/object-key.h"'
refused "files in what is pure" lib/format/a.c '#include "os/fileio.h"'
refused "to a sibling" lib/jbd2/a.c '#include "ext4/volume.h"'
refused "recover from journal" lib/journal/a.h '#include "recover/recover.h"'
refused "a tool from the library" lib/log/a.c '#include "rjournald/front/front.h"'
refused "a tool from what tools share" tools/a.c '#include "rjlog/print.h"'
refused "shared words in a tool that may not" rjserver/a.c '#include "tools/plan.h"'
refused "a tool from a tool" mkrjfs/a.c '#include "rjserver/store/store.h"'
refused "the server beyond util and format" rjserver/a.c '#include "store/store.h"'
refused "spaces in the directive" lib/util/a.c ' #  include "log/log.h"'
refused "libcurl outside lib/store" lib/log/a.c '#include <curl/curl.h>'
refused "libcurl where rj:// is" lib/store/http/a.c '#include <curl/curl.h>'
refused "OpenSSL outside its module" lib/log/a.c '#include <openssl/evp.h>'
refused "libext2fs outside lib/ext4" lib/recover/a.c '#include <ext2fs/ext2fs.h>'
refused "libevent in the library" lib/store/a.c '#include <event2/http.h>'
refused "FUSE outside rjournald" rjmount/a.c '#include <fuse_lowlevel.h>'
refused "zstd in the log" lib/log/a.c '#include <zstd.h>'
refused "CUnit outside the tests" lib/util/a.c '#include <CUnit/CUnit.h>'
refused "a path with .." lib/log/a.c '#include "../util/error.h"'
refused "a room nobody knows" lib/misc/a.c '#include "util/error.h"'

refused "from a room's folder upwards" rjournald/commit/a.c '#include "rjournald/load/load.h"'
refused "the server's storage from above" rjserver/store/a.c '#include "rjserver/http/http.h"'
refused "a header that stands next to an allowed one" rjserver/store/a.c '#include "rjserver/options.h"'
refused "how the log is written, from outside" lib/recover/a.c '#include "log/write/writer.h"'

mkdir -p "$T_DIR/good/lib/recover" "$T_DIR/good/rjserver/store"
printf '#include "%s"\n' journal/attach.h log/log.h jbd2/jbd2.h ext4/volume.h \
	>"$T_DIR/good/lib/recover/a.c"
printf '#include %s\n' '<event2/http.h>' '"rjserver/x.h"' '"format/object-key.h"' \
	'"local.h"' '<sys/stat.h>' >"$T_DIR/good/rjserver/a.c"
printf '#include %s\n' '"rjserver/log.h"' >"$T_DIR/good/rjserver/store/a.c"
is "allowed includes pass" "$(violations "$T_DIR/good")" ""
