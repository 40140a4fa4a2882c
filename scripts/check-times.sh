# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts/check: what the tests took, from the files that tests/support/deadline writes.

# gather_times TREE NAME VMSTAT: keep the times of a run, and add a line on it to the summary
gather_times() {
	local idle
	find "$1/tests" -name '*.time' -exec cat {} + 2>/dev/null | sort >"$top/$2.times"
	idle=$(awk 'NR > 3 {idle += $15; wait += $16; n++}
		END {if (n) printf ", processors idle %d %%, waiting for disks %d %%", idle / n, wait / n}' "$3")
	summary+=("$2: $(awk '{wall += $2; cpu += $3}
		END {printf "%d test files, %d s waited, %d s worked", NR, wall - cpu, cpu}' \
		"$top/$2.times")$idle")
}

# over_budget: of lines of times those of tests over 20 s of wall time for which
# tests/budget.table has no reason
over_budget() {
	awk -v table="$SRC/tests/budget.table" '
		BEGIN {while ((getline <table) > 0) if ($1 !~ /^#/) limit[$1] = $2}
		$2 > ($1 in limit ? limit[$1] : 20)' "$@"
}

# show_times: the twenty longest, and what took longer than its budget: for a review
show_times() {
	local all
	all=$(cat "$top"/*.times 2>/dev/null | sort -k2,2nr)
	[ -n "$all" ] || return
	echo "The twenty longest (seconds of wall time, of processors):"
	head -n 20 <<<"$all" | awk '{printf "  %7.1f %7.1f  %s\n", $2, $3, $1}'
	all=$(over_budget <<<"$all" | awk '{printf " %s (%d s)", $1, $2}')
	[ -z "$all" ] || echo "Over their budget (tests/budget.table):$all"
}

# write_times RESULT: doc/results/check-times.md, of a full check
write_times() {
	{
		printf '# What the tests take\n\nWritten by `scripts/check --full` on %s, commit %s, %s processors, Linux %s: %s s in all.\n\n' \
			"$(date +%F)" "$(git -C "$SRC" rev-parse --short HEAD 2>/dev/null)" \
			"$(nproc)" "$(uname -r)" "$SECONDS"
		printf -- '- %s\n' "${summary[@]}" "**$1**"
		printf '\nSeconds of wall time, and of processors, of each test file, with %s at once; the longest first.\n\n' \
			"$TEST_JOBS"
		printf '| test | normal | processors | sanitized | processors |\n|---|--:|--:|--:|--:|\n'
		awk 'FILENAME ~ /normal/ {wall[$1] = $2; cpu[$1] = $3}
			FILENAME ~ /sanitize/ {swall[$1] = $2; scpu[$1] = $3; wall[$1] += 0}
			END {for (t in wall) printf "| %s | %.1f | %.1f | %.1f | %.1f |\n",
				t, wall[t], cpu[t], swall[t], scpu[t]}' \
			"$top"/normal.times "$top"/sanitize.times | sort -t'|' -k3,3nr
	} >"$SRC/doc/results/check-times.md"
}
