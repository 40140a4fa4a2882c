#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Bases, follow and fold while the log is trimmed all the time, by rjournald and by rjlog prune
# at once: what has a hold is restored. What has none any more, as it expired, is refused, and
# nothing is changed. RJ_LONG: that many more bases.
. "$RJ_SRC/tests/history/run.sh" || exit 99
RJLOG=$RJ_BUILD/rjlog/rjlog
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/look"
at_exit end_mount
end_mount() { rm -f pruning; umount -l "$T_DIR/mnt" 2>/dev/null; kill_daemon "$VOL"; }
seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
history_conf ""
sed -i '/^retain/d' "$RJ_CONF"
ops() { "$WORK" ops mnt $((++seed)) "${1:-200}" >/dev/null; }
journal() { dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }
first() { curl -sf "http${AT#rj}/$(journal)/log/" | awk '$2 > 320 {print $1 + 0; exit}'; }
needs() { "$RJBACKUP" ls --json "$1" | tr -d ' \n' | sed 's/.*"needs":\([0-9]*\).*/\1/'; }
prune() {
	local n=0
	while [ -e pruning ]; do
		"$RJLOG" prune "$AT" >prune.out 2>&1 && n=$((n + 1))
		echo $n >prunes
	done
}
back() { rm -f r.img; timeout 120 "$RJBACKUP" restore --verify=none "$@" -o r.img; }

check "a volume" history_volume ext4 4096 journal ""
check "... unmounted by hand" history_umount
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
check "... mounted" rj_mount
ops
touch pruning
prune &
pruner=$!
going() { while [ -e going ]; do ops 50; done; }
for ((n = 1; n <= 3 + ${RJ_LONG:-0}; n++)); do
	touch going
	going &
	writer=$!
	status 0 "base $n, while the log is trimmed" timeout 120 "$RJBACKUP" base --hold=1h -o "b$n.img" mnt
	status 0 "base $n at the store" timeout 120 "$RJBACKUP" base --hold=1h -o "$AT" mnt
	if [ $n -gt 1 ]; then
		status 0 "... base $((n - 1)) follows with a hold" \
			timeout 120 "$RJBACKUP" follow --once --hold=1h --base="b$((n - 1)).img"
	fi
	rm going
	wait "$writer"
	check "... marker $n" mark $n
	check "... from the store" back --base="$AT"
	check "... as it was" same_as r.img $n
	ops
	for ((m = 1; m <= n; m++)); do
		ln -f "b$m.img" base.img
		check "... from base $m" restored "segment:$(cat $n.segment)" $n
	done
	if [ $n = 2 ]; then
		check "... unmounted" rj_umount
		status 0 "a base of the unmounted volume" timeout 120 "$RJBACKUP" base --hold=1h -o u.img "$VOL"
		check "... mounted" rj_mount
	fi
done
ln -f u.img base.img
check "marker $((n - 1)), from the base of the unmounted volume" \
	restored "segment:$(cat $((n - 1)).segment)" $((n - 1))

# ---- a hold that expires ----
# expires SECONDS FIRST: a hold from segment FIRST on, for so long, in place of all others
expires() {
	local h all; all=$(holds)
	printf 'rj-hold 1\nhold 7\njournal %s\nfirst %s\nhost h\nprogram test\ntime %s\nuntil %s\n' "$(journal)" \
		"$2" "$(date -u +%FT%TZ)" "$(date -u -d "$1 seconds" +%FT%TZ)" >hold.text
	curl -sf -T hold.text "http${AT#rj}/$(journal)/hold/$(printf %020d 7)" || return 1
	for h in $all; do
		"$RJBACKUP" expire --hold="$h" "$AT" >/dev/null || return 1
	done
}
holds() { "$RJBACKUP" ls "$AT" | sed -n 's/^ *hold \([0-9]*\) of.*/\1/p'; }
status 0 "a base with a hold" timeout 120 "$RJBACKUP" base --hold=1h -o e.img mnt
needed=$(needs e.img)
check "... which expires in ten seconds" expires 10 "$needed"
trimmed() { [ "$(first)" -gt "$needed" ]; }
ops 100; sync -f mnt; ops 100
check "its log is trimmed then" wait_for 120 trimmed
check "... and not before" eval '[[ ! $(date -u +%FT%TZ) < $(sed -n "s/^until //p" hold.text) ]]'
rm pruning
wait "$pruner"
note "$(cat prunes) times pruned"
check "... it was pruned all the time" test "$(cat prunes)" -gt 5
cp --sparse=always e.img was.img
for how in "restore --base=e.img -o r.img" "ls e.img" "fold --base=e.img" "follow --once --base=e.img" \
	"follow --once --hold=1h --base=e.img"; do
	rm -f r.img
	# shellcheck disable=SC2086
	status 4 "$how" timeout 120 "$RJBACKUP" $how
	like "... says what to do" "$OUT" "this base cannot be used any more: make a new one with --hold=TIME"
	check "... and makes nothing" test ! -e r.img
	check "... and changes nothing" cmp e.img was.img
done
status 0 "a new one" timeout 120 "$RJBACKUP" base --hold=1h -o new.img mnt
ops
check "... and a marker" mark z
ln -f new.img base.img
check "... is restored" restored latest z
check "unmounted" rj_umount
exit 0
