#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Named marks with a real server and the real kernel: each is restored as it was, one of a
# name; a freeze ends whatever ends rjctl; ls shows them, and expire removes what is gone.
. "$RJ_SRC/tests/history/run.sh" || exit 99
RJCTL=$RJ_BUILD/rjctl/rjctl
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
at_exit fsfreeze -u "$T_DIR/mnt"
history_conf ""
sed -i '/^retain/d' "$RJ_CONF"

journal() { dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }
first_data() { curl -sf "http${AT#rj}/$(journal)/log/" | awk '$2 > 320 {print $1 + 0; exit}'; }
trimmed_to() { [ "$(first_data)" -ge "$1" ]; }
ops() { "$WORK" ops mnt "$1" 300 >/dev/null; }
manifest() { "$WORK" manifest mnt >"$1.manifest"; }
# writes FILE: the file system is not frozen (a write to a frozen one waits for ever)
writes() { touch "mnt/$1" & wait_for 60 test -e "mnt/$1"; }
# freezer PID: the child of rjctl that has frozen the volume waits
freezer() { local c; c=$(pgrep -P "$1") && grep -q poll "/proc/$c/wchan"; }

check "a volume with data=journal" history_volume ext4 4096 journal ""
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
ops 1
status 0 "a mark before the base" "$RJCTL" mark early mnt
ops 7; sync -f mnt
status 0 "a base with a hold" timeout 120 "$RJBACKUP" base --hold=1h -o base.img mnt
hold=$(sed -n 's/^hold \([0-9]*\) keeps.*/\1/p' <<<"$OUT")
ops 2
status 0 "a mark" "$RJCTL" mark first mnt
like "... says its segment" "$OUT" "^mark first: segment [0-9]+ of $AT"
manifest first
ops 3
status 0 "a mark with a freeze" "$RJCTL" mark --freeze --json frozen.2 mnt
like "... as JSON" "$OUT" '"mark":"frozen.2","segment":[0-9]+,"time":1[0-9]+'
manifest second
check "... is over" writes after
ops 4
status 1 "another mark of that name" "$RJCTL" mark first mnt
like "... is refused" "$OUT" "has a mark first already, at segment [0-9]+.*take another name"
status 1 "a name that is none" "$RJCTL" mark a/b mnt
like "... is told" "$OUT" "no name of a mark"
status 1 "a folder where nothing is mounted" "$RJCTL" mark x "$T_DIR"
status 2 "a mark without a folder" "$RJCTL" mark x
status 2 "the folder before the name" "$RJCTL" mark mnt x
is "... what to type" "$OUT" "rjctl: mark: the name comes first: rjctl mark x mnt"
status 2 "--freeze of something else" "$RJCTL" flush --freeze mnt
sync -f mnt
check "the mark is restored as it was" restored mark:first first
check "... the one with the freeze too" restored mark:frozen.2 second
status 1 "a mark from before the base" "$RJBACKUP" restore --at=mark:early --base=base.img -o none.img
like "... is told" "$OUT" "early: segment [0-9]+ is before segment [0-9]+, with which"
status 8 "a mark that is not there" "$RJBACKUP" restore --at=mark:none --base=base.img -o none.img
like "... is told" "$OUT" "has no mark none"
status 0 "a mark is mounted" "$RJBACKUP" mount --at=mark:first --base=base.img look
check "... as it was" eval '"$WORK" manifest look | cmp - first.manifest'
check "... unmounted" umount look
status 0 "ls of the base" "$RJBACKUP" ls base.img
like "... shows its marks" "$OUT" "  mark first: segment [0-9]+, made 2"
like "... all of them" "$OUT" "  mark frozen.2: "
check "... and no others" not grep -q early <<<"$OUT"
status 0 "ls of the URL" "$RJBACKUP" ls "$AT"
is "... shows all" "$(grep -c "  mark early: \|  mark first: \|  mark frozen.2: " <<<"$OUT")" 3
like "... also as JSON" "$("$RJBACKUP" ls --json "$AT" | tr -d '\n ')" \
	'"marks":\[\{"mark":"early","segment":[0-9]+,"made":1[0-9]+,"program":"rjctl","host":"[^"]+","gone":(true|false)\}'
