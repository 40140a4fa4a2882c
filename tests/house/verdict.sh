#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a volume and its log are is judged in lib/verdict. Elsewhere the facts that it judges are
# only gathered, written, printed, or used for what verdict.table says.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
facts='\b(needs_recovery|broken_unmount|log_void)\b|RJ_SBX_INCOMPAT_(LOG_VOID|CHECK_PENDING)'
facts+='|rj_log_served_since\(|sbx\.epoch [<>]| [<>]=? [a-z.>-]*sbx\.epoch|\bmark [<>]'
# uses TREE: "FILE COUNT" of the lines that read such a fact. Set, printed or told is not read.
uses() {
	(cd "$1" && find lib tools mkrjfs rjtune rjrecover rjmount rjlog rjbackup rjctl rjournald \
		-name '*.c' -exec grep -nE "$facts" {} + 2>/dev/null) |
		grep -vE '^(lib/verdict|lib/ext4|lib/format)/|report->|[rm](\.|->)(move\.)?needs_recovery|add_bool|line\(' |
		grep -vE '^[^:]*:[0-9]*:[[:space:]]*(/?\*|\.(set_)?needs_recovery =)|^[^:]*:[0-9]*:int rj_log_served_since' |
		grep -vE 'incompat (\|=|&=)|^[^:]*:[0-9]*:[[:space:]]*~\(' |
		cut -d: -f1 | sort | uniq -c | awk '{print $2, $1}'
}
grep -v '^#' "$RJ_SRC/tests/house/verdict.table" | awk '{print $1, $2}' | sort >"$T_DIR/allowed"
is "no decision is outside lib/verdict but those of verdict.table" \
	"$(diff <(uses "$RJ_SRC" | sort) "$T_DIR/allowed")" ""
mkdir -p "$T_DIR/bad/lib/recover" "$T_DIR/bad/rjtune"
printf '\tif (f->needs_recovery)\n\t\treturn 1;\n' >"$T_DIR/bad/lib/recover/a.c"
printf '\treturn h->epoch > f->sbx.epoch;\n' >"$T_DIR/bad/rjtune/b.c"
is "a decision elsewhere is seen" "$(uses "$T_DIR/bad" | sort | tr '\n' ' ')" "lib/recover/a.c 1 rjtune/b.c 1 "
exit 0
