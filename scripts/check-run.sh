# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts/check: which tests, a run of make check, and what its results count.

top=$SRC/build-check
passed=0 failed=0 skipped=0 unsteady=0 summary=() unsteady_files=()

# all_tests BUILD: a line for each test of this tree, those that took longest last time first, so
# that none of them ends alone
all_tests() {
	make -s --no-print-directory -C "$1" house-vars | sed -n 's/^TESTS=//p' | tr ' ' '\n' |
		awk -F '[| ]+' '
			FILENAME != "-" {took[$2] = $3 + $5; next}
			NF {
				sub(/^\.\//, "")
				name = $0
				sub(/\.sh$/, "", name)
				print took[name] + 0, $0
			}' <(cat "$SRC/doc/results/check-times.md" 2>/dev/null) - |
		sort -s -k1,1nr | cut -d' ' -f2
}
# quick_tests BUILD: the programs in C, and the rules about the tree
quick_tests() { all_tests "$1" | grep -E '^tests/(house|mutate)/|/[^.]*$' | xargs; }
# part_tests BUILD SIDE: all of them for the full check. Else the programs in C, and the scripts
# that are on this side, 0 or 1, by a hash of their name and the commit: each runs once.
part_tests() {
	local commit
	[ "$tier" != full ] || { all_tests "$1" | xargs; return; }
	commit=$(git -C "$SRC" rev-parse HEAD 2>/dev/null)
	all_tests "$1" | while read -r test; do
		[[ $test == *.sh ]] && [ $(($(cksum <<<"$test $commit" | cut -d' ' -f1) % 2)) != "$2" ] ||
			echo "$test"
	done | xargs
}

# a step that is no test failed: it counts as one failure
broke() { failed=$((failed + 1)); summary+=("$1: FAILED before its tests ended"); }

# results LOG: how many results passed, failed, were skipped and are marked unsteady. A
# script with a failed test also exits with a status, which automake reports as an
# ERROR: that is not a second failure.
results() {
	awk '
		/^(PASS|XFAIL): / {n["p"]++}
		/^SKIP: / {n["s"]++}
		{kind = sub(/^UNSTEADY /, "") ? "u" : "f"}
		/^FAIL: / {failed[$2] = 1}
		/^ERROR: .* - exited with status / && failed[$2] {next}
		/^(FAIL|XPASS|ERROR): / {n[kind]++}
		END {print n["p"] + 0, n["f"] + 0, n["s"] + 0, n["u"] + 0}' "$1"
}

# failed_files LOG: the test files with a failed result
failed_files() { awk '/^(FAIL|XPASS|ERROR): / {print $2}' "$1" | sort -u; }

# passed_alone LOG MOST: did a run of one file pass, with no more than MOST skips?
passed_alone() {
	grep -q '^PASS: ' "$1" && [ "$(grep -c '^SKIP: ' "$1")" -le "$2" ]
}

# A test file of run NAME, built in TREE, that failed beside others may have lacked time.
# Run it alone, three times, with its seed if it named one: if it passes each time, mark
# its failed results in LOG as UNSTEADY. Many failed files are not chance, late in a run
# there is no time, and what a sanitizer reports is never chance.
run_alone() {
	local name=$1 log=$2 tree=$3 file kept seed skips i
	[ "$(failed_files "$log" | wc -l)" -le 5 ] || return
	for file in $(failed_files "$log"); do
		[ "$SECONDS" -lt "${RJ_CHECK_SECONDS:-4000}" ] || return
		kept=$top/unsteady/$name/$file.log
		mkdir -p "${kept%/*}" && cp "$tree/${file%.sh}.log" "$kept" || return
		grep -qE 'ERROR: [A-Za-z]+Sanitizer|runtime error:' "$kept" && continue
		seed=$(sed -nE 's/.*RJ_SEED=([0-9]+).*/\1/p' "$kept" | head -n 1)
		skips=$(grep -c "^SKIP: $file " "$log")
		for i in 1 2 3; do
			say "$name: $file failed beside others: alone, $i of 3"
			env ${seed:+RJ_SEED="$seed"} make -C "$tree" check TESTS="$file" \
				VERBOSE=yes </dev/null >"$kept.alone.$i" 2>&1 9>&- &&
				passed_alone "$kept.alone.$i" "$skips" && continue
			say "$name: $file failed alone, too: $kept.alone.$i"
			continue 2
		done
		sed -i -E "s#^(FAIL|XPASS|ERROR): $file #UNSTEADY &#" "$log"
		unsteady_files+=("$file ($kept)")
	done
}

# One line per test file as its first result comes; every result that is not a
# pass in full.
progress() {
	local line name last= n=0
	tee "$1" | while IFS= read -r line; do
		case $line in
		"PASS: "*)
			n=$((n + 1)) name=${line#PASS: } name=${name%% *}
			[ "$name" = "$last" ] || printf '[%4ds]   %s\n' "$SECONDS" "$name"
			last=$name
			;;
		"FAIL: "* | "ERROR: "* | "SKIP: "* | "XPASS: "* | "XFAIL: "*)
			n=$((n + 1))
			printf '[%4ds]   %s\n' "$SECONDS" "$line"
			;;
		*" error: "* | *" warning: "*) printf '    | %s\n' "$line" ;;
		"# TOTAL:"*) printf '[%4ds]   %s results\n' "$SECONDS" "$n" ;;
		esac
	done
}

