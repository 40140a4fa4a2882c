#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjournald under systemd: the unit, and the lines for fstab that mount.rj(8)
# gives, as systemd itself reads them; and that a volume whose daemon runs is
# mounted as ext4 with nothing said of its journal.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh"

UNIT=$RJ_BUILD/contrib/systemd/rjournald@.service
GENERATOR=/usr/lib/systemd/system-generators/systemd-fstab-generator
value() { sed -n "s/^$1=//p" "$UNIT"; }
for o in $(value ExecStart | grep -o -- ' --[a-z-]*'); do
	check "$o is an option" grep -qe "$o" <("$RJOURNALD" --help)
done
like "it is stopped by rjctl" "$(value ExecStop)" '/rjctl stop %f$'
is "not by systemctl" "$(value RefuseManualStop)" yes
is "and not started anew under a kernel that has given up" "$(value Restart)" no

if command -v systemd-analyze >/dev/null; then
	mkdir "$T_DIR/verify"
	u=$T_DIR/verify/rjournald@dev-sdb1.service
	sed -E "s#/[^ ']*/rj[a-z]+ #$(command -v true) #g" "$UNIT" >"$u"
	OUT=$(timeout 60 systemd-analyze verify --man=no "$u" 2>&1)
	is "systemd-analyze verify" "$? $OUT" "0 "
	sed -i 's/^\[Service\]/&\nNonsense=yes/' "$u"
	like "seen: a word it does not know" \
		"$(timeout 60 systemd-analyze verify --man=no "$u" 2>&1)" Nonsense
else
	skip "systemd-analyze" "not here"
fi

# what systemd would do to start it, as a user who can start nothing
manager() {
	SYSTEMD_UNIT_PATH=$T_DIR/manager:/usr/lib/systemd/system timeout 60 setpriv --reuid 65534 \
		--regid 65534 --clear-groups /usr/lib/systemd/systemd --test --system \
		--unit=rjournald@dev-sdb1.service 2>/dev/null
}
mkdir "$T_DIR/manager" && chmod 755 "$T_DIR" "$T_DIR/manager" &&
	install -m 644 "$UNIT" "$T_DIR/manager/rjournald@.service"
if manager >"$T_DIR/plan" && grep -q 'Action: rjournald@dev-sdb1.service -> start' "$T_DIR/plan"; then
	check "its device is waited for" grep -q 'Action: dev-sdb1.device -> start' "$T_DIR/plan"
	unit=$(sed -n '/-> Unit rjournald@dev-sdb1.service:/,/-> Unit [^r]/p' "$T_DIR/plan" |
		grep '\.device')
	like "first" "$unit" '^	*After: dev-sdb1\.device'
	is "and a disk that is pulled out does not end it" "$(grep -c 'BindsTo: .*\.device' <<<"$unit")" 0
else
	skip "the order of its start" "systemd does not tell it here"
fi

# the lines of the man page, as they are
sed -n 's/\\-/-/g; s/^\(\/dev\/sdb1 .*\)$/\1/p' "$RJ_SRC/man/mount.rj.8" >"$T_DIR/lines"
is "mount.rj(8) gives two lines" "$(grep -c . "$T_DIR/lines")" 2
is "neither is for fsck at boot" "$(awk '$6 != 0' "$T_DIR/lines")" ""
units_of() { # TYPE: what systemd makes of that line
	mkdir -p "$T_DIR/units.$1" && awk -v t="$1" '$3 == t' "$T_DIR/lines" >"$T_DIR/fstab" &&
		SYSTEMD_FSTAB=$T_DIR/fstab timeout 60 "$GENERATOR" "$T_DIR/units.$1" "$T_DIR/units.$1" "$T_DIR/units.$1" >/dev/null 2>&1
	cat "$T_DIR/units.$1/srv.mount"
}
if [ -x "$GENERATOR" ]; then
	rj=$(units_of rj) ext4=$(units_of ext4)
	like "rj: its type is ours" "$rj" '^Type=rj$'
	check "rj: it is a mount of the network, which the boot does not need" \
		test -e "$T_DIR/units.rj/remote-fs.target.wants/srv.mount"
	like "ext4: it comes after the daemon" "$ext4" '^After=.*rjournald@dev-sdb1\.service'
	like "ext4: which it requires" "$ext4" '^Requires=.*rjournald@dev-sdb1\.service'
	check "ext4: it is a mount of the network" test -e "$T_DIR/units.ext4/remote-fs.target.requires/srv.mount"
	is "neither asks for fsck" "$(grep -rl systemd-fsck "$T_DIR/units.rj" "$T_DIR/units.ext4")" ""
else
	skip "the lines for fstab" "no systemd-fstab-generator"
fi

# ---- what the unit runs, in its order ----
need_fuse_loop
img=$T_DIR/img mnt=$T_DIR/mnt
mkdir "$mnt" "$T_DIR/store"
check "a volume" "$MKRJFS" -q -F -t ext4 -J "remote=file://$T_DIR/store,size=4" "$img" 32M
check "ExecStartPre" timeout 60 sh -c "$(value ExecStartPre | sed -n "s/^.* -c '\(.*\)' %f$/\1/p" |
	sed 's/[$][$]/$/g' | sed "s#/[^ ']*/rjrecover#$RJRECOVER#")" "$img"
check "ExecStart" serve "$img"
check "mounted as ext4, with nothing said of its journal" timeout 60 mount -i -t ext4 -o loop "$img" "$mnt"
check "the journal is ours" fsynced "$mnt" 3 "$T_DIR/sums"
check "segments were put" test "$(find "$T_DIR/store" -path '*/log/*' -type f | wc -l)" -ge 5
check "unmounted" umount "$mnt"
check "ExecStop" wait_for 60 timeout 60 "$RJ_BUILD/rjctl/rjctl" stop -q "$img"
exit 0
