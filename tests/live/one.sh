#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# one.sh KIND POLICY SEED: one run of one kind of fault under a writing volume, in
# TAP. What the seed decides: ext3 or ext4, block size, mount options, how long
# and how hard each fault strikes, and whether the crash comes during one.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/live/frame.sh" || exit 99
KINDS="kill restart freeze full lost duplicate delay reset down mute loss mix worker"
POLICIES="block error two local"
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
((seed % 2)) && export RJ_AHEAD=16384
what="$kind $policy seed $seed: $type, $block, $data"

# between A B: milliseconds, as seconds; a fault's length, no synchronisation
for_a_while() { sleep "$(printf '0.%03d' $(($1 + RANDOM % ($2 - $1))))"; }
pick() { echo $(($1 + RANDOM % ($2 - $1 + 1))); }

# strike KIND: from now on, server $victim or the link $link. heal: all is well again.
healing=() victim=1 link=3
strike() {
	case $1 in
	kill) kill_pid "${SERVER[$victim]}" && healing+=("server $victim") ;;
	restart) kill -TERM "${SERVER[$victim]}" && wait_for 60 gone "${SERVER[$victim]}" &&
		healing+=("server $victim") ;;
	freeze) kill -STOP "${SERVER[$victim]}" && healing+=("kill -CONT ${SERVER[$victim]}") ;;
	full) fill && healing+=("more_room") ;;
	lost) net set $victim cut="$(pick 5 60)" ;;
	duplicate) net set $link dup="$(pick 10 60)" ;;
	delay) net set $link delay="$(pick 1 40)" jitter="$(pick 0 60)" ;;
	reset) net set $victim break="$(pick 5 60)" ;;
	down) net set $link down=1 ;;
	mute) net set $victim mute=1 ;;
	# rjournald's worker dies, every second time with no way to the store
	worker)
		((RANDOM % 2)) || [ "$policy" = two ] || net set $link down=1
		kill -KILL "$(worker_pid "$IMG")"
		;;
	loss) net set $link loss="$(pick 1 30)" ;;
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
	url=http://127.77.0.$victim:7000/other/5eed5eed-0000-4000-8000-000000000001/log
	head -c 900000 /dev/urandom >"$T_DIR/junk"
	for ((n = 1; n < 200; n++)); do
		code=$(on 3 $LIMIT curl -s -o "$T_DIR/curl" -w '%{http_code}' \
			-T "$T_DIR/junk" "$url/$(printf '%020d' $((room * 1000 + n)))")
		[ "$code" = 201 ] || break
	done
	# of two stores the other one serves on, and the mode does not change
	[ "$code" = 507 ] && { [ "$policy" = two ] || wait_for 60 full_seen; }
}
in_mode() { $LIMIT "$RJCTL" status --json "$IMG" | grep -Eq "\"mode\":\"($1)\""; }
full_seen() { in_mode 'waiting|failed|degraded|full|resyncing|alone'; }
# more than a fallback file holds
more_room() { room=$((room + 64)); mount -o "remount,size=${room}m" "$T_DIR/srv$victim"; }

room=$([ "$kind" = full ] && echo 24 || echo 160)
case $policy in local | two) short_patience "loss_timeout = 1" ;; *) short_patience ;; esac
hosts 3 "$seed" || { not_ok "$what: a network"; exit 1; }
# in memory, and only as much as was written
for i in 1 2; do
	mkdir "$T_DIR/srv$i" && mount -t tmpfs -o "size=${room}m" live "$T_DIR/srv$i" &&
		server $i || exit 99
done
more=on_loss=$policy
case $policy in
two) more=remote=$(server_url 2)/v,on_loss=block ;;
local) mkdir "$T_DIR/fb" && more=fallback=$T_DIR/fb,fallback_size=40 ;;
esac
volume_on "$(server_url 1)/v" "$type" "$block" "size=8,$more" &&
	mount_on "$data" || { not_ok "$what: a volume, mounted"; exit 1; }
# a fast disk fills the file, or the only store that is left, which keeps all for a
# while, before anybody could see that work goes on in it
case $policy in local | two) pause=20 ;; *) pause=0 ;; esac
write_history "$seed" 3 . $pause
goes_on 5 || { not_ok "$what: written to"; exit 1; }

# an error that comes late is as good as one at once, where the policy has them
goes_on_or_failed() {
	local from; from=$(acked)
	wait_for 60 eval "[ \$(acked) -ge $((from + $1)) ] || { [ $policy = error ] && gone $WRITER; }"
}
cycles=$(pick 1 3)
# always the same: a second store that still lacks something cannot stand for the first
if [ "$policy" = two ]; then
	victim=$(pick 1 2) link=$victim
	mount -o remount,size=200m "$T_DIR/srv$((3 - victim))" # it keeps all for a while
fi
for ((i = 0; i < cycles; i++)); do
	strike "$kind" || { not_ok "$what: struck"; exit 1; }
	for_a_while 50 900
	case $policy in two | local)
		check "$what: it goes on with server $victim struck" goes_on 5 ;;
	esac
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
# of two stores, the one that cannot be reached any more is not needed
with=healed
if [ "$policy" = two ] && ((during)); then
	case $kind in kill | restart | freeze | down | mute) with="server $victim still struck" ;; esac
fi
[ "$with" != healed ] || heal >/dev/null
pieces=$(log_pieces "$(server_url 1)/v" on $CLIENT $LIMIT)
check "$what: recovery, $with" recover_on "$T_DIR/crash.img"
check "$what: nothing acknowledged is lost" history_there "$T_DIR/crash.img" "$seed"
check "$what: e2fsck finds nothing" sound "$T_DIR/crash.img"
[ "$policy" = two ] || check "$what: the store's log is whole" verified "$(server_url 1)/v"
# for whoever looks for the cause
if ((T_BAD)) && [ -n "${RJ_KEEP:-}" ]; then
	heal >/dev/null
	kept=$RJ_KEEP/$kind.$policy.$seed.files
	mkdir -p "$kept" && cp -a --sparse=always "$T_DIR/crash.img" "$RECORD" "$T_DIR"/srv* "$T_DIR"/fb "$kept"
fi 2>/dev/null
note "$(acked) acknowledged; $((${losses##*:})) losses; $pieces; $(net count)"
