# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after base/mounts.sh: what comes between a crash and the next mount, and what a history
# makes of it.
RJRECOVER_BIN=$RJ_BUILD/rjrecover/.libs/rjrecover
[ -x "$RJRECOVER_BIN" ] || RJRECOVER_BIN=$RJRECOVER
recover() { timeout 120 "$RJRECOVER" -p "$@" "$VOL"; }
# recovered_by COMMAND...: what it says is kept; the statuses of rjrecover that are good
recovered_by() { "$@" >recover.said 2>&1; [ $? -le 1 ]; }
again() { recovered_by recover; }
# mark_of LAST: the last state that was marked, m or k..., and is not after segment LAST
mark_of() {
	local f
	for f in m k*.segment; do
		f=${f%.segment}
		[ -e "$f.segment" ] && [ "$(cat "$f.segment")" -le "$1" ] && printf '%s\t%s\n' "$(cat "$f.segment")" "$f"
	done | sort -n | tail -n 1 | cut -f 2
}
# ends WHY: the history of that base does
ends() {
	local last
	rm -f r.img
	status 1 "... the history ends" timeout 120 "$RJBACKUP" restore --base=base.img -o r.img
	like "... why" "$OUT" "$1"
	ls_says "... ls says it, too" "no later: after segment [0-9]+: .*$1"
	last=$(sed -n 's/.*no later: after segment \([0-9]*\):.*/\1/p' <<<"$OUT")
	check "... what is before it is there" restored "segment:$(cat m.segment)" m
	check "... up to its end" restored "segment:${last:-0}" "$(mark_of "${last:-0}")"
	check "... unmounted" rj_umount
}
broken() {
	local name=$1 why=$2; shift 2
	over "$name" "$@"
	ends "$why"
}
goes_on() {
	over "$@"
	check "... the marker before" restored "segment:$(cat m.segment)" m
	check "... the marker after it" restored "segment:$(cat n.segment)" n
	check "... unmounted" rj_umount
	check "... the latest" restored latest n
}
# either NAME COMMAND...: the history goes on, or ends, and what is restored is right
either() {
	over "$@"
	ls_says "... ls ends there, or goes on" "latest|no later"
	note "$1: $(grep -o 'no later.*' <<<"$OUT" || echo goes on)"
	if grep -q "no later" <<<"$OUT"; then
		ends ""
	else
		check "... the marker before" restored "segment:$(cat m.segment)" m
		check "... the marker after it" restored latest n
		check "... unmounted" rj_umount
	fi
}
# cut_off CALL N: rjrecover, killed at its Nth CALL
cut_off() { cut_at "$1" "$2" "$RJRECOVER_BIN" -p "$VOL"; true; }
