#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/check counts a test file that fails beside others and passes three times alone
# as unsteady, and one that fails alone as failed; the gate runs each script in one of two builds.
# A tree of four test files, whose Makefile prints what automake's does.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

# A test file is a list of the times at which it fails: ":1:" the first, ":1:3:" also the third.
tree=$T_DIR/tree
mkdir -p "$tree/scripts" "$tree/tests" && cd "$tree" || exit 99
cp "$RJ_SRC"/scripts/check* "$RJ_SRC/scripts/common.sh" scripts/
mkdir -p tests/distros tests/boot doc/results
for f in scripts/fuzz scripts/analyze tests/distros/run tests/boot/run; do
	printf '#!/bin/sh\necho "1..0 # SKIP nothing here"; exit 77\n' >$f && chmod +x $f
done
printf '#!/bin/sh\necho "$@"; exit %s\n' "\$(cat $tree/demo.status)" >scripts/demo
cp scripts/demo scripts/demo-backup && cp scripts/demo scripts/demo-history && echo 0 >demo.status
printf '#!/bin/sh\nsed "s|SRC|%s|" %s/Makefile.in >Makefile\n' "$tree" "$tree" >configure
cat >scripts/run-test <<'END'
#!/bin/sh
# run-test FILE: one more run of it in this build directory
mkdir -p tests
echo x >>"$1.runs"
n=$(wc -l <"$1.runs")
result=PASS
! grep -q ":$n:" "${0%/scripts/*}/$1" || result=FAIL
[ $result = FAIL ] || ! grep -q ":skip:" "${0%/scripts/*}/$1" || result=SKIP
{ echo "$result: $1 1 - run $n"; sed -n 's/^:1: //p' "${0%/scripts/*}/$1"; } |
	tee "${1%.sh}.log"
echo ":test-result: $result run" >"${1%.sh}.trs"
echo "${1%.sh} 30.5 2.2 0" >"${1%.sh}.time"
[ $result = FAIL ] || exit 0
echo "ERROR: $1 - exited with status 1"
exit 1
END
cat >Makefile.in <<'END'
TESTS = ./tests/good.sh ./tests/first.sh ./tests/again.sh tests/unit
all:
house-vars:
	@echo 'TESTS=$(TESTS)'
check:
	@bad=0; for t in $(TESTS); do SRC/scripts/run-test $$t || bad=1; done; exit $$bad
distcheck:
	mkdir -p rjprogs-1/_build/sub && cp Makefile rjprogs-1/_build/sub
	$(MAKE) -C rjprogs-1/_build/sub check
	test ! -e SRC/broken
END
touch -d yesterday configure.ac # nothing to generate
chmod +x configure scripts/run-test scripts/demo*

# try FIRST AGAIN UNIT: scripts/check of the four files; sets OUT
try() {
	echo - >tests/good.sh && echo "$1" >tests/first.sh && echo "$2" >tests/again.sh
	echo "$3" >tests/unit
	OUT=$(scripts/check --only=normal,demos,dist,fuzz --no-deps 2>&1)
}
# ends NAME WANT: the last line is WANT
ends() { is "$1" "$(tail -n 1 <<<"$OUT")" "$2"; }
marked() { tail -n 2 <<<"$OUT" | sed -n '1s/^UNSTEADY: //p'; }
not() { ! "$@"; }

check "no test fails" try - - -
ends "none fails: the numbers" "8 passed, 0 failed, 1 skipped"
is "none fails: none is unsteady" "$(marked)" ""
is "the demos use the normal build" "$(cat build-check/demo-backup.out)" \
	"--no-deps --build=$tree/build-check/normal"
echo 1 >demo.status
check "a demo fails" not try - - -
ends "the demos: counted" "5 passed, 3 failed, 1 skipped"
echo 77 >demo.status
check "a demo cannot run here" try - - -
ends "the demos: skipped" "5 passed, 0 failed, 4 skipped"
echo 0 >demo.status

check "a file fails, then passes three times alone" try :1: - -
ends "unsteady: does not count as failed" "7 passed, 0 failed, 1 skipped, 1 unsteady"
like "unsteady: named in the line before the last, with the log" "$(marked)" \
	"^1 failed .*tests/first.sh \($tree/build-check/unsteady/normal/tests/first.sh.log\)$"
like "unsteady: said of its run" "$OUT" '^  normal: 3 passed, 0 failed, 0 skipped, 1 UNSTEADY$'
is "unsteady: the log is the first run's" \
	"$(cat build-check/unsteady/normal/tests/first.sh.log)" "FAIL: tests/first.sh 1 - run 1"
check "a program fails, then passes alone" try - - :1:
ends "unsteady in distcheck, too" "6 passed, 0 failed, 1 skipped, 2 unsteady"
like "unsteady: distcheck's log" "$(marked)" 'tests/unit \(.*/unsteady/distcheck/tests/unit.log\)'

check "a file that fails alone once of three fails" not try - :1:3: -
ends "failed alone: counted" "7 passed, 1 failed, 1 skipped"
is "failed alone: not unsteady" "$(marked)" ""
check "one unsteady and one failed" not try :1: :1:4: -
ends "both: each counted as it is" "6 passed, 1 failed, 1 skipped, 1 unsteady"
like "both: the unsteady is named" "$(marked)" "^1 failed .*tests/first.sh"

check "a sanitizer's report is not forgiven" not try ":1: ==1==ERROR: AddressSanitizer: x" - -
ends "a sanitizer's report: counted" "7 passed, 1 failed, 1 skipped"
check "a file that is skipped alone has not passed" not try :1:skip: - -
ends "skipped alone: counted" "7 passed, 1 failed, 1 skipped"

touch broken
check "what distcheck does after an unsteady test fails" not try - - :1:
ends "after an unsteady test: counted" "6 passed, 1 failed, 1 skipped, 2 unsteady"
rm broken

# runs: which test files were run in which build
runs() { (cd build-check && ls -- */tests/*.runs | sed 's|/tests/|: |; s|\.runs||' | xargs); }
echo - | tee tests/first.sh tests/again.sh >tests/unit
OUT=$(scripts/check --no-deps 2>&1)
ends "the gate: all of them, the program in three builds" "6 passed, 0 failed, 1 skipped"
is "the gate: each script once, the program in both" "$(runs | grep -o '[a-z]*\.sh\|[a-z]*: unit' | sort | xargs)" \
	"again.sh first.sh good.sh normal: unit sanitize: unit"
rm -rf build-check
OUT=$(scripts/check --quick --no-deps 2>&1)
ends "quick: the program and the demos" "4 passed, 0 failed"
is "quick: no script" "$(runs)" "normal: unit"
OUT=$(scripts/check --full --no-deps 2>&1)
ends "full: all of them in both builds" "12 passed, 0 failed, 4 skipped"
is "full: every file in both builds" "$(runs)" \
	"$(printf '%s ' {normal,sanitize}:\ {again.sh,first.sh,good.sh,unit} | xargs)"
like "full: a test over its budget is named" "$OUT" '^Over their budget .* tests/unit \(30 s\)'
like "full: the page of times has each test" "$(cat doc/results/check-times.md)" \
	'^\| tests/first \| 30.5 \| 2.2 \| 30.5 \| 2.2 \|$'
like "full: the page of times has the result" "$(cat doc/results/check-times.md)" \
	'^- \*\*12 passed, 0 failed, 4 skipped\*\*$'
exit 0
