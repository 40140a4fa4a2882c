#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# one.sh KIND POLICY SEED: one run of one kind of fault under a writing volume, in
# TAP. What the seed decides: ext3 or ext4, block size, mount options, how long
# and how hard each fault strikes, and whether the crash comes during one.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/live/frame.sh" || exit 99
KINDS="kill restart freeze full lost duplicate delay reset down mute loss mix worker"
POLICIES="block error local"
kind=${1:-mix} policy=${2:-block} seed=${3:-$RANDOM}
[[ " $KINDS " == *" $kind "* && " $POLICIES " == *" $policy "* ]] || {
	echo "usage: one.sh KIND POLICY SEED (kinds: $KINDS; policies: $POLICIES)" >&2
	trap - EXIT; rm -rf "$T_DIR"; exit 2
}
need_wire
RANDOM=$seed
CLIENT=3 IMG=$T_DIR/v.img MNT=$T_DIR/mnt
type=ext$((3 + RANDOM % 2)) block=$((1024 << (RANDOM % 2 * 2)))
data=$((RANDOM % 3)) data=$([ $data = 0 ] && echo data=journal || echo data=ordered)
during=$((RANDOM % 2))
# pieces of a commit, however small and however far the server is; else as it comes
((seed % 2)) && SHIP_EARLY=16k
what="$kind $policy seed $seed: $type, $block, $data"

# between A B: milliseconds, as seconds; a fault's length, no synchronisation
for_a_while() { sleep "$(printf '0.%03d' $(($1 + RANDOM % ($2 - $1))))"; }
pick() { echo $(($1 + RANDOM % ($2 - $1 + 1))); }

# strike KIND: from now on, the server or the link. heal: all is well again.
healing=()
strike() {
	case $1 in
	kill) kill_pid "${SERVER[1]}" && healing+=("server 1") ;;
	restart) kill -TERM "${SERVER[1]}" && wait_for 60 gone "${SERVER[1]}" &&
		healing+=("server 1") ;;
	freeze) kill -STOP "${SERVER[1]}" && healing+=("kill -CONT ${SERVER[1]}") ;;
	full) fill && healing+=("more_room") ;;
	lost) net set 1 cut="$(pick 5 60)" ;;
	duplicate) net set 3 dup="$(pick 10 60)" ;;
	delay) net set 3 delay="$(pick 1 40)" jitter="$(pick 0 60)" ;;
	reset) net set 1 break="$(pick 5 60)" ;;
	down) net set 3 down=1 ;;
	mute) net set 1 mute=1 ;;
	# rjournald's worker dies, every second time with no way to the store
	worker)
		((RANDOM % 2)) || net set 3 down=1
		kill -KILL "$(worker_pid "$IMG")"
		;;
	loss) net set 3 loss="$(pick 1 30)" ;;
	mix)
		local all=(kill freeze full lost duplicate delay reset down mute loss)
		strike "${all[RANDOM % ${#all[@]}]}"
		return
		;;
	esac >>"$T_DIR/struck"
}
heal() {
	local h
	for h in "${healing[@]}"; do $h; done
	healing=()
	net heal 1 && net heal 2 && net heal 3
}
# The server makes its files whole, so only objects fill it: another log's, until
# there is no room for ours either.
fill() {
	local url n code=201
	url=http://127.77.0.1:7000/other/5eed5eed-0000-4000-8000-000000000001/log
	head -c 900000 /dev/urandom >"$T_DIR/junk"
	for ((n = 1; n < 200; n++)); do
		code=$(on 3 $LIMIT curl -s -o "$T_DIR/curl" -w '%{http_code}' \
			-T "$T_DIR/junk" "$url/$(printf '%020d' $((room * 1000 + n)))")
		[ "$code" = 201 ] || break
	done
	[ "$code" = 507 ] && wait_for 60 full_seen
}
in_mode() { $LIMIT "$RJCTL" status --json "$IMG" | grep -Eq "\"mode\":\"($1)\""; }
full_seen() { in_mode 'waiting|failed|degraded|full|resyncing'; }
# more than a fallback file holds
more_room() { room=$((room + 64)); mount -o "remount,size=${room}m" "$T_DIR/srv1"; }

room=$([ "$kind" = full ] && echo 24 || echo 160)
[ "$policy" = local ] && short_patience "loss_timeout = 1" || short_patience
hosts 3 "$seed" || { not_ok "$what: a network"; exit 1; }
# in memory, and only as much as was written
mkdir "$T_DIR/srv1" && mount -t tmpfs -o "size=${room}m" live "$T_DIR/srv1" &&
	server 1 || exit 99
more=on_loss=$policy
[ "$policy" != local ] || { mkdir "$T_DIR/fb" && more=fallback=$T_DIR/fb,fallback_size=40; }
volume_on "$(server_url 1)/v" "$type" "$block" "size=8,$more" &&
	mount_on "$data" || { not_ok "$what: a volume, mounted"; exit 1; }
# a fast disk fills the file before anybody could see that work goes on in it
pause=$([ "$policy" = local ] && echo 20 || echo 0)
write_history "$seed" 3 . $pause
goes_on 5 || { not_ok "$what: written to"; exit 1; }

# an error that comes late is as good as one at once, where the policy has them
goes_on_or_failed() {
	local from; from=$(acked)
	wait_for 60 eval "[ \$(acked) -ge $((from + $1)) ] || { [ $policy = error ] && gone $WRITER; }"
}
cycles=$(pick 1 3)
for ((i = 0; i < cycles; i++)); do
	strike "$kind" || { not_ok "$what: struck"; exit 1; }
	for_a_while 50 900
	[ "$policy" != local ] ||
		check "$what: it goes on with the server struck" goes_on 5
	if ((during && i == cycles - 1)); then break; fi
	heal >/dev/null
	if [ "$policy" = error ] && gone "$WRITER"; then break; fi
	check "$what: it goes on ($((i + 1)))" goes_on_or_failed 10
	[ "$policy" != local ] || check "$what: the store gets all of it" wait_for 60 in_mode online
done

if [ "$policy" = error ]; then
	errors=
else
	errors=$(kernel_errors)
	is "$what: the kernel saw no error" "$errors" ""
	check "$what: nor did the writer" not gone "$WRITER"
fi
losses=$($LIMIT "$RJCTL" status --json "$IMG" | grep -Eo '"losses":[0-9]+')
check "$what: the machine stops" machine_stops "$T_DIR/crash.img" "$T_DIR"/fb/*.rjfallback
heal >/dev/null
pieces=$(log_pieces "$(server_url 1)/v" on $CLIENT $LIMIT)
check "$what: recovery" recover_on "$T_DIR/crash.img"
check "$what: nothing acknowledged is lost" history_there "$T_DIR/crash.img" "$seed"
check "$what: e2fsck finds nothing" sound "$T_DIR/crash.img"
check "$what: the store's log is whole" verified "$(server_url 1)/v"
# for whoever looks for the cause
if ((T_BAD)) && [ -n "${RJ_KEEP:-}" ]; then
	heal >/dev/null
	kept=$RJ_KEEP/$kind.$policy.$seed.files
	mkdir -p "$kept" && cp -a --sparse=always "$T_DIR/crash.img" "$RECORD" "$T_DIR"/srv* "$T_DIR"/fb "$kept"
fi 2>/dev/null
note "$(acked) acknowledged; $((${losses##*:})) losses; $pieces; $(net count)"
