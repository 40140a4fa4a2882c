#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjlog rm: a log that is out of use after a move goes; one that a volume needs, is
# served from, or was written to a moment ago does not. A removal that was cut off
# is finished by the next run. At a server, in a directory, in a store of mode B.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/backends/frame.sh"
. "$RJ_SRC/tests/backends/server-sftp.sh"

RJLOG=$RJ_BUILD/rjlog/rjlog RJTUNE=$RJ_BUILD/rjtune/rjtune
need_fuse_loop
command -v jq >/dev/null || skip_all "needs jq"
# nothing goes but by rjlog rm
(umask 077; printf '[*]\ntrim_interval = 1h\n' >"$RJ_CONF")
IMG=$T_DIR/img MNT=$T_DIR/mnt

query() { local f=$1; shift; timeout 60 "$RJLOG" --json "$@" 2>/dev/null | jq -r "$f"; }
journal_uuid() { dumpe2fs -h "$1" 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }
data() { query '[.segments[] | select(.kind | IN("data", "base", "recovered"))] | length' ls "$1"; }
segments() { query '[.segments[].segment] | @csv' ls "$1"; }
# unchanged WHAT LOG BEFORE: all that was there is; a volume in use may have written more
unchanged() {
	local now
	now=$(segments "$2")
	case $now, in "$3",*) now=$3 ;; esac
	is "$1: nothing changed" "$now" "$3"
}
# refused WHAT STATUS TEXT LOG RM-ARGUMENT...: and the log is as it was
refused() {
	local before
	before=$(segments "$4")
	status "$2" "$1" ${REFUSED_BY-timeout 60} "$RJLOG" rm "${@:5}" "$4"
	like "$1: why" "$OUT" "^rjlog: .*$3"
	is "$1: in one line" "$(wc -l <<<"$OUT")" 1
	unchanged "$1" "$4" "$before"
}
# dry WHAT LOG RM-ARGUMENT...: says what there is, and changes nothing
dry() {
	local before
	before=$(segments "$2")
	status 0 "$1" timeout 60 "$RJLOG" rm "${@:3}" "$2"
	like "$1: says how much" "$OUT" "^$2: [1-9][0-9]* segments, [0-9]+ bytes; volume $VOLUME$"
	like "$1: that it was not done" "$OUT" '^nothing was removed'
	unchanged "$1" "$2" "$before"
}
left() { # WHAT LOG: what is left
	is "$1: no blocks are left" "$(data "$2")" 0
	check "$1: its fences are" test "$(query '.segments | length' ls "$2")" -ge 2
	like "$1: ls says so" "$(timeout 60 "$RJLOG" ls "${2%/*}")" "^${2##*/}  .*, only fences$"
	status 0 "$1: ls misses nothing" timeout 60 "$RJLOG" ls "$2"
	status 4 "$1: verify does not call it good" timeout 60 "$RJLOG" verify "$2"
	like "$1: verify knows it" "$OUT" "^rjlog: $2: only fences are there: the log was removed"
	local what
	for what in show prune; do
		status 4 "$1: $what does not, either" timeout 60 "$RJLOG" "$what" "$2"
		like "$1: $what knows it" "$OUT" "^rjlog: [^ ]*: from segment [0-9]+ on only fences are there: the log was removed"
		is "$1: $what says it in one line" "$(wc -l <<<"$OUT")" 1
	done
	status 0 "$1: again" timeout 60 "$RJLOG" rm --force "${2##*/}" "$2"
	like "$1: again: nothing is left to do" "$OUT" ': nothing is left to remove; [0-9]+ fences stay$'
}
# As on another machine: none of these devices, and no rjournald.
elsewhere() {
	: >"$T_DIR/no-devices"
	RJ_RUN=$T_DIR/elsewhere timeout 60 unshare -m "$BASH" -c \
		'mount --bind "$0" /proc/partitions && mount -t tmpfs none /sys/block && exec "$@"' "$T_DIR/no-devices" "$@"
}
fresh() { # URL [WORDS]: a used volume there; UUID, LOG
	rm -f "$IMG"
	"$MKRJFS" -q -F -t ext4 -b 1024 -J "remote=$1,size=4${2:+,$2}" "$IMG" 32M &&
		mount_served "$IMG" "$MNT" && fsynced "$MNT" 4 "$T_DIR/sums" || return 1
	UUID=$(journal_uuid "$IMG") LOG=$1/$UUID
	VOLUME=$(dumpe2fs -h "$IMG" 2>/dev/null | awk '/^Filesystem UUID/ {print $3}')
}
leave() { umount "$MNT" && unserve; }

