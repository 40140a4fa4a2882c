#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A base of the device of a volume: of a mounted one it is as of its mount; of one that is not
# mounted it is whole at the log's end, and markers of the next mounts are restored from it.
# Whatever wrote to the volume before or after it is found, and the device is held meanwhile.
. "$RJ_SRC/tests/history/run.sh" || exit 99
mkdir other || exit 99
start_server "$T_DIR/srv" || exit 99
. "$RJ_SRC/tests/history/base/mounts.sh" || exit 99
# of the volume that need not be mounted, as a result
base() { rm -f base.img; status "$1" "$2" timeout 120 "$RJBACKUP" base "${@:3}" -o base.img "$VOL"; }
refused() { # NAME WHY [STATUS]: nothing is left of it, neither base nor hold
	base "${3:-1}" "$1" --hold=1h
	like "... and why" "$OUT" "^rjbackup: .*$2"
	is "... in one line" "$(wc -l <<<"$OUT")" 1
	check "... and no base is left" test ! -e base.img
	is "... and no hold" "$(holds)" 0
}
holds() { "$RJBACKUP" ls "$AT" | grep -c "  hold [0-9]* of"; }
drop_holds() {
	local n
	for n in $("$RJBACKUP" ls "$AT" | sed -n 's/^ *hold \([0-9]*\) of.*/\1/p'); do
		"$RJBACKUP" expire --hold="$n" "$AT" >/dev/null || return 1
	done
}
# same_as_volume IMAGE NAME: it is a volume that is mounted, and has what NAME says
same_as_volume() {
	local rc=0
	timeout 120 "$MOUNT_RJ" "$1" other -o data=journal && "$WORK" manifest other >found.manifest &&
		cmp "$2.manifest" found.manifest || rc=1
	timeout 120 "$UMOUNT_RJ" "$T_DIR/other" && wait_for 120 eval '[ -z "$(daemon_pid "$T_DIR/$1")" ]' || rc=1
	return $rc
}
no_note="its log does not end with the note of an unmount.*: mount and unmount it once"
wrote="is not as the unmount left it that the log ends with: e2fsck, "
"$RJ_BUILD/rjtune/rjtune" --genkey "$T_DIR/key" >/dev/null
seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"

kinds "$seed" "image ext3 1024 ,key=$T_DIR/key" "device ext4 4096 "
for kind in "${KINDS[@]}"; do
	read -r form type bs words <<<"$kind"
	history_conf "keyfile = $T_DIR/key"
	[ "$form" = image ] || sed -i '/^retain/d' "$RJ_CONF"
	VOL=$T_DIR/v.img
	check "$kind: a volume" history_volume "$type" "$bs" journal "$words"
	check "... unmounted by hand" history_umount
	AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
	if [ "$form" = device ]; then
		VOL=$(losetup -f --show v.img) || exit 99
		base 1 "... the log is not kept"
		like "... which is told" "$OUT" "give --hold=TIME, or set \"retain\""
	fi
	refused "... never mounted as type rj" "$no_note"
	check "... mounted" rj_mount
	ops $((++seed))
	base 0 "... a base of the mounted device" --hold=1h
	like "... as of its mount" "$OUT" "base.img: base of $VOL, whole at segment"
	ops $((++seed)); mark a
	check "... and the marker after it" restored latest a
	check "... unmounted" rj_umount && drop_holds

	# ---- not mounted ----
	base 0 "$kind: -n" -n --hold=1h
	like "... says that it can be made" "$OUT" "$VOL: a base can be made"
	check "... and makes none" test ! -e base.img
	is "... nor a hold" "$(holds)" 0
	base 0 "... a base" --hold=1h
	like "... and its moment" "$OUT" "base.img: base of $VOL, whole at segment [0-9]+, about 2.*"
	whole=$(sed -n 's/.*whole at segment \([0-9]*\),.*/\1/p' <<<"$OUT")
	like "... with a hold" "$OUT" "hold [0-9]+ keeps the log from segment [0-9]+ on"
	check "... which is the volume" restored latest a
	for m in b c d; do
		check "... mounted again" rj_mount
		ops $((++seed)) 300
		check "... marker $m" mark $m
		ops $((++seed)) 100
		[ $m != d ] || check "... its last moment" mark e
		check "... unmounted again" rj_umount
	done
	status 1 "... a moment before the base" timeout 120 "$RJBACKUP" restore --at="$(cat a.time)" --base=base.img -o r2.img
	like "... is told" "$OUT" "2[-0-9]+ [0-9:.]+Z is too early: this base is whole at segment $whole,"
	cp --sparse=always base.img early.img
	status 1 "... nor is it folded up to there" timeout 120 "$RJBACKUP" fold --until="$(cat a.time)" --base=early.img
	like "... which is told" "$OUT" "whole at segment [0-9]+, as of .*later than --until"
	rm early.img
	for m in b c d; do
		check "... marker $m by its segment" restored "segment:$(cat $m.segment)" $m
		check "... and by its time" restored "$(cat $m.time)" $m
	done
	check "... the latest" restored latest e
	check "... and where the base is whole" restored "segment:${whole:-0}" a
	status 0 "... it is folded" "$RJBACKUP" fold --base=base.img
	check "... and restored" restored latest e
	drop_holds

	# ---- the disk is lost while it is not mounted ----
	base 0 "$kind: another one" --hold=1h
	cp --sparse=always base.img new.img
	status 0 "... is promoted" timeout 120 "$RJBACKUP" promote new.img
	check "... and is the volume" same_as_volume new.img e
	drop_holds

	# ---- the old disk, of which the log knows nothing any more ----
	refused "$kind: another host goes on with the log" "$wrote"
	rm -f new.img
	[ "$form" = image ] || losetup -d "$VOL"
	rm -f v.img
