#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjtune on volumes in files and loop devices: moves that the kernel then
# mounts, refusals with their exit statuses, what it lists, a lost journal.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
rjtune=$RJ_BUILD/rjtune/rjtune
img=$T_DIR/v.img
mkdir "$T_DIR/a-f" "$T_DIR/b" "$T_DIR/mnt"
A=file://$T_DIR/a-f B=file://$T_DIR/b
# no blkid of e2fsprogs shall look at other tests' devices
export BLKID_FILE=$T_DIR/blkid.tab
: >"$T_DIR/partitions"
alone() {
	unshare -m "$BASH" -c 'mount --bind "$0" /proc/partitions && exec "$@"' \
		"$T_DIR/partitions" "$@"
}

make_volume() { # OPTIONS...
	rm -f "$img"
	mke2fs -q -F -b 1024 -O ^has_journal "$@" -d "$RJ_SRC/tests/support" \
		"$img" 40960 >/dev/null 2>&1
}
make_device() { # FILE KB: a blank loop device, DEV
	truncate -s "$2K" "$1" && loop_over "$1"
}
files() { # the bytes of all files, through the kernel
	mount "$@" "$V" "$T_DIR/mnt" && (cd "$T_DIR/mnt" && find . -type f -exec sha256sum {} + | sort)
	umount "$T_DIR/mnt"
}
get() { # a value of --json
	"$rjtune" -l --json "$V" | sed -n "s/^ *\"$1\": *\"*\([^\"]*[^\",]\)\"*,*\$/\1/p" | head -1
}
sound() { alone e2fsck -fn "$@" >"$T_DIR/fsck" 2>&1; }

# ---- all places, and the kernel's opinion ----
make_volume -t ext4
loop_over "$img"; V=$DEV
make_device "$T_DIR/j1" 4096; J1=$DEV
make_device "$T_DIR/j2" 3072; J2=$DEV
before=$(files)
status 0 "none to internal" "$rjtune" -J size=2 "$V"
check "sound" sound "$V"
is "the files, mounted" "$(files)" "$before"
is "internal, listed" "$(get placement)" internal
status 0 "internal to another size" "$rjtune" -J size=3 "$V"
check "sound" sound "$V"
is "the files, mounted" "$(files)" "$before"
status 0 "the same again" "$rjtune" -J size=3 "$V"
like "is nothing to do" "$OUT" "nothing to do"
status 0 "internal to a blank device" "$rjtune" -J device="$J1" "$V"
check "sound" sound -j "$J1" "$V"
is "the files, mounted without journal_path=" "$(files)" "$before"
like "the device is listed" "$("$rjtune" -l "$V")" "^Journal device: +$J1\$"
status 0 "to another device" "$rjtune" -J device="$J2" "$V"
is "the files, mounted" "$(files)" "$before"
is "the first one has no user left" \
	"$(dumpe2fs "$J1" 2>/dev/null | sed -n 's/^Journal number of users: *//p')" 0
status 0 "and back, to a journal that is there already" "$rjtune" -J device="$J1" "$V"
is "the files, mounted" "$(files)" "$before"
status 0 "device to remote" "$rjtune" -J remote="$A" "$V"
is "remote, listed" "$(get url)" "$A"
like "with what the store was seen to do" "$("$rjtune" -l "$V")" "^Store when attached: +mode A \(tried\), durable, on $(date -u +%Y)-"
is "as JSON too" "$(get mode) $(get raced) $(get durability)" "A true durable"
is "reachable" "$(get reachable)" true
status 0 "remote to remote" "$rjtune" -J remote="$B",size=4,on_loss=error "$V"
is "the other one, listed" "$(get url)" "$B"
status 0 "remote to device" "$rjtune" -J device="$J1" "$V"
is "the files, mounted" "$(files)" "$before"
status 0 "a new UUID" "$rjtune" -U random "$V"
is "the files, mounted" "$(files)" "$before"
check "sound" sound -j "$J1" "$V"
uuid=ba9a2e65-0c1d-4e5f-8a9b-0123456789ab
for i in "a UUID by its name" "and the same again"; do
	status 0 "$i" "$rjtune" -U $uuid "$V"
	is "is the volume's" "$(blkid -p -o value -s UUID "$V")" $uuid
	like "and its journal's user" "$(dumpe2fs "$J1" 2>/dev/null)" "^Journal users: +$uuid"
done
like "which is nothing to do" "$OUT" 'nothing to do'
status 16 "what is no UUID" "$rjtune" -U ba9a2e65 "$V"
is "is not taken for one" "$(blkid -p -o value -s UUID "$V")" $uuid
status 0 "remote again" "$rjtune" -J remote="$A" "$V"
status 0 "to internal" "$rjtune" -O has_journal "$V"
is "the files, mounted" "$(files)" "$before"
status 0 "none" "$rjtune" -O ^has_journal "$V"
check "sound" sound "$V"
is "the files, mounted" "$(files)" "$before"
like "the last move is kept" "$("$rjtune" -l "$V")" "^Last move: +from internal to none"
is "default mount options" "$("$rjtune" -q -o journal_data,^acl "$V"
	get mount_options)" "user_xattr,journal_data"