check "a server" start_server "$T_DIR/srv"
URL=$SRV_URL/vol
check "a volume in use" fresh "$URL"

# ---- which log ----
refused "no UUID" 16 'say which log' "$URL"
refused "two stores" 16 'a log is in one store' "$URL,$SRV_URL/b/$UUID"
refused "--force of another" 16 'not the UUID' "$LOG" --force "$VOLUME"
refused "--force of no UUID" 16 'not the UUID' "$LOG" --force yes
status 16 "--force is for rm" "$RJLOG" verify --force "$UUID" "$LOG"
status 8 "no such log" timeout 60 "$RJLOG" rm --force "$VOLUME" "$URL/$VOLUME"

# ---- it is needed ----
for force in '' "--force=$UUID"; do
	refused "served here${force:+, forced}" 1 'rjournald of this machine' "$LOG" $force
done
REFUSED_BY=elsewhere refused "written a moment ago" 1 \
	"segment [0-9]+ was written [0-9]+ seconds ago, by $(uname -n).*--force $UUID" "$LOG"
check "unmounted" leave
refused "its volume is named" 1 "is the journal of $IMG: move that first" "$LOG" --volume "$IMG"
refused "its volume is named, and forced" 1 "is the journal of $IMG" "$LOG" --volume "$IMG" --force "$UUID"
loop_over "$IMG"
for force in '' "--force=$UUID" -n; do
	refused "its volume is found${force:+, $force}" 1 "is the journal of $DEV: move that first" "$LOG" $force
done
loop_detach "$DEV" "$IMG"

# ---- a move ----
cp "$IMG" "$T_DIR/old" && sha256sum "$T_DIR/old" >"$T_DIR/old.sum"
status 0 "moved away" "$RJTUNE" -J "remote=$SRV_URL/new,size=4" "$IMG"
like "which says what to do with the log" "$OUT" "out of use .rjlog rm --volume=$IMG $LOG removes it"
NEW=$SRV_URL/new/$(journal_uuid "$IMG")
dry "neither volume nor force" "$LOG"
like "what would be needed" "$OUT" "--volume DEVICE.*--force $UUID"
dry "-n" "$LOG" -n --volume "$IMG"
printf 'rj-hold 1\nhold 5\njournal %s\nfirst 2\nhost h\nprogram test\ntime 2026-01-31T23:59:59Z\nuntil 2126-01-31T23:59:59Z\n' "$UUID" >"$T_DIR/hold"
check "a hold" curl -sf -T "$T_DIR/hold" "http${URL#rj}/$UUID/hold/$(printf %020d 5)"
dry "-n with a hold" "$LOG" -n --volume "$IMG"
like "which is told" "$OUT" "^hold 5 of test keeps [1-9][0-9]* segments of it, [1-9][0-9]* bytes, from segment 2 on until 2126-"
is "... also as JSON" "$(query '.hold, .held' rm "$LOG" | tr '\n' ' ')" "5 $(data "$LOG") "
check "the hold is removed" "$RJ_BUILD/rjbackup/rjbackup" expire --hold=5 "$URL"
truncate -s 32M "$T_DIR/other" && mke2fs -q -F -t ext4 "$T_DIR/other"
refused "another volume" 1 "$T_DIR/other is not the volume whose" "$LOG" --volume "$T_DIR/other"
refused "no such volume" 8 "$T_DIR/none: " "$LOG" --volume "$T_DIR/none"
refused "the new log" 1 "is the journal of $IMG" "$NEW" --volume "$IMG" --force "${NEW##*/}"
is "as JSON" "$(query '[.removing, .removed, .closed] | @csv' rm "$LOG")" "false,0,true"
N=$(data "$LOG")
status 0 "removed" timeout 60 "$RJLOG" rm --volume "$IMG" "$LOG"
like "says so" "$OUT" "^$LOG: $N segments removed; [0-9]+ fences stay$"
left "removed" "$LOG"
status 0 "the new log is as it was" "$RJLOG" verify "$NEW"
check "and its volume is served" mount_served "$IMG" "$MNT"
check "with all files" sh -c "cd '$MNT' && sha256sum --quiet -c '$T_DIR/sums'"
check "unmounted" leave
# an old copy of the volume, which names it still
status 4 "what needed it is refused" timeout 60 "$RJRECOVER" -f "$T_DIR/old"
like "in words that help" "$OUT" "only fences are there: the log was removed"
check "and not changed" sha256sum --quiet -c "$T_DIR/old.sum"

