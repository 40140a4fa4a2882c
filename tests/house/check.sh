#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/check counts a test file that fails beside others and passes three times alone
# as unsteady, and one that fails alone as failed. A tree of three test files, whose
# Makefile prints what automake's does.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

# A test file is a list of the times at which it fails: ":1:" the first, ":1:3:" also the third.
tree=$T_DIR/tree
mkdir -p "$tree/scripts" "$tree/tests" && cd "$tree" || exit 99
cp "$RJ_SRC/scripts/check" "$RJ_SRC/scripts/common.sh" scripts/
printf '#!/bin/sh\nexit 77\n' >scripts/fuzz
printf '#!/bin/sh\necho "$@"; exit %s\n' "\$(cat $tree/demo.status)" >scripts/demo
cp scripts/demo scripts/demo-backup && echo 0 >demo.status
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
[ $result = FAIL ] || exit 0
echo "ERROR: $1 - exited with status 1"
exit 1
END
cat >Makefile.in <<'END'
TESTS = tests/good.sh tests/first.sh tests/again.sh
all:
check:
	bad=0; for t in $(TESTS); do SRC/scripts/run-test $$t || bad=1; done; exit $$bad
distcheck:
	mkdir -p rjprogs-1/_build/sub && cp Makefile rjprogs-1/_build/sub
	$(MAKE) -C rjprogs-1/_build/sub check
	test ! -e SRC/broken
END
touch -d yesterday configure.ac # nothing to generate
chmod +x configure scripts/run-test scripts/fuzz scripts/demo*

# try FIRST AGAIN: scripts/check of the three files; sets OUT
try() {
	echo - >tests/good.sh && echo "$1" >tests/first.sh && echo "$2" >tests/again.sh
	OUT=$(scripts/check --normal-only --no-deps 2>&1)
}
# ends NAME WANT: the last line is WANT
ends() { is "$1" "$(tail -n 1 <<<"$OUT")" "$2"; }
marked() { tail -n 2 <<<"$OUT" | sed -n '1s/^UNSTEADY: //p'; }
not() { ! "$@"; }

check "no test fails" try - -
ends "none fails: the numbers" "8 passed, 0 failed, 2 skipped"
is "none fails: none is unsteady" "$(marked)" ""
is "the demos use the normal build" "$(cat build-check/demo-backup.out)" \
	"--no-deps --build=$tree/build-check/normal"
echo 1 >demo.status
check "a demo fails" not try - -
ends "the demos: counted" "6 passed, 2 failed, 2 skipped"
echo 77 >demo.status
check "a demo cannot run here" try - -
ends "the demos: skipped" "6 passed, 0 failed, 4 skipped"
echo 0 >demo.status

check "a file fails, then passes three times alone" try :1: -
ends "unsteady: does not count as failed" "6 passed, 0 failed, 2 skipped, 2 unsteady"
like "unsteady: named in the line before the last, with the log" "$(marked)" \
	"^2 failed .*tests/first.sh \($tree/build-check/unsteady/normal/tests/first.sh.log\) tests/first.sh \(.*distcheck"
like "unsteady: said of its run" "$OUT" '^  normal: 2 passed, 0 failed, 0 skipped, 1 UNSTEADY$'
is "unsteady: the log is the first run's" \
	"$(cat build-check/unsteady/normal/tests/first.sh.log)" "FAIL: tests/first.sh 1 - run 1"

check "a file that fails alone once of three fails" not try - :1:3:
ends "failed alone: counted" "6 passed, 2 failed, 2 skipped"
is "failed alone: not unsteady" "$(marked)" ""
check "one unsteady and one failed" not try :1: :1:4:
ends "both: each counted as it is" "4 passed, 2 failed, 2 skipped, 2 unsteady"
like "both: the unsteady is named" "$(marked)" "^2 failed .*tests/first.sh"

check "a sanitizer's report is not forgiven" not try ":1: ==1==ERROR: AddressSanitizer: x" -
ends "a sanitizer's report: counted" "6 passed, 2 failed, 2 skipped"
check "a file that is skipped alone has not passed" not try :1:skip: -
ends "skipped alone: counted" "6 passed, 2 failed, 2 skipped"

touch broken
check "what distcheck does after an unsteady test fails" not try :1: -
ends "after an unsteady test: counted" "6 passed, 1 failed, 2 skipped, 2 unsteady"
exit 0
