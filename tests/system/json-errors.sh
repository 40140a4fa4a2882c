#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each command that has --json prints JSON on standard output also when it fails, with the line of
# standard error as "error"; and nothing else is there.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
away=rj://127.0.0.1:1/x missing=$T_DIR/missing
# fails PROGRAM WORDS...
fails() {
	local said error rc
	said=$(timeout 100 "$RJ_BUILD/$1" "${@:2}" 2>"$T_DIR/err")
	rc=$?
	error=$(jq -r .error <<<"$said" 2>/dev/null)
	[ $rc != 0 ] && [ "${#error}" -gt 5 ] && grep -qF -- "$error" "$T_DIR/err" && { ok "$*"; return; }
	note "status $rc, standard output: $said" "standard error: $(cat "$T_DIR/err")"
	not_ok "$*"
}
fails rjtune/rjtune --json -l "$missing"
fails rjtune/rjtune --json -l UUID=none
fails rjtune/rjtune --json -J size=4 "$missing"
fails rjrecover/rjrecover --json -n "$missing"
fails rjrecover/rjrecover --json -n LABEL=none
fails rjtune/rjtune --json -J size=4 --all="$missing"
fails rjlog/rjlog probe --json "$away"
for command in ls verify show prune rm; do fails rjlog/rjlog $command --json "$away/$(uuidgen)"; done
fails rjlog/rjlog ls --json "$away"
fails rjlog/rjlog ls --json rj://127.0.0.1:1
fails rjlog/rjlog copy --json "$away" "file://$T_DIR"
fails rjctl/rjctl status --json "$missing"
fails rjctl/rjctl status --json
fails rjbackup/rjbackup ls --json "$missing"
fails rjbackup/rjbackup drill --json --base="$missing"
fails rjserver/rjserver stats --json -d "$missing"
fails rjadvise/rjadvise --json "$missing"
