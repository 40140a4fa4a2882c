#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bash completion offers the options of each tool's --help, and no others; and
# the commands of those that have some.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/contrib/bash-completion/rjprogs" || exit 99

# complete WORD...: what is offered for the last word
offered() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_rjprogs "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}
# the options of a table: "  -q, --quiet  text", "      --size=MB  text", and "(also --version)"
options() {
	awk '/^ +-/ {
			sub(/^ +/, ""); also = $0; sub(/  .*/, "")
			gsub(/,/, " "); n = split($0, w, " ")
			for (i = 1; i <= n; i++)
				if (w[i] ~ /^-/) {sub(/[=[].*/, "", w[i]); print w[i]}
			if (match(also, /\(also --[a-z-]+/))
				print substr(also, RSTART + 6, RLENGTH - 6)
		}' | LC_ALL=C sort -u
}
tools=$(sed -n 's/^complete -F _rjprogs //p' "$RJ_SRC/contrib/bash-completion/rjprogs")
is "it is for each tool that Debian's package links" "$(tr ' ' '\n' <<<"$tools")" \
	"$(sed 's#.*/##' "$RJ_SRC/packaging/debian/rjprogs.links" | LC_ALL=C sort)"
for t in $tools; do
	help=$("$RJ_BUILD/$t/$t" --help | options)
	check "$t: --help has options" test "$(wc -l <<<"$help")" -ge 4
	is "$t: each is offered, and no other word" "$(offered "$RJ_BUILD/$t/$t" -)" "$help"
done
is "of a beginning, what fits" "$(offered "$RJ_BUILD/rjournald/rjournald" --met)" --metrics
for t in rjbackup rjctl rjlog; do
	# a command is what is not answered with "unknown command"
	n=0
	for c in $(offered "$RJ_BUILD/$t/$t" ""); do
		n=$((n + 1))
		"$RJ_BUILD/$t/$t" "$c" --help 2>&1 | grep -q '^Usage' || note "$c" || n=-99
	done
	check "$t: commands are offered ($n)" test "$n" -ge 3
	is "$t: as many as the manual page has" "$n" \
		"$(sed -n "s/^\.B $t \([a-z]*\).*/\1/p; s/^\.BI* \"$t \([a-z]*\).*/\1/p" "$RJ_SRC/man/$t.8" | sort -u | wc -l)"
done
touch "$T_DIR/a file" && cd "$T_DIR" || exit 99
is "elsewhere, files" "$(offered rjtune -l a)" "a file"
exit 0