# Name the failed results of every run in DIR, so that the end of a long output holds them.
name_failures() {
	grep -hE '^(FAIL|ERROR|XPASS|not ok)[: ]' "$1"/*.out "$1"/*/*.out 2>/dev/null |
		sed 's/^/    /' | tail -n 40
}

# Show what each failed test file under DIR had to say.
show_failures() {
	find "$1" -name '*.trs' -print0 2>/dev/null |
		xargs -0 -r grep -lE '^:test-result: (FAIL|ERROR|XPASS)' |
		while read -r trs; do
			printf '%s---- %s%s\n' "$RED" "${trs%.trs}.log" "$PLAIN"
			grep -vE '^(ok|PASS:) ' "${trs%.trs}.log" | tail -n 120
		done
}

# run_make NAME DIR TARGET [VARIABLE...]: make check or distcheck, counted
run_make() {
	local name=$1 dir=$2 target=$3 tree=$2 log watch status p f s u; shift 3
	log=$dir/$target.out
	say "$name: make $target, $TEST_JOBS at once"
	vmstat -n 10 >"$log.vmstat" 2>&1 9>&- &
	watch=$!
	(cd "$dir" && exec make -k -j"$TEST_JOBS" "$target" "$@") </dev/null 2>&1 9>&- |
		progress "$log"
	status=${PIPESTATUS[0]}
	kill $watch 2>/dev/null
	[ "$target" = check ] || tree=$(echo "$dir"/rjprogs-*/_build/sub)
	if [ -n "$(failed_files "$log")" ]; then
		show_failures "$tree"
		run_alone "$name" "$log" "$tree"
	fi
	gather_times "$tree" "$name" "$log.vmstat"
	read -r p f s u < <(results "$log")
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	unsteady=$((unsteady + u))
	summary+=("$name: $p passed, $f failed, $s skipped$( ((u)) && echo ", $u UNSTEADY")")
	if [ "$f" = 0 ] && [ "$u" != 0 ]; then
		say "$name: make $target again, without tests: all that is no test"
		(cd "$dir" && exec make "$target" "$@" TESTS=) </dev/null >"$log.rest" 2>&1 9>&-
		status=$? log=$log.rest u=0
	fi
	if [ "$status" != 0 ] && [ $((f + u)) = 0 ]; then
		tail -n 60 "$log" | sed 's/^/    | /'
		broke "$name (make $target, status $status; $log)"
	fi
}
