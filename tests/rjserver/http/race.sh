#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Put-if-absent: however many try at once, exactly one is told that it won,
# and its bytes are the ones that stay.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

start "$T_DIR/store" || { not_ok "rjserver starts"; exit 1; }
check "8 racers, ${RJ_RACE_KEYS:-50} keys" \
	"$LOAD" race "${BASE##*:}" 8 "${RJ_RACE_KEYS:-50}"
K=$BASE/load/00001267-0000-4000-8000-000000000000/log
is "the list has each once" "$(code "$K/") $(body | wc -l)" "200 ${RJ_RACE_KEYS:-50}"

# paging through all of it, 7 at a time
after=0 seen=
while :; do
	[ "$(code "$K/?after=$after&limit=7")" = 200 ] || break
	seen+=$(cut -d' ' -f1 "$T_DIR/body")$'\n'
	after=$(tail -n 1 "$T_DIR/body" | cut -d' ' -f1)
	after=$((10#$after))
	head_has 'rj-more: 1' || break
done
is "pages make up the list" "$seen" \
	"$(code "$K/" >"$T_DIR/status"; cut -d' ' -f1 "$T_DIR/body")
"
stop
is "stopped in order" $? 0

# 10,000 is the most that one answer has
start "$T_DIR/many" --durability=received || { not_ok "rjserver starts"; exit 1; }
check "12,505 objects" "$LOAD" bench "${BASE##*:}" 1 1 12505 1
J=$BASE/load/00010000-0000-4000-8000-000000000000/log
is "limit: 10000 without asking" "$(code "$J/") $(body | wc -l)" "200 10000"
check "and more is said" head_has 'rj-more: 1'
is "limit: 10000 also when asked for more" \
	"$(code "$J/?limit=99999") $(body | wc -l)" "200 10000"
last=$(tail -n 1 "$T_DIR/body" | cut -d' ' -f1)
is "the rest" "$(code "$J/?after=$((10#$last))") $(body | wc -l)" "200 2505"
