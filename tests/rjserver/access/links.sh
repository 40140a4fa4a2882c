#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Root's commands in a directory of the service's user, who has planted links there:
# they work as that user, and no file of root's is changed, made, or given away.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
need_root
USER_ID=65534 D=$T_DIR/store
as_user() { setpriv --reuid $USER_ID --regid $USER_ID --clear-groups "$@"; }
chmod 711 "$T_DIR"
as_user test -x "$T_DIR" 2>/dev/null || skip_all "user $USER_ID cannot reach $T_DIR"
mkdir -m 700 "$D" "$T_DIR/roots" && chown $USER_ID:$USER_ID "$D"
echo secret >"$T_DIR/roots/file"
state() { (cd "$T_DIR/roots" && stat -c '%n %u %a %s' . * && cat file); }
WAS=$(state)
untouched() { is "$1: root's files are as they were" "$(state)" "$WAS"; }

as_user ln -s "$T_DIR/roots/file" "$D/accounts.new"
status 0 "accounts.new is a link: adduser works" "$RJSERVER" adduser -d "$D" host1
untouched "accounts.new"
is "the accounts are the user's" "$(stat -c '%F %u %a' "$D/accounts")" "regular file $USER_ID 600"
status 0 "users" "$RJSERVER" users -d "$D"
like "shows it" "$OUT" '^host1: '

rm -f "$D/accounts.lock"
as_user ln -s "$T_DIR/roots/made" "$D/accounts.lock"
status 2 "accounts.lock is a link: refused" "$RJSERVER" adduser -d "$D" host2
like "by its name" "$OUT" "$D/accounts.lock: "
untouched "accounts.lock"
rm "$D/accounts.lock"

# a directory on the way is one
as_user ln -s "$T_DIR/roots" "$D/sub"
status 2 "a link to root's directory" "$RJSERVER" adduser -d "$D" --accounts "$D/sub/accounts" host2
untouched "a directory"
printf '[a]\nvolumes = a\n' >"$T_DIR/roots/listed" && chmod 600 "$T_DIR/roots/listed"
WAS=$(state)
as_user ln -sf "$T_DIR/roots/listed" "$D/accounts"
status 2 "root's file as the accounts: not shown" "$RJSERVER" users -d "$D"
status 2 "nor copied by deluser" "$RJSERVER" deluser -d "$D" a
untouched "the accounts"
rm "$D/accounts"
status 2 "nor is anything else shown" "$RJSERVER" check "$D/sub"
untouched "check"

# in a directory of root's the file keeps its owner
mkdir "$T_DIR/etc" && install -m 600 -o $USER_ID -g $USER_ID /dev/null "$T_DIR/etc/accounts"
status 0 "the accounts in root's directory" "$RJSERVER" adduser -d "$D" --accounts "$T_DIR/etc/accounts" host1
is "stay the user's" "$(stat -c %u "$T_DIR/etc/accounts")" $USER_ID

# root's own link leads to where the user could plant others
ln -s "$D" "$T_DIR/etc/store"
as_user ln -sf "$T_DIR/roots/file" "$D/accounts.new"
status 0 "root's link to the user's directory" "$RJSERVER" adduser -d "$T_DIR/etc/store" host3
untouched "root's link"
is "the accounts behind it are the user's" "$(stat -c '%F %u' "$D/accounts")" "regular file $USER_ID"
# to a directory of root's, which the user could put another in the place of
mkdir -m 755 "$D/roots" && ln -s "$D/roots" "$T_DIR/etc/inner"
status 2 "root's link to a directory below one of the user's: not as root" "$RJSERVER" adduser -d "$T_DIR/etc/inner" host4
is "nothing was made there" "$(ls -A "$D/roots")" ""
exit 0