# ---- -n: each step, and nothing written ----
sum=$(sha256sum <"$img")
OUT=$("$rjtune" -n -J device="$J2" "$V")
like "-n tells the steps" "$OUT" "would make a journal|would become the user"
is "and changes nothing" "$(sha256sum <"$img")" "$sum"

# ---- refusals: the status says what kind, nothing is written ----
refused() { # STATUS NAME ARGS...
	local want=$1 name=$2 sum; shift 2
	sum=$(sha256sum <"$img")
	status "$want" "$name" "$rjtune" "$@"
	is "$name: one line, nothing changed" \
		"$(wc -l <<<"$OUT") $(sha256sum <"$img")" "1 $sum"
}
refused 16 "no such option" -J nonsense "$V"
refused 7 "a store that is not there" -J remote=rj://127.0.0.1:1/x "$V"
refused 3 "the volume as its own journal" -J device="$V" "$V"
refused 2 "a size too large" -J size=99999999 "$V"
refused 1 "no room for it" -J size=39 "$V"
tune2fs -O fast_commit "$V" >/dev/null 2>&1
refused 2 "a remote journal for fast commits" -J remote="file://$T_DIR" "$V"
like "and it says what to do" "$OUT" "tune2fs -O \^fast_commit"
tune2fs -O ^fast_commit "$V" >/dev/null 2>&1
mke2fs -q -F "$T_DIR/j2" >/dev/null 2>&1
refused 2 "a device with a filesystem" -J device="$J2" "$V"
wipefs -qa "$T_DIR/j2" >/dev/null
check "a journal of another volume, made" "$rjtune" -q -J device="$J2" "$V"
V1=$V
cp "$img" "$T_DIR/w.img"; check "the other volume" debugfs -w -R "ssv uuid random" "$T_DIR/w.img"
status 5 "a volume that is no user of its journal" "$rjtune" -J size=2 \
	--old-journal="$J2" "$T_DIR/w.img"
like "says so" "$OUT" "does not have this volume"
check "none" "$rjtune" -q -J none "$V1"
mount "$V" "$T_DIR/mnt"
status 3 "mounted" "$rjtune" -J size=2 "$V"
status 3 "mounted: -n says the same" "$rjtune" -n -J size=2 "$V"
like "says where" "$OUT" "mounted on $T_DIR/mnt"
umount "$T_DIR/mnt"
check "an internal journal" "$rjtune" -q -J size=2 "$V"

# ---- needs recovery ----
mount "$V" "$T_DIR/mnt"; echo data >"$T_DIR/mnt/new"; sync -f "$T_DIR/mnt"
cp "$img" "$T_DIR/crash.img"; umount "$T_DIR/mnt"
loop_over "$T_DIR/crash.img"; V=$DEV
status 4 "not without its log" "$rjtune" -J remote="$A" "$V"
status 4 "-n -y: what would come first" "$rjtune" -n -y -J remote="$A" "$V"
like "is said" "$OUT" "would be replayed first \(-y\)"
status 0 "-y replays it first" "$rjtune" -y -J remote="$A" "$V"
check "and nothing is lost" grep -q data <(debugfs -R "cat new" "$V" 2>/dev/null)

# ---- only what is named is changed ----
status 0 "ack=" "$rjtune" -J remote="$A",ack=received "$V"
like "one line for the step, one for the result" "$(wc -l <<<"$OUT") $OUT" "^2 .*ack=received"
status 0 "on_loss=" "$rjtune" -J remote="$A",on_loss=error "$V"
like "leaves ack= alone" "$("$rjtune" -l --json "$V" | tr -d '\n\t ')" '"on_loss":"error","ack":"received"'
status 0 "the URL alone" "$rjtune" -J remote="$A" "$V"
like "is nothing to do" "$OUT" 'nothing to do'
check "and back" "$rjtune" -q -J remote="$A",on_loss=block,ack=durable "$V"

# ---- a journal that is lost for good ----
mv "$T_DIR/a-f" "$T_DIR/gone"
status 5 "the store is gone" "$rjtune" -O ^has_journal "$V"
like "--accept-loss is named, whatever the address has in it" "$OUT" \
	'; if that journal is lost for good, the same command with --accept-loss gives it up, with what was fsynced and is in it alone$'
is "listed as such" "$(get reachable)" false
status 5 "nor has the volume another UUID" "$rjtune" -U random "$V"
like "--accept-loss is named for that, too" "$OUT" '; -U needs that journal: if it is lost for good, rjtune --accept-loss -J gives the volume another one$'
sync "$V"; cp "$T_DIR/crash.img" "$T_DIR/crash2.img"
check "a copy that needs recovery" debugfs -w -R "feature needs_recovery" "$T_DIR/crash2.img"
status 5 "-y, and its store is gone" "$rjtune" -y -J size=2 "$T_DIR/crash2.img"
like "the ways on are named, the one without loss first" "$OUT" \
	'; try again when it is there; if it is lost for good, rjrecover -y --accept-loss .* if that journal is lost for good, the same command with --accept-loss gives it up'
status 5 "-f gives nothing up" "$rjtune" -f -O ^has_journal "$V"
status 0 "--accept-loss gives it up" "$rjtune" --accept-loss -z "$T_DIR/undo" -O ^has_journal "$V"
check "sound" sound "$V"
is "no journal" "$(get placement)" none
check "e2undo takes it back" e2undo "$T_DIR/undo" "$V"
is "to where it was" "$(get placement)" remote
