#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The sizes that CONTRIBUTING names: files of a folder, columns of a line, lines of
# a function; and which files read the environment.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

rooms="lib tools mkrjfs rjtune rjrecover rjmount rjadvise rjbackup rjlog rjournald rjctl rjserver tests bench"
most=26 columns=100 doc_columns=160 longest=70

# found TREE NAME...: files of the rooms below TREE, without what a build leaves there
found() {
	local tree=$1
	shift
	# shellcheck disable=SC2086
	(cd "$tree" && find $rooms \( -name .libs -o -name .deps \) -prune -o -type f "$@" \
		! -name page_data.c -print 2>/dev/null | LC_ALL=C sort)
}

# crowded TREE: folders with more files that people wrote than the limit
crowded() {
	found "$1" \( -name '*.[ch]' -o -name '*.sh' -o -name '*.am' -o -name '*.table' -o -name '*.awk' \) |
		sed 's|/[^/]*$||' | uniq -c | sort | awk -v most=$most '
		{ count[$2] += $1 }
		END { for (d in count) if (count[d] > most) print d ": " count[d] " files, more than " most }' |
		LC_ALL=C sort
}

# texts TREE: scripts, pages and documents; doc/upstream has texts for other projects
texts() {
	# shellcheck disable=SC2086
	(cd "$1" && find ./*.md $rooms scripts contrib .ci man doc \
		\( -name .libs -o -path doc/upstream -o -path tests/jbd2/corpus \) -prune \
		-o -type f -print 2>/dev/null) |
		sed 's|^\./||' | LC_ALL=C sort | while read -r f; do
			case ${f##*/} in
			*.sh | *.awk | *.md | *.[578]) echo "$f" ;;
			*.*) ;;
			*) [ "$(head -c 2 "$1/$f" | tr -d '\0')" != '#!' ] || echo "$f" ;;
			esac
		done
}