done

# ---- the device is another one than the log says ----
history_conf ""
VOL=$T_DIR/v.img
check "a volume" history_volume ext4 4096 journal ""
check "... unmounted by hand" history_umount
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
VOL=$(losetup -f --show v.img) || exit 99
check "... mounted" rj_mount
head -c $((16 << 20)) /dev/urandom >mnt/large && ops $((++seed)) && mark a
mount -t tmpfs none mnt
refused "something is mounted over it" "is mounted at .*/mnt, where something else is mounted over it" 8
umount mnt
check "... unmounted" rj_umount
again() { rj_mount && ops $((++seed)) && mark a && rj_umount; }
check "e2fsck -f" eval 'serve "$VOL" && fsck_with "$LOOP" "$VOL" -fy; unserve'
refused "... before the base" "$no_note"
check "... mounted and unmounted once" again
base 0 "... it is made"
check "tune2fs -L" tune2fs -L "l$seed" "$VOL"
refused "... before the base" "$wrote"
check "... mounted and unmounted once" again
base 0 "... it is made"
check "... and is the volume" restored latest a
check "tune2fs -L after the base" tune2fs -L "m$seed" "$VOL"
check "... the base is good" restored latest a
check "... mounted" rj_mount
ops $((++seed)); sync -f mnt; ops $((++seed)); mark b
rm -f r.img
status 1 "... its history has ended" "$RJBACKUP" restore --base=base.img -o r.img
like "... and why" "$OUT" "something else wrote to the volume while it was not mounted"
check "... unmounted" rj_umount
check "a mount with data=ordered" eval 'rj_mount ordered && echo $RANDOM >mnt/ordered && rj_umount'
refused "... before the base" "$no_note"
check "... mounted and unmounted once" again
serve "$VOL"
refused "served by rjournald" "$no_note"
check "... and then not" unserve
check "... mounted and unmounted once" again
check "mounted" rj_mount
ops $((++seed)); sync -f mnt
check "the host stops" crash "$VOL" mnt c.img
losetup -d "$VOL"
VOL=$(losetup -f --show c.img) || exit 99
refused "... it needs recovery" "needs recovery: run rjrecover -p $VOL, and mount it once"
check "... which is done" "$RJRECOVER" -q -p "$VOL"
refused "... and not mounted since" "$no_note"
check "... mounted and unmounted once" again

# ---- the device is held ----
mkfifo done
elsewhere bash -c '"$1" "$2" "$3" -o data=journal && echo y >there && read -r _ <done; "$4" "$3"' - \
	"$MOUNT_RJ" "$VOL" "$T_DIR/other" "$UMOUNT_RJ" >ns.out 2>&1 &
ns=$!
check "mounted in another mount namespace" wait_for 60 test -s there
refused "... is not seen" "in use, and not mounted where this process can see it" 8
echo >done
wait "$ns"
wait_for 60 eval '[ -z "$(daemon_pid "$VOL")" ]'
check "... unmounted there" again
rm -f base.img
"$RJBACKUP" base --rate=4 -o base.img "$VOL" >slow.out 2>&1 &
slow=$!
check "a base that takes some seconds" wait_for 60 test -s base.img
status 32 "mount is refused meanwhile" timeout 60 "$MOUNT_RJ" "$VOL" mnt -o data=journal
like "... in one line" "$OUT" "^mount.rj: .*$VOL: (in use by the system|another program holds it exclusively)"
status 8 "rjrecover too" "$RJRECOVER" -p "$VOL"
status 8 "e2fsck too" e2fsck -fy "$VOL"
wait "$slow"
is "... the base is made" $? 0
check "... and is the volume" restored latest a
check "... which is mounted then" rj_mount
ops $((++seed)); mark b
check "... and the marker is restored" restored latest b
check "... unmounted" rj_umount

# ---- at a store: begun mounted, gone on with unmounted, and the other way round ----
rj_mount
begun() { # WHAT: a base at the store is begun, and killed
	timeout 120 "$RJBACKUP" base --rate=2 -o "$AT" "$1" >begun.out 2>&1 &
	local pid=$!
	wait_for 60 eval '"$RJBACKUP" ls "$AT" | grep -q "not finished"' && sleep 1
	kill_pid "$(pgrep -P $pid)"
	wait $pid
	"$RJBACKUP" ls "$AT" | grep -q "not finished"
}
back() { rm -f r.img; timeout 120 "$RJBACKUP" restore --verify=none --base="$AT" -o r.img; }
check "a base at the store, of the mount, is begun" begun mnt
check "... the volume is unmounted" rj_umount
status 0 "... the base is gone on with" timeout 120 "$RJBACKUP" base -o "$AT" "$VOL"
is "... there is one" "$("$RJBACKUP" ls "$AT" | grep -c "  base ")" 1
check "... and it is restored" back
check "... as the volume" same_as r.img b
check "another one, of the unmounted volume, is begun" begun "$VOL"
check "... the volume is mounted" rj_mount
ops $((++seed)); mark c
status 0 "... the base is gone on with" timeout 120 "$RJBACKUP" base -o "$AT" mnt
is "... there are two" "$("$RJBACKUP" ls "$AT" | grep -c "  base .*, whole at")" 2
check "... and it is restored" back
check "... as the volume" same_as r.img c
check "... unmounted" rj_umount
exit 0
