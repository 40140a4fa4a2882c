#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each installed tool against its man page: every option of --help is in the
# page, every option of the page is in --help; the page has its sections and
# formats without a warning. Each message that a page's section TROUBLESHOOTING
# explains is one of the code.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

# option words of the text on stdin; "[-nqf]" is three of them
words() {
	grep -oE '(^|[][[:space:](|,/"])-[A-Za-z-][A-Za-z0-9-]*' |
		awk '{cluster = /^\[/; sub(/^[^-]*/, "")}
			/^--[a-z]/ {print; next}
			/^-[A-Za-z]$/ {print; next}
			cluster && /^-[A-Za-z]+$/ {
				for (i = 2; i <= length($0); i++)
					print "-" substr($0, i, 1)
			}' | LC_ALL=C sort -u
}
# plain PAGE: man(7) source without its escapes, fonts and font macros. Left
# are section heads, the .TP and .IP of the tags, and words.
plain() {
	awk '
	/^[.'\'']\\"/ {next}
	{
		gsub(/\\f(\[[^]]*\]|\(..|.)/, "")
		gsub(/\\\(hy|\\\[hy\]|\\-/, "-")
		gsub(/\\[&:%|^,\/]/, "")
		gsub(/\\[ ~]/, " ")
		gsub(/\\\(aq/, "\047")
	}
	/^\.(SM|SB|B|I|R) / {sub(/^\.[A-Z]+ +/, ""); gsub(/"/, ""); print; next}
	/^\.(BR|RB|BI|IB|IR|RI) / {
		sub(/^\.[A-Z]+ +/, ""); out = ""
		while (length($0)) {
			if (substr($0, 1, 1) == "\"") {
				rest = substr($0, 2)
				e = index(rest, "\""); if (!e) e = length(rest) + 1
				out = out substr(rest, 1, e - 1)
				$0 = substr(rest, e + 1)
			} else {
				e = index($0, " "); if (!e) e = length($0) + 1
				out = out substr($0, 1, e - 1)
				$0 = substr($0, e)
			}
			sub(/^ +/, "")
		}
		print out; next
	}
	/^\.OP / {sub(/^\.OP +/, ""); print "[" $0 "]"; next}
	{print}' "$1"
}
# the option words that PAGE documents: all of SYNOPSIS, and the tags of any
# section with OPTIONS in its name
documented() {
	plain "$1" | awk '
	/^\.S[HS] / {part = /SYNOPSIS/ ? 1 : /OPTIONS/ ? 2 : 0; tag = 0; next}
	part == 1 && !/^\.(TP|IP|PP|P|LP)/ {print}
	part == 2 && /^\.T[PQ]/ {tag = 1; next}
	part == 2 && /^\.IP / {print substr($0, 5); next}
	part == 2 && tag {print; tag = 0}' | words
}
# differences NAME HELP PAGE: options that one of the two does not have
differences() {
	local o text
	text=$(plain "$3")
	for o in $(words <<<"$2"); do
		grep -qE -- "(^|[^A-Za-z0-9-])$o([^A-Za-z0-9-]|\$)" <<<"$text" ||
			echo "$1: $o is in --help and not in the page"
	done
	for o in $(documented "$3"); do
		grep -qxF -- "$o" <<<"$(words <<<"$2")" ||
			echo "$1: $o is in the page and not in --help"
	done
}
# missing PAGE: sections it has to have
missing() {
	local s all="NAME,DESCRIPTION,SEE ALSO"
	[[ $1 != *.8 ]] || all+=",SYNOPSIS,OPTIONS,EXIT STATUS,EXAMPLES"
	while read -r s; do
		grep -qE "^\.SH \"?$s\"? *\$" "$1" || echo "${1##*/}: no section $s"
	done < <(tr , '\n' <<<"$all")
	grep -qE '^\.SH "?(FILES|ENVIRONMENT)"?' "$1" ||
		echo "${1##*/}: neither FILES nor ENVIRONMENT"
}
# badly PAGE: what the formatters complain about
badly() {
	if command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$1" 2>&1
	fi
	if command -v groff >/dev/null || command -v nroff >/dev/null; then
		# shellcheck disable=SC2069 # what it complains about, without the page
		(cd "$RJ_SRC" && MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$1" \
			2>&1 >/dev/null)
	fi
}
# explained PAGE: the messages that its section TROUBLESHOOTING explains, each
# part between "..." on a line of its own
explained() {
	plain "$1" | awk '/^\.S[HS] / {on = /TROUBLESHOOTING/; next}
		on && tag {print} {tag = on && /^\.TP/}' |
		sed 's/ *\.\.\. */\n/g'
}
# unsaid PAGE STRINGS: those that are in none of the code's strings
unsaid() {
	local m
	explained "$1" | while IFS= read -r m; do
		grep -qF -- "$m" "$2" || echo "${1##*/}: no program says: $m"
	done
}
# real PAGE: the page it stands for, when it is only a ".so"
real() {
	local to
	to=$(sed -n '1,3s/^\.so //p' "$1")
	if [ -n "$to" ]; then echo "${1%/*}/${to##*/}"; else echo "$1"; fi
}

programs=$(make -s --no-print-directory -C "$RJ_BUILD" MAKEFLAGS= house-vars |
	sed -n 's/^PROGRAMS=//p')
for program in $programs; do
	name=${program##*/}
	page=$RJ_SRC/man/$name.8
	if [ ! -f "$page" ]; then
		not_ok "$name has a page, man/$name.8"
		continue
	fi
	page=$(real "$page")
	HELP=$("$RJ_BUILD/$program" --help 2>"$T_DIR/err" </dev/null)
	is "$name --help: status 0 and nothing on stderr" "$? $(cat "$T_DIR/err")" "0 "
	like "$name -V says its version" "$("$RJ_BUILD/$program" -V 2>&1 </dev/null)" '[0-9]+\.[0-9]+'
	check "$name --help names --help itself" grep -qxF -- --help <(words <<<"$HELP")
	is "$name: --help and the page name the same options" \
		"$(differences "$name" "$HELP" "$page")" ""
	got=$("$RJ_BUILD/$program" --no-such-option 2>&1 >"$T_DIR/out" </dev/null)
	is "$name: an unknown option fails, with nothing on stdout" \
		"$(($? != 0)) $(cat "$T_DIR/out")" "1 "
	like "$name: and a line on stderr that begins with its name" "$got" "^(lt-)?$name: .*no-such-option"
	is "$name: which names --help, or the next one does, and no more" \
		"$(($(wc -l <<<"$got") <= 2)) $(tail -n 1 <<<"$got" | grep -c -- "$name --help")" "1 1"
	got=$("$RJ_BUILD/$program" -%V 2>&1 </dev/null)
	like "$name: a letter in a cluster is named" "$got" "^$name: unknown option:? -%( |;|\$)"
done
# the code's strings; those that follow each other are one
find "$RJ_SRC"/{lib,tools,mkrjfs,rj*} -name '*.c' -exec cat {} + |
	tr -d '\n\t' | sed 's/" *"//g; s/\\"/"/g' >"$T_DIR/strings"
for page in "$RJ_SRC"/man/*.[578]; do
	is "${page##*/} explains messages that there are" "$(unsaid "$page" "$T_DIR/strings")" ""
done
check "messages are explained" test "$(explained "$RJ_SRC/man/rjprogs.7" | wc -l)" -gt 10
for page in "$RJ_SRC"/man/*.[578]; do
	[ -f "$page" ] || break
	name=${page##*/}
	if [ "$(real "$page")" != "$page" ]; then
		check "$name stands for a page that is there" test -f "$(real "$page")"
		continue
	fi
	is "$name has its sections" "$(missing "$page")" ""
	is "$name formats without a warning" "$(badly "$page")" ""
	[[ $name != *.8 ]] || grep -qE "(^|[ /])${name%.8}( |\$)" <<<"$programs" ||
		not_ok "$name: no program ${name%.8} is installed"
done

# A page and a --help that differ both ways, and one that is in order.
help='usage: x [-ab] [-C fd] [--json] FILE
  -a, --all        all
  -C fd            progress
  --quiet[=WORD]   less; as in "e2fsck -fn"'
page() {
	cat >"$T_DIR/x.8" <<'END'
.\" -z is a comment
.TH X 8 2020-01-01 "rjprogs" "System Administration"
.SH NAME
x \- a thing
.SH SYNOPSIS
.B x
.RB [ \-ab ]
.RB [ \-C
.IR fd ]
.RB [ \-\-json ]
.I file
.SH DESCRIPTION
It is not
.BR \-y .
.SH OPTIONS
.TP
.BR \-a ", " \-\-all
All of it,
.B \-q
is not one.
.TP
\fB\-b\fR, \fB\-\-quiet\fR[=\fIword\fR]
Both.
END
	[ -z "${1:-}" ] || printf '%s\n' "$@" >>"$T_DIR/x.8"
	cat >>"$T_DIR/x.8" <<'END'
.SH EXIT STATUS
0
.SH ENVIRONMENT
None.
.SH EXAMPLES
None.
.SH SEE ALSO
.BR x (8)
END
}
page
is "a page in order passes" "$(differences x "$help" "$T_DIR/x.8")" ""
is "with its sections" "$(missing "$T_DIR/x.8")" ""
is "and its format" "$(badly "$T_DIR/x.8")" ""
is "seen: an option of --help that the page lacks" \
	"$(differences x "$help
  -d, --new  new" "$T_DIR/x.8")" \
	"x: --new is in --help and not in the page
x: -d is in --help and not in the page"
page .TP '.BI \-k " key"' 'A key.' .TP '.B \-\-old' 'Gone.' '.IP "\fB\-m\fP \fIn\fP" 4' x
is "seen: options of the page that --help lacks" \
	"$(differences x "$help" "$T_DIR/x.8")" \
	"x: --old is in the page and not in --help
x: -k is in the page and not in --help
x: -m is in the page and not in --help"
printf '.SH TROUBLESHOOTING\n.TP\n.B "first line"\nText.\n.TP\n.BR "%s"\nMore.\n' \
	'two \-z ... three' >"$T_DIR/y.8"
echo 'x("a first line"); y("two -z", three)' >"$T_DIR/some"
is "messages that a program says pass" "$(unsaid "$T_DIR/y.8" "$T_DIR/some")" ""
is "seen: one that no program says" "$(sed -i s/first/last/ "$T_DIR/some"; unsaid "$T_DIR/y.8" "$T_DIR/some")" \
	"y.8: no program says: first line"
sed -i '/^.SH EXAMPLES/d; s/^.SH ENVIRONMENT/.SH NOTES/' "$T_DIR/x.8"
is "seen: missing sections" "$(missing "$T_DIR/x.8" | tr '\n' ' ')" \
	"x.8: no section EXAMPLES x.8: neither FILES nor ENVIRONMENT "
printf '.nosuchmacro\n.RE\n' >>"$T_DIR/x.8"
if command -v mandoc >/dev/null || command -v groff >/dev/null; then
	like "seen: a macro that does not exist" "$(badly "$T_DIR/x.8")" nosuchmacro
else
	skip "seen: a macro that does not exist" "neither mandoc nor groff here"
fi