# ---- of a volume that was never mounted ----
mkdir "$T_DIR/one"
check "one that was never mounted" "$MKRJFS" -q -F -J "remote=file://$T_DIR/one,size=1" "$T_DIR/one.img" 16M
ONE=file://$T_DIR/one/$(journal_uuid "$T_DIR/one.img")
status 0 "without a journal" "$RJTUNE" -q -O ^has_journal "$T_DIR/one.img"
status 0 "its log is removed" timeout 60 "$RJLOG" rm --volume "$T_DIR/one.img" "$ONE"
like "one is no plural" "$OUT" "^$ONE: 1 segment removed;"

# ---- forced, under a writer that sleeps ----
check "another volume in use" fresh "$URL"
status 0 "its log is the only one that counts there" timeout 60 "$RJLOG" show "$URL"
like "so that it needs no name" "$OUT" "^$LOG$"
(cd "$MNT" && echo x >asleep)
status 0 "forced" elsewhere "$RJLOG" rm --force "$UUID" "$LOG"
# written now: the kernel may have committed what was written before by itself
check "its writer gets nothing acknowledged any more" \
	not timeout 60 sh -c "echo y >>'$MNT/asleep' && sync '$MNT/asleep'"
umount -l "$MNT"
timeout 60 "$RJ_BUILD/rjctl/rjctl" -q stop --force "$IMG" 2>/dev/null
check "and ends" wait_for 60 gone "$DPID"
left "forced" "$LOG"

# ---- cut off in the middle; damaged ----
F=$T_DIR/files; mkdir "$F"
check "a volume with a log of files" fresh "file://$F"
check "unmounted" leave
check "moved into itself" "$RJTUNE" -q -J size=4 "$IMG"
SEG=$F/$UUID/log/$(printf %020d 3)
mv "$SEG" "$T_DIR/kept" && mkdir "$SEG" && touch "$SEG/x"
check "a segment that cannot be removed" test -d "$SEG"
timeout 60 "$RJLOG" rm --volume "$IMG" "$LOG" >"$T_DIR/cut" 2>&1
is "cut off: exit status" $? 8
rm -r "$SEG" && mv "$T_DIR/kept" "$SEG"
check "cut off: something is left" test "$(data "$LOG")" -gt 0
status 0 "cut off: again" timeout 60 "$RJLOG" rm --volume "$IMG" "$LOG"
left "cut off" "$LOG"

# ---- mode B ----
mode_b() {
	check "mode B: a server" b_start sftp || return
	check "mode B: a volume" fresh "$B_URL" ack=received
	check "mode B: unmounted" leave
	check "mode B: moved" "$RJTUNE" -q -J size=4 "$IMG"
	status 0 "mode B: removed" timeout 60 "$RJLOG" rm --volume "$IMG" "$LOG"
	left "mode B" "$LOG"
}
if [ -z "$(sftp_missing)" ]; then mode_b; else skip "mode B" "no sshd"; fi
exit 0
