#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A volume that was unmounted in order says "clean", also when another copy of it, promoted or
# made with dd, was used since. Whatever is typed on the older copy is refused: it stops no
# writer, and nothing of either copy or the log changes. A word makes it a volume of its own.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
for dir in mnt new; do at_exit umount -l "$T_DIR/$dir"; done
kill_daemons_at_end "$T_DIR/base.img" "$T_DIR/v.img" "$T_DIR/copy.img"
RJTUNE=$RJ_BUILD/rjtune/rjtune
mkdir new
ln -s "$(realpath "$RJRECOVER")" fsck.rj
history_conf ""
other_host() { RJ_RUN=$T_DIR/run2 FLOOR_DIR=$T_DIR/floor2 "$@"; }
there() { (cd "$1" && sha256sum --quiet -c "$2"); }
# refused NAME STATUS COMMAND...: on the old host, with the older copy v.img
refused() {
	local name=$1 want=$2; shift 2
	status "$want" "$name: refused" timeout 120 "$@"
	like "$name: says what it is" "$OUT" "an older copy of the volume: it was left clean in epoch [0-9]+, and another copy of it wrote"
	check "$name: the older copy is as it was" cmp v.img was.img
}
# each WHAT: all that an administrator may type, while the newer copy is mounted at new
each() {
	local what=$1 n
	cp --sparse=always v.img was.img
	refused "$what: rjrecover -p" 4 "$RJRECOVER" -p v.img
	refused "$what: rjrecover -y -f" 4 "$RJRECOVER" -y -f v.img
	refused "$what: rjrecover -n" 4 "$RJRECOVER" -n v.img
	refused "$what: fsck.rj -y" 4 ./fsck.rj -y v.img
	refused "$what: mount.rj" 32 "$MOUNT_RJ" "$T_DIR/v.img" "$T_DIR/mnt"
	refused "$what: rjournald" 1 "$RJOURNALD" -q v.img
	refused "$what: rjtune -J" 2 "$RJTUNE" -J size=4 v.img
	for n in 1 2 3; do
		check "$what: the newer copy is written on, $n" eval "date >new/on$n && sync new/on$n"
	done
}

check "a volume" history_volume ext4 4096 journal ""
check "files" fsynced mnt 10 early
status 0 "a base" "$RJBACKUP" base -o base.img mnt
check "unmounted in order" history_umount
status 0 "promoted on another host" other_host timeout 120 "$RJBACKUP" promote base.img
check "mounted there" other_host "$MOUNT_RJ" "$T_DIR/base.img" "$T_DIR/new" -o data=journal
check "what was written before is there" there new "$T_DIR/early"
mkdir new/more
check "more is written" fsynced new/more 10 later
each "after a promotion"
check "unmounted there" other_host "$UMOUNT_RJ" "$T_DIR/new"
refused "and when nobody has it mounted" 32 "$MOUNT_RJ" "$T_DIR/v.img" "$T_DIR/mnt"
check "the promoted one mounts again" other_host "$MOUNT_RJ" "$T_DIR/base.img" "$T_DIR/new" -o data=journal
check "with all its files" there new/more "$T_DIR/later"

# ---- the older copy is wanted as it is: two volumes from then on ----
status 0 "wanted as it is" "$RJRECOVER" -f --accept-loss v.img
like "what goes is said" "$OUT" "given up \(--accept-loss\): what was fsynced and is only in the log"
check "mounted" "$MOUNT_RJ" "$T_DIR/v.img" "$T_DIR/mnt" -o data=journal
check "with what it had" there mnt "$T_DIR/early"
check "it is written to" fsynced mnt 3 own
check "so is the other one" fsynced new/more 5 later
check "unmounted" "$UMOUNT_RJ" "$T_DIR/mnt"
check "the other one, too" other_host "$UMOUNT_RJ" "$T_DIR/new"
check "it mounts again" "$MOUNT_RJ" "$T_DIR/v.img" "$T_DIR/mnt" -o data=journal
check "with its own files" there mnt "$T_DIR/own"

# ---- a copy by dd of an unmounted volume ----
check "unmounted" "$UMOUNT_RJ" "$T_DIR/mnt"
cp --sparse=always v.img copy.img
check "the copy is mounted" other_host "$MOUNT_RJ" "$T_DIR/copy.img" "$T_DIR/new" -o data=ordered
check "and written to" fsynced new 5 later
each "after a copy"
check "unmounted" other_host "$UMOUNT_RJ" "$T_DIR/new"
check "the copy goes on" other_host "$MOUNT_RJ" "$T_DIR/copy.img" "$T_DIR/new"
check "with its files" there new "$T_DIR/later"
check "unmounted at the end" other_host "$UMOUNT_RJ" "$T_DIR/new"
exit 0