like "its text is that of the page" "$(curl -sf "http${AT#rj}/$(journal)/mark/" | while read -r n _; do
	curl -sf "http${AT#rj}/$(journal)/mark/$n"; done | tr '\n' ' ')" \
	"rj-mark 1 mark first journal $(journal) segment [0-9]+ host [^ ]+ program rjctl time 2[0-9TZ:-]+ "

# ---- a freeze that is cut off ----
# The worker is stopped when nothing is left that a freeze would have to send.
stop_worker() {
	sync -f mnt && fsfreeze -f mnt && fsfreeze -u mnt
	worker=$(worker_pid "$T_DIR/v.img") && kill -STOP "$worker"
}
for sig in KILL TERM; do
	stop_worker
	"$RJCTL" mark --freeze "cut-$sig" mnt 2>/dev/null & pid=$!
	check "rjctl has frozen the volume, and waits" wait_for 60 freezer $pid
	kill -$sig $pid
	wait $pid 2>/dev/null
	check "after SIG$sig it is thawed" writes "thawed-$sig"
	kill -CONT "$worker"
done
# as timeout -k does it, and a service manager
stop_worker
setsid "$RJCTL" mark --freeze cut-group mnt 2>/dev/null & pid=$!
check "rjctl has frozen the volume, and waits" wait_for 60 freezer $pid
kill -KILL -- -$pid
wait $pid 2>/dev/null
check "after SIGKILL of its process group it is thawed" writes thawed-group
kill -CONT "$worker"
stop_worker
status 1 "a freeze that lasts for too long" timeout 300 "$RJCTL" mark --freeze cut-off mnt
check "... is over" writes thawed-off
kill -CONT "$worker"
check "none of them is a mark" not grep -q cut- <<<"$("$RJBACKUP" ls "$AT")"
fsfreeze -f mnt
status 1 "a volume that is frozen already" "$RJCTL" mark --freeze twice mnt
like "... is left so" "$OUT" "is frozen already"
check "... until its owner thaws it" fsfreeze -u mnt

# ---- gone ----
status 0 "expire" "$RJBACKUP" expire "$AT"
check "... removes none that can be of use" not grep -q "first\|frozen" <<<"$OUT"
ops 5; sync -f mnt; ops 6; sync -f mnt
last=$("$RJBACKUP" ls "$AT" | sed -n 's/.*mark frozen.2: segment \([0-9]*\),.*/\1/p')
status 0 "the hold is removed" "$RJBACKUP" expire --hold="$hold" "$AT"
check "the log is trimmed" wait_for 60 trimmed_to $((last + 1))
like "ls shows what is gone" "$("$RJBACKUP" ls "$AT")" "mark first: segment .*\(gone: "
status 0 "expire -n" "$RJBACKUP" expire -n "$AT"
like "... says which" "$OUT" "mark first at segment [0-9]+, which is gone: would be removed"
status 0 "expire" "$RJBACKUP" expire "$AT"
like "... removes it" "$OUT" "mark first at segment [0-9]+, which is gone: removed"
check "... and shows it no more" not grep -q "mark " <<<"$("$RJBACKUP" ls "$AT")"
status 0 "the name is free again" "$RJCTL" mark first mnt
check "unmounted" history_umount

# ---- with a key ----
"$RJ_BUILD/rjtune/rjtune" --genkey key >/dev/null
history_conf "keyfile = $T_DIR/key"
check "a volume with a key" history_volume ext4 4096 journal ",key=$T_DIR/key"
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
rm base.img
check "a base" timeout 120 "$RJBACKUP" base -o base.img mnt
ops 1
check "a mark" "$RJCTL" mark -q sealed mnt
manifest sealed
ops 2; sync -f mnt
check "... is restored as it was" restored mark:sealed sealed
like "... and does not name the host" "$("$RJBACKUP" ls --json "$AT" | tr -d '\n ')" '"mark":"sealed",.*"host":"-"'
check "unmounted" history_umount
exit 0
