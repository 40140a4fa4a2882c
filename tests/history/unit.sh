#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup-drill@.service and .timer, as systemd reads them, with the example of their
# settings. tests/system/tasks.sh runs the command.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
UNIT=$RJ_BUILD/contrib/systemd/rjbackup-drill@.service
SETTINGS=$RJ_SRC/contrib/systemd/rjbackup-drill.conf
help=$("$RJ_BUILD/rjbackup/rjbackup" --help)

used=$(grep -hE '^(ExecStart|OPTIONS)=' "$UNIT" "$SETTINGS" | grep -oE -- '--[a-z]+' | sort -u)
is "options are used" "$(wc -w <<<"$used")" 4
for o in $used; do like "$o is an option" "$help" "^ *$o="; done
is "each setting is one of the unit's" "$(sed -n 's/^\([A-Z]*\)=.*/\1/p' "$SETTINGS" |
	while read -r s; do grep -qE "^ExecStart=.*[$]\{?$s\b" "$UNIT" || echo "$s"; done)" ""
# no setting that hides loop devices, or a folder that the settings may name
is "it keeps its devices and folders" "$(grep -E \
	'^(DeviceAllow|DevicePolicy|Private(Devices|Tmp)|Protect(Home|System)|.*Paths)=' "$UNIT")" ""
if ! command -v systemd-analyze >/dev/null; then
	skip "systemd-analyze" "not here"
	exit 0
fi
mkdir "$T_DIR/verify"
sed -E "s#/[^ ']*/rj[a-z]+ #$(command -v true) #g" "$UNIT" >"$T_DIR/verify/rjbackup-drill@data.service"
cp "$RJ_SRC/contrib/systemd/rjbackup-drill@.timer" "$T_DIR/verify/rjbackup-drill@data.timer"
verify() { timeout 60 systemd-analyze verify --man=no "$T_DIR/verify/rjbackup-drill@data".* 2>&1; }
OUT=$(verify)
is "systemd-analyze verify" "$? $OUT" "0 "
sed -i 's/^\[Timer\]/&\nNonsense=yes/' "$T_DIR/verify/rjbackup-drill@data.timer"
like "seen: a word it does not know" "$(verify)" Nonsense
when=$(sed -n 's/^OnCalendar=//p' "$RJ_SRC/contrib/systemd/rjbackup-drill@.timer")
like "$when is each Monday" "$(timeout 60 systemd-analyze calendar --iterations=2 "$when")" "Normalized form: Mon"
exit 0
