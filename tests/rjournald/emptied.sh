#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The server comes back without what it had: its disk was not mounted, or an old
# copy of it was restored. What is put there cannot be replayed, so nothing is
# acknowledged until the log is there again.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
command -v jq >/dev/null || skip_all "needs jq"
mnt=$T_DIR/mnt

mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
why() { $LIMIT "$RJCTL" status --json "$img" | jq -r .why; }
# back_with DIR: the server ends, and comes back at its port with DIR. Of file://
# the directory gets what is in DIR, and what it has goes to where that came from.
back_with() {
	if [ "$way" != file ]; then
		kill_pid "$SRV_PID"; start_server "$1" "$SRV_PORT"
		return
	fi
	mkdir -p "$1" "$shelf" && find "$T_DIR/disk" -mindepth 1 -maxdepth 1 -exec mv -t "$shelf" {} + &&
		find "$1" -mindepth 1 -maxdepth 1 -exec mv -t "$T_DIR/disk" {} + && shelf=$1
}
# write_one FILE: one fsync, in the background; FILE.done: it was acknowledged
write_one() {
	(put_file "$mnt/$1" && touch "$T_DIR/$1.done") &
	writer=$!
}
# a kernel that hands out again what a worker that died has read
resumes=false
[ "$(printf '6.9\n%s\n' "$(uname -r | cut -d- -f1)" | sort -V | head -n 1)" = 6.9 ] &&
	resumes=true
# missed: the second worker says what it waits for
missed() {
	local s
	s=$($LIMIT "$RJCTL" status --json "$img") &&
		[ "$(jq -r .restarts <<<"$s")" = 1 ] &&
		jq -r .why <<<"$s" | grep -q "was stored, and is not there"
}
# waits FILE: FILE's fsync, and says what for
waits() {
	check "$way: rjournald waits" wait_for 30 mode waiting
	sleep 0.5
	check "$way: and so does the fsync" test ! -e "$T_DIR/$1.done"
	like "$way: it says what is missing" "$(why)" \
		"segment [0-9]+ was stored, and is not there"
}
# goes_on FILE: with the directory that it had
goes_on() {
	check "$way: the server has its directory again" back_with "$(srv)"
	check "$way: and the fsync ends" wait_for 30 test -e "$T_DIR/$1.done"
	wait "$writer"
}

# all_of_it WAY URL
all_of_it() {
	way=$1
	img=$T_DIR/$way.img
	volume "$img" ext3 4096 "$2" on_loss=block || exit 99
	serve "$img" && mount_served "$img" "$mnt" || exit 99
	check "$way: a file" put_file "$mnt/before"
	check "$way: the server comes back empty" back_with "$T_DIR/$way.empty"
	write_one "$way.emptied"
	waits "$way.emptied"
	if $resumes && [ "$way" = rj ]; then
		kill_pid "$(worker_pid "$img")"
		check "$way: another worker waits, too" wait_for 30 missed
		is "$way: and claims nothing there" \
			"$(find "$T_DIR/$way.empty" -type f -exec cat {} + | grep -ac rj-epoch)" 0
	fi
	goes_on "$way.emptied"

	if [ "$way" = file ]; then
		cp -a "$T_DIR/disk" "$T_DIR/$way.old"
	else
		kill_pid "$SRV_PID"
		cp -a "$T_DIR/srv" "$T_DIR/$way.old"
		start_server "$T_DIR/srv" "$SRV_PORT"
	fi
	check "$way: files that the copy does not have" \
		eval 'for i in 1 2 3; do put_file "$mnt/n$i" || exit 1; done'
	check "$way: the server comes back with the copy" \
		back_with "$T_DIR/$way.old"
	write_one "$way.restored"
	waits "$way.restored"
	goes_on "$way.restored"

	(cd "$mnt" && sha256sum before n? "$way".*) >"$T_DIR/sums"
	is "$way: that makes six files" "$(wc -l <"$T_DIR/sums")" 6
	status 0 "$way: the machine stops" crash "$img" "$mnt" "$T_DIR/$way.c.img"
	img=$T_DIR/$way.c.img
	serve "$img" && mount_served "$img" "$mnt"
	check "$way: everything is there" \
		sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
	umount "$mnt"
	check "$way: stop" unserve
}

start_server "$T_DIR/srv" || exit 99
mkdir "$T_DIR/disk" || exit 99
shelf=$T_DIR/srv.files
srv() { [ "$way" = file ] && echo "$T_DIR/srv.files" || echo "$T_DIR/srv"; }
all_of_it rj "$SRV_URL/rj"
all_of_it file "file://$T_DIR/disk"
