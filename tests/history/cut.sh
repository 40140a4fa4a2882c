#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup base and restore killed at their 1st, 2nd, 3rd, ... write: what is left is
# nothing, or a file that no tool takes for a base or a volume, or the whole of it; the
# command run again says what to do. A base of the mounted volume, and of the unmounted one.
. "$RJ_SRC/tests/history/run.sh" || exit 99
. "$RJ_SRC/tests/history/base/cuts.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""
# backup superblocks, that e2fsck finds when the first is not there
# ext3 logs its superblock with each file that is deleted while open
check "a volume" history_volume ext3 1024 journal ""
check "in use" "$WORK" ops mnt 1 200
status 0 "a base" "$RJBACKUP" base -o good.img mnt
"$WORK" ops mnt 2 200 >/dev/null
# deleted while open: the end of a restore writes to the volume
exec 9>mnt/held && echo held >&9 && sync -f mnt && rm mnt/held
check "a marker" mark m
everywhere "base" left_base "$RJBACKUP" base --hold=1h -o cut.img mnt
status 0 "base, after that" make_base
ln -f cut.img base.img
check "base: which is good" restored latest m
rm -f cut.img
everywhere "restore" left_volume "$RJBACKUP" restore --base=good.img -o cut.img
status 0 "restore, after that" restore_it
check "restore: which is right" same_as cut.img m
exec 9>&-
check "unmounted" history_umount

# ---- not mounted ----
check "mounted as type rj" rj_mount
"$WORK" ops mnt 3 200 >/dev/null
check "a marker" mark m
check "unmounted" rj_umount
FROM=$VOL
rm -f cut.img
everywhere "base of an unmounted volume" left_base "$RJBACKUP" base --hold=1h -o cut.img "$VOL"
status 0 "base, after that" make_base
ln -f cut.img base.img
check "... which is good" restored latest m
exit 0