# wide TREE: lines with too many columns. A string is not broken, so that a message can
# be found by its words: it does not count. Nor do the text of a here-document, and the
# row of a table.
wide() {
	{ found "$1" -name '*.[ch]'; texts "$1"; } | (cd "$1" && LC_ALL=C.UTF-8 xargs -r awk \
		-v short=$columns -v long=$doc_columns '
	FNR == 1 {
		here = ""
		script = FILENAME ~ /\.(sh|awk)$/ || FILENAME !~ /\./
		columns = FILENAME ~ /^doc\// ? long : short
	}
	here != "" {
		line = $0
		sub(/^\t+/, "", line)
		if (line == here) here = ""
		next
	}
	script && match($0, /<<-?[\\"\047]?[A-Z_]+/) {
		here = substr($0, RSTART, RLENGTH)
		gsub(/[^A-Z_]/, "", here)
	}
	FILENAME ~ /\.md$/ && /^ *(\||\[.*\]: )/ { next }
	length($0) * 8 > columns {
		line = $0
		if (FILENAME !~ /\.(md|[578])$/)
			gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		if (script)
			gsub(/\047[^\047]*\047/, "\047\047", line)
		n = 0
		for (i = 1; i <= length(line); i++)
			n = substr(line, i, 1) == "\t" ? n - n % 8 + 8 : n + 1
		if (n > columns)
			print FILENAME ":" FNR ": " n " columns, more than " columns
	}')
}

# endless TREE: functions of the product with too many lines; a test may have a table
endless() {
	found "$1" -name '*.c' | grep -v '^tests/' | (cd "$1" && xargs -r awk -v longest=$longest '
	FNR == 1 { start = 0 }
	/^\{/ { start = FNR }
	/^\}$/ && start {
		if (FNR - start - 1 > longest)
			print FILENAME ":" start ": " FNR - start - 1 " lines, more than " longest
		start = 0
	}')
}

# switches TREE TABLE: "FILE NAME" of each variable of the environment that the product
# reads where the table does not say so
switches() {
	found "$1" -name '*.[ch]' | grep -vE '^(tests|bench)/' |
		(cd "$1" && xargs -r grep -HoE '\<(secure_)?getenv\([^)]*\)') |
		sed -E 's/:(secure_)?getenv\("?([^")]*)"?\)/ \2/' | LC_ALL=C sort -u |
		LC_ALL=C comm -23 - <(grep -v '^#' "$2" | LC_ALL=C sort)
}

table=$RJ_SRC/tests/house/environment.table
n=$(found "$RJ_SRC" -name '*.[ch]' | wc -l)
check "there are sources to look at ($n)" test "$n" -gt 300
is "no folder has more than $most files" "$(crowded "$RJ_SRC")" ""
is "no line has more columns than CONTRIBUTING says" "$(wide "$RJ_SRC")" ""
is "no function has more than $longest lines" "$(endless "$RJ_SRC")" ""
is "the environment is read by those that may" "$(switches "$RJ_SRC" "$table")" ""
stale=$(LC_ALL=C comm -13 <(switches "$RJ_SRC" /dev/null) <(grep -v '^#' "$table" | LC_ALL=C sort))
is "and all of those do" "$stale" ""
for word in "$most files" "$columns columns" "$doc_columns in doc/" "$longest lines"; do
	check "CONTRIBUTING says $word" grep -q "$word" "$RJ_SRC/CONTRIBUTING.md"
done

# a tree that breaks each once
bad=$T_DIR/bad
mkdir -p "$bad/lib/full" "$bad/lib/fits"
for i in $(seq $((most + 1))); do : >"$bad/lib/full/$i.c"; done
for i in $(seq $most); do : >"$bad/lib/fits/$i.h"; done
is "seen: a folder with one file too many, and no other" "$(crowded "$bad")" \
	"lib/full: $((most + 1)) files, more than $most"
{
	printf '%*s\n' $columns x
	printf '\t%*s\n' $((columns - 7)) x
	printf '\treturn "%*s";\n' $columns x
} >"$bad/lib/fits/1.h"
is "seen: a long line, and no long string" "$(wide "$bad")" \
	"lib/fits/1.h:2: $((columns + 1)) columns, more than $columns"
rm "$bad/lib/fits/1.h"
mkdir -p "$bad/scripts" "$bad/man" "$bad/doc/upstream"
{
	echo '#!/bin/bash'
	printf '%*s\n' $((columns + 1)) x
	printf "echo '%*s'\n" $columns x
	printf 'cat <<END\n%*s\nEND\n' $((columns + 1)) x
} >"$bad/scripts/tool"
tail -n +2 "$bad/scripts/tool" >"$bad/lib/tool.sh"
printf '%*s\n' $((columns + 1)) x | tee "$bad/man/a.8" >"$bad/README.md"
printf "%*s\n| %*s |\n'%*s'\n" $((columns + 1)) x $doc_columns x $doc_columns x |
	tee "$bad/doc/a.md" >"$bad/doc/upstream/a.md"
is "seen: long lines of scripts, pages and documents; no string, here-document, row" \
	"$(wide "$bad" | sed 's/ columns.*//' | paste -sd ' ')" \
	"README.md:1: 101 doc/a.md:3: 162 lib/tool.sh:1: 101 man/a.8:1: 101 scripts/tool:2: 101"
for n in $longest $((longest + 1)); do printf 'int f(void)\n{\n'; yes '	x;' | head -n $n; echo '}'; done \
	>"$bad/lib/full/1.c"
is "seen: a long function" "$(endless "$bad")" \
	"lib/full/1.c:$((longest + 5)): $((longest + 1)) lines, more than $longest"
printf 'a = getenv("%s"); b = secure_getenv(%s);\n' RJ_HIDDEN name >"$bad/lib/full/2.c"
is "seen: two variables" "$(switches "$bad" /dev/null | tr '\n' ' ')" \
	"lib/full/2.c RJ_HIDDEN lib/full/2.c name "
echo "lib/full/2.c name" >"$T_DIR/table"
is "seen: the one that is not allowed" "$(switches "$bad" "$T_DIR/table")" "lib/full/2.c RJ_HIDDEN"
