#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# restore -J: the new volume has the journal that was asked for, and works with it; what cannot
# be is refused before the work, and leaves no file.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""
mkdir -p look

check "a volume with data=journal" history_volume ext4 4096 journal ""
"$WORK" ops mnt 1 200 >/dev/null
check "a base" timeout 120 "$RJBACKUP" base -o base.img mnt
"$WORK" ops mnt 2 200 >/dev/null
mark first
check "unmounted" history_umount
# restore JOURNAL [MARK]: into r.img
restore() {
	rm -f r.img
	timeout 120 "$RJBACKUP" restore -J "$1" --at="segment:$(cat "${2:-first}.segment")" --base=base.img -o r.img
}

status 0 "an internal journal" restore size=8
like "... is there" "$(dumpe2fs -h r.img 2>/dev/null)" "has_journal"
is "... of 8 MB" "$(dumpe2fs -h r.img 2>/dev/null | sed -n 's/^Total journal size: *//p')" 8M
check "... and the files are as they were" same_as r.img first
check "... it is mounted and written to" mount -t ext4 -o loop,data=journal r.img look
echo more >look/more
check "... and unmounted" umount look
status 0 "a remote journal" restore "remote=$SRV_URL/new,size=4"
check "... is served" mount_served "$T_DIR/r.img" look "data=journal"
check "... with the files as they were" eval '"$WORK" manifest look | cmp - first.manifest'
echo more >look/more && sync -f look
check "... and unmounted" eval 'umount look && unserve'
like "its log is another one" "$("$RJBACKUP" ls "$SRV_URL/new")" "segments 1 to [1-9]"
status 0 "none" restore none
check "... is none" not grep -q has_journal <<<"$(dumpe2fs -h r.img 2>/dev/null)"
status 16 "a journal that cannot be" restore size=none
status 8 "a store that is not there" restore "remote=rj://127.0.0.1:9/x"
check "... leaves no file" not test -e r.img
not restore size=1000 2>/dev/null
check "a journal that is too large leaves no file" not test -e r.img

# ---- one that cannot be made when the volume is there ----
check "mounted again" history_mount journal
check "the volume is nearly full" eval 'head -c 36M /dev/zero >mnt/big && sync -f mnt'
rm -f base.img
check "a base of that" timeout 120 "$RJBACKUP" base -o base.img mnt
mark full
check "unmounted" history_umount
status 8 "no space for the journal" restore size=16 full
like "... is told, and that the volume is there" "$OUT" \
	"^rjbackup: r.img: restored, and left there, but without the journal that -J asks for .rjtune -J gives it one.: .*[Nn]o.* space"
check "... it is" same_as r.img full
check "... without a journal" not grep -q has_journal <<<"$(dumpe2fs -h r.img 2>/dev/null)"
status 0 "... and gets a smaller one" "$RJ_BUILD/rjtune/rjtune" -q -J size=4 r.img
exit 0
