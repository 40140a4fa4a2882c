#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The words of pages, documents and comments: no phrase that a reader stumbles over, and no
# reference to a document that is not there.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

# One regular expression per line; say it in the plain words after it. Add one
# that was found twice.
phrases() {
	cat <<'END'
so many		the number itself, or a constant's name
be had		is not available, does not exist
makes? no sense	is not valid
anew		again, from the start
all the same	nevertheless
so (it|they) do(es)?	the verb itself
so manieth	every NAME-th
meanwhile	since, until then, at the same time
hands? on	passes
nobody		the noun: no host, no writer, is not ...
(goes|going) by	uses
whoever		the noun: a host that ...
(some|any|every)body		the noun: another program, a client, each user
END
}
# pages TREE: what people read first; doc/upstream has texts for other projects
pages() {
	(cd "$1" && find README.md man doc -type f \( -name '*.md' -o -name '*.[578]' \) \
		! -path 'doc/upstream/*')
}
sources() {
	(cd "$1" && find lib tools mkrjfs rj* -name '*.[ch]' 2>/dev/null)
}
# comments FILE...: their lines with a comment, and of those the comments only
comments() {
	awk '{
		rest = $0; said = ""
		for (;;) {
			if (!inside[FILENAME]) {
				if (!(at = match(rest, /\/[*\/]/)))
					break
				line = substr(rest, at, 2) == "//"
				rest = substr(rest, at + 2)
				inside[FILENAME] = !line
				if (line) { said = said " " rest; break }
			}
			if (!(at = index(rest, "*/"))) { said = said " " rest; break }
			said = said " " substr(rest, 1, at - 1)
			rest = substr(rest, at + 2)
			inside[FILENAME] = 0
		}
		if (said != "") print FILENAME ":" FNR ":" said
	}' "$@" /dev/null
}
stumble() {
	local all; all=$(phrases | sed 's/\t.*//' | paste -sd '|')
	{
		pages "$1" | (cd "$1" && xargs grep -n '' /dev/null)
		# shellcheck disable=SC2046 # files, without spaces
		sources "$1" | (cd "$1" && comments $(cat))
	} | seams | grep -iE "^[^:]*:[0-9]*:.*\\b($all)\\b"
}
# seams: FILE:LINE:TEXT again, and with each line the last two words of the line before
# it and its own first two: a phrase may go over the end of a line
seams() {
	awk '{
		print
		match($0, /^[^:]*:[0-9]*:/)
		at = substr($0, 1, RLENGTH)
		text = substr($0, RLENGTH + 1)
		sub(/^[ \t*]+/, "", text)
		n = split(text, word, " ")
		split(at, place, ":")
		if (place[1] == file && place[2] == line + 1)
			print at last " " word[1] " " word[2]
		last = n > 1 ? word[n - 1] " " word[n] : word[n]
		file = place[1]
		line = place[2]
	}'
}
# lost TREE: FILE:REFERENCE to a document that is not there. In doc/ a name alone,
# or a path, is from where the document is.
lost() {
	local f to
	(cd "$1" && find README.md ARCHITECTURE.md CONTRIBUTING.md Makefile.am man doc lib tools \
		mkrjfs rj* tests bench scripts contrib packaging -type f \
		! -path 'doc/upstream/*' ! -path 'tests/house/*' ! -name '*.log' ! -name '*.o' \
		! -path '*/.*' -print0 2>/dev/null |
		xargs -0 grep -oIE '([A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.(md|svg)\b' /dev/null | sort -u) |
		while IFS=: read -r f to; do
			case $f in
			doc/*) [ -e "$1/${f%/*}/$to" ] || [ -e "$1/$to" ] || [[ $(< "$1/$f") == *"[$to]("* ]] ;;
			*) [[ $to != *doc/* ]] || [ -e "$1/doc/${to#*doc/}" ] ;;
			esac || echo "$f:$to"
		done
}
is "no page, document or comment has a banned phrase" "$(stumble "$RJ_SRC")" ""
check "there are pages" test "$(pages "$RJ_SRC" | wc -l)" -gt 30
# shellcheck disable=SC2046 # files, without spaces
check "there are comments" test "$(cd "$RJ_SRC" && comments $(sources .) | wc -l)" -gt 5000
is "each document that is named is there" "$(lost "$RJ_SRC")" ""

bad=$T_DIR/bad
mkdir -p "$bad/man" "$bad/doc/upstream" "$bad/doc/results" "$bad/lib"
echo 'there is nothing to be had' >"$bad/README.md"
echo 'Whoever asks' >"$bad/man/x.8"
printf 'it is all the\nsame; all\nof the same\n' >"$bad/man/y.8"
echo 'see results/a.md, b.md and doc/results/a.md, not doc/a.md' >"$bad/doc/b.md"
echo 'see ../b.md and b.md' >"$bad/doc/results/a.md"
echo 'begun anew' >"$bad/doc/upstream/u.md"
printf '%s\n' '/* doc/b.md, doc/c.md */' 'bool nobody; /* fine */ int anew; /* a' \
	' * second line goes by */ bool anew; // so many' >"$bad/lib/x.c"
echo '/* Contacts nobody. */' >"$bad/lib/x.h"
is "seen: banned phrases" "$(stumble "$bad" | cut -d: -f1,2 | LC_ALL=C sort | paste -sd ' ')" \
	"README.md:1 lib/x.c:3 lib/x.h:1 man/x.8:1 man/y.8:2"
is "seen: documents that are not there" "$(lost "$bad" | LC_ALL=C sort | paste -sd ' ')" \
	"doc/b.md:doc/a.md doc/results/a.md:b.md lib/x.c:doc/c.md"
