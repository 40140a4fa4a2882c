#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A base at a store, and a restore from it, killed at their 1st, 2nd, 3rd, ... write or request:
# what is left of a base is nothing, or one that is shown as unfinished, not restored, and gone
# on with by the same command, or the whole of it. RJ_LONG: each of them; else some.
. "$RJ_SRC/tests/history/run.sh" || exit 99
. "$RJ_SRC/tests/history/base/cuts.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
put_base() { timeout 120 "$RJBACKUP" base --hold=1h -o "$AT" "$FROM"; }
back() { rm -f r.img; timeout 120 "$RJBACKUP" restore --verify=none --base="$AT" -o r.img; }
shown() { "$RJBACKUP" ls "$AT" | grep -c "$1"; }
# drop: all bases and holds
drop() {
	local n
	for n in $("$RJBACKUP" ls "$AT" | sed -n 's/^ *base \([0-9]*\):.*/\1/p'); do
		"$RJBACKUP" expire --base="$n" "$AT" || return 1
	done
	for n in $("$RJBACKUP" ls "$AT" | sed -n 's/^ *hold \([0-9]*\) of.*/\1/p'); do
		"$RJBACKUP" expire --hold="$n" "$AT" || return 1
	done
	[ "$(objects)" = 0 ]
}
objects() { curl -sf "http${AT#rj}/$JOURNAL/base/" | wc -l; }
# left_stored: after a cut
left_stored() {
	local whole number holds
	whole=$(shown "  base .*, whole at") holds=$(shown "  hold [0-9]* of")
	number=$("$RJBACKUP" ls "$AT" | sed -n 's/^ *base \([0-9]*\): .*not finished.*/\1/p')
	if [ "$whole" = 1 ] && [ -z "$number" ] && [ "$holds" = 1 ]; then
		all=$((all + 1))
		back && same_as r.img m && drop
		return
	fi
	[ "$whole" = 0 ] && [ "$holds" -le 1 ] || return 1
	OUT=$(back 2>&1)
	[ $? = 8 ] && [ ! -e r.img ] || return 1
	# the cutting command's hold was there, or not yet; of an unfinished base it is used again
	if [ -n "$number" ]; then
		half=$((half + 1))
		[ "$holds" = 1 ] || return 1
	else
		nothing=$((nothing + 1))
		holds=$((holds + 1))
	fi
	OUT=$(put_base 2>&1) && grep -q "#${number:-[0-9]*}: base of" <<<"$OUT" &&
		[ "$(shown "  hold [0-9]* of")" = "${holds}" ] && back && same_as r.img m && drop
}

history_conf ""
sed -i '/^retain/d' "$RJ_CONF"
check "a volume" history_volume ext4 1024 journal ""
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
JOURNAL=$(dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}')
check "in use" "$WORK" ops mnt 1 200
head -c $((20 << 20)) /dev/urandom >mnt/large
check "a marker" mark m
BEFORE=drop everywhere "base at a store" left_stored "$RJBACKUP" base --hold=1h -o "$AT" mnt
check "nothing is left of them" drop
status 0 "base at a store, after that" put_base
check "... which is good" back
check "... as the marker" same_as r.img m
BASE=$AT
everywhere "restore from a store" left_volume "$RJBACKUP" restore --base="$AT" -o cut.img
status 0 "restore, after that" restore_it
check "restore: which is right" same_as cut.img m
check "unmounted" history_umount
exit 0
