# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of logs that move while their volume is mounted: a volume in use, a process
# that writes and fsyncs files all the time, and what must be there after a power cut.
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJLOG=$RJ_BUILD/rjlog/rjlog
img=$T_DIR/v.img mnt=$T_DIR/mnt
mkdir "$mnt"
# the daemon ends first: an unmount would wait for its server
at_exit umount -l "$mnt"
kill_daemons_at_end "$img"

# used_volume URL [MKRJFS-OPTION...]: of two groups, so that it has a backup superblock
# $AGED, a kind of tests/support/aged-volume: years of use come before its remote journal
used_volume() {
	local journal=remote=$1,size=${JOURNAL_MB:-8}${MORE_J:+,$MORE_J}; shift
	rm -f "$img"
	truncate -s 192M "$img" || return 1
	if [ -n "${AGED:-}" ]; then
		mke2fs -q -F -b 4096 "$@" "$img" && bash "$RJ_SRC/tests/support/aged-volume" "$AGED" "$img" &&
			"$RJ_BUILD/rjtune/rjtune" -J "$journal" "$img" || return 1
	else
		"$MKRJFS" -q -F -b 4096 "$@" -J "$journal" "$img" || return 1
	fi
	$LIMIT "$MOUNT_RJ" "$img" "$mnt" ${OPTIONS:+-o "$OPTIONS"}
}
# write_on: a writer in the background until it is told to stop, or fails: each file is noted in
# $acked with its sum when its fsync has returned
acked=$T_DIR/acked
write_on() {
	: >"$acked"
	: >"$T_DIR/times"
	rm -f "$T_DIR/stop" "$T_DIR/failed"
	mkdir -p "$mnt/w"
	(
		cd "$mnt/w" || exit 1
		for ((n = 0; ; n++)); do
			[ ! -e "$T_DIR/stop" ] || exit 0
			head -c $((RANDOM % 20000 + 1)) /dev/urandom >"f$((n % 400)).$n" && sync "f$((n % 400)).$n" &&
				sync . && sha256sum "f$((n % 400)).$n" >>"$acked" || break
			echo "$EPOCHREALTIME" >>"$T_DIR/times"
		done
		touch "$T_DIR/failed"
	) 2>/dev/null &
	WRITER=$!
	kill_at_end "$WRITER"
	wait_for 60 test -s "$acked"
}
writes_more() { local n; n=$(wc -l <"$acked"); wait_for 60 more_than "$n"; }
more_than() { [ "$(wc -l <"$acked")" -gt $(($1 + 3)) ]; }
stop_writing() { touch "$T_DIR/stop"; wait "$WRITER"; }
# power_cut: the machine stops at this moment; the volume as it is then is $img.cut
power_cut() {
	crash "$img" "$mnt" "$img.cut" "$acked" || return 1
	touch "$T_DIR/stop"
	wait "$WRITER"
	mv "$img.cut" "$img"
}
# all_there: every file that was acknowledged, in the volume as it is mounted again
all_there() {
	local list=$acked
	[ ! -e "$acked.then" ] || list=$acked.then
	[ -s "$list" ] && (cd "$mnt/w" && sha256sum --quiet -c "$list")
}
recovered() {
	"$RJRECOVER" -p "$img" && "$RJRECOVER" -n -f --verify=full "$img" && $LIMIT "$MOUNT_RJ" "$img" "$mnt" && all_there
}

mode_is() { $LIMIT "$RJCTL" status --json "$mnt" | grep -q "\"mode\":\"$1\""; }
url_is() { is "$1" "$($LIMIT "$RJCTL" status --json "$mnt" | sed 's/.*"store":"\([^"]*\)".*/\1/')" "$2"; }
unmounted() { $LIMIT "$UMOUNT_RJ" "$mnt" && wait_for 60 nothing_left "$img"; }
