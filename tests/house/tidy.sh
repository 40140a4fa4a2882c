#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sizes, licence lines, and nothing of one machine in any file.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

# files TREE: every file that people wrote, from the tree's root; what a build
# inside the tree leaves there is not
rooms="lib tools mkrjfs rjtune rjrecover rjmount rjadvise rjbackup rjlog rjournald rjctl
rjserver man doc tests bench scripts contrib .ci"
files() {
	# looked for once, which takes thousands of processes
	if [ "$1" = "$RJ_SRC" ] && [ -s "$T_DIR/all" ]; then cat "$T_DIR/all"; return; fi
	# shellcheck disable=SC2086
	(cd "$1" && {
		ls -d .editorconfig .gitignore configure.ac Makefile.am ./*.md
		find $rooms \( -name .libs -o -name .deps \) -prune -o -type f \
			! -name '*.o' ! -name '*.l[oa]' ! -name '*.log' ! -name '*.trs' \
			! -name .dirstamp ! -name '*~' ! -name '*.orig' ! -name '*.pc' \
			-print
	} 2>/dev/null | sed 's|^\./||' | LC_ALL=C sort |
		while read -r f; do
			# neither a program nor libtool's wrapper around one
			grep -qI . "$f" && ! head -n 4 "$f" |
				grep -q 'temporary wrapper script for .libs' && echo "$f"
		done)
}
# sources TREE: those that are code of some language
sources() {
	files "$1" | while read -r f; do
		case $f in
		*.c | *.h | *.sh | *.am | *.ac | *.map | *.8 | *.5 | *.7 | *.table) echo "$f" ;;
		*.md | *.in) ;;
		*) head -c 2 "$1/$f" | grep -q '^#!' && echo "$f" ;;
		esac
	done
}

# lines TREE GREP-OPTION PATTERN: FILE:LINE:TEXT of each place
lines() {
	files "$1" | tr '\n' '\0' | (cd "$1" && xargs -0 grep -n "$2" -- "$3" /dev/null)
}

too_long() {
	sources "$1" | while read -r f; do
		n=$(wc -l <"$1/$f")
		[ "$n" -le 1000 ] || echo "$f: $n lines, more than 1000"
	done
}
# The licence line stands in the first three lines: LGPL below lib/, else GPL.
unlicensed() {
	sources "$1" | while read -r f; do
		case $f in
		lib/*) want=LGPL-2.1-or-later ;;
		*) want=GPL-2.0-or-later ;;
		esac
		head -n 3 "$1/$f" | grep -qE "SPDX-License-Identifier: $want( \*/)?\$" ||
			echo "$f: no SPDX line with $want in its first lines"
	done
}
# Where this copy of the tree and its owner live is nobody else's business. A
# tree below one of the usual places has no first component to look for.
private_paths() {
	local top=${2:-$RJ_SRC} home=${3:-${HOME:-}} p=
	top=/$(cut -d/ -f2 <<<"$top")
	case $top in
	/ | /usr | /opt | /tmp | /var | /srv | /mnt | /home | /root | /build | /builds) ;;
	*) p="$top/" ;;
	esac
	[ -z "$p" ] || lines "$1" -F "$p"
	case $home in
	/*/*) lines "$1" -F "$home/" ;;
	esac
	lines "$1" -E '(^|[^A-Za-z0-9_.$}-])/home/[a-z][a-z0-9_-]*/'
}
# Hosts in URLs are examples, addresses that reach no stranger, or the few
# public places that documents point to. Add a new one here, and say why.
# A name without a dot is nobody's.
hosts_allowed='^([A-Za-z0-9-]+|127\.[0-9.]+|10\.[0-9.]+|192\.(0\.2|168)\.[0-9.]+'
hosts_allowed+='|198\.51\.100\.[0-9]+|203\.0\.113\.[0-9]+|0\.0\.0\.0|255\.255\.255\.255'
hosts_allowed+='|www\.w3\.org' # SVG's name space, in the plots
hosts_allowed+='|([a-z0-9-]+\.)*(example(\.(com|net|org))?|test|invalid|localhost|internal)'
hosts_allowed+='|(www\.)?(gnu|kernel|docs\.kernel|spdx|rfc-editor|testanything)\.org)$'
strangers() {
	lines "$1" -oE '://([A-Za-z0-9._-]*(:[^@/ "]*)?@)?[A-Za-z0-9][A-Za-z0-9.-]*' | while IFS= read -r line; do
		host=${line#*://} host=${host##*@}
		while [[ $host = *. ]]; do host=${host%.}; done
		[[ $host =~ $hosts_allowed ]] || echo "$line"
	done
}

files "$RJ_SRC" >"$T_DIR/list" && mv "$T_DIR/list" "$T_DIR/all"
n=$(sources "$RJ_SRC" | wc -l)
check "there are sources to look at ($n)" test "$n" -gt 50
is "no source has more than 1000 lines" "$(too_long "$RJ_SRC")" ""
is "every source has its SPDX line" "$(unlicensed "$RJ_SRC")" ""
is "no file names a place of one machine" "$(private_paths "$RJ_SRC")" ""
is "no file names a host it has no business with" "$(strangers "$RJ_SRC")" ""

# a tree that breaks each rule once
bad=$T_DIR/bad
mkdir -p "$bad/lib/util" "$bad/scripts" "$bad/doc"
{ echo '/* SPDX-License-Identifier: LGPL-2.1-or-later */'; yes '' | head -n 1000; } \
	>"$bad/lib/util/long.c"
{ echo '/* SPDX-License-Identifier: LGPL-2.1-or-later */'; yes '' | head -n 999; } \
	>"$bad/lib/util/fits.c"
echo '// SPDX-License-Identifier: GPL-2.0-or-later' >"$bad/lib/util/gpl.c"
printf '#!/bin/sh\ntrue\n' >"$bad/scripts/bare"
printf 'see /nowhere''/special/x\nand /home''/somebody/x\n' >"$bad/doc/paths.md"
printf 'get https:/''/mirror.somewhere.com/x\nrj:/''/server:7000/n\nrj:/''/[::1]:7/n\n' \
	>"$bad/doc/urls.md"
is "seen: 1001 lines, not 1000" "$(too_long "$bad")" \
	"lib/util/long.c: 1001 lines, more than 1000"
like "seen: the wrong licence" "$(unlicensed "$bad")" '^lib/util/gpl.c: no SPDX'
like "seen: no licence" "$(unlicensed "$bad")" '^scripts/bare: no SPDX'
is "and no other" "$(unlicensed "$bad" | wc -l)" 2
like "seen: the tree's own place" \
	"$(private_paths "$bad" /nowhere''/tree /)" '^doc/paths.md:1:'
like "seen: somebody's home" "$(private_paths "$bad" /usr/src/x /)" '^doc/paths.md:2:'
is "seen: a stranger's host, and only that" \
	"$(strangers "$bad" | cut -d: -f1,2)" doc/urls.md:1
