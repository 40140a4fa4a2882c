#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The page: its headers and parts; in a headless Chromium, where there is one,
# what it shows. RJ_SHOTS=DIR keeps screenshots to look at.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store
head -c 20000 /dev/urandom >"$T_DIR/a"
WATCHER=$(adduser "$D" watcher --rights watch --volumes '*')
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
ACCESS='' start "$D" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }
for v in db1 db2 mail web-eu web-us; do
	for i in {1..6}; do
		as "$ADMIN" -T "$T_DIR/a" "$BASE/$v/$UUID/log/$(seq20 $i)" >/dev/null
	done
done
for i in 7 8; do
	echo "a text that only its maker reads" >"$T_DIR/hold"
	as "$ADMIN" -T "$T_DIR/hold" "$BASE/mail/$UUID/hold/$(seq20 $i)" >/dev/null
done
then=$(($(date +%s) - 3 * 86400))
as "$ADMIN" -T "$T_DIR/hold" "$BASE/mail/$UUID/drill/$(seq20 $then)" >/dev/null
as "$ADMIN" -T "$T_DIR/hold" "$BASE/db1/$UUID/drill/$(seq20 1764115200)" >/dev/null
as "$ADMIN" -T "$T_DIR/hold" "$BASE/db2/$UUID/hold/$(seq20 1)" >/dev/null
as "$WATCHER" "$BASE/status" >/dev/null
is "holds are counted" "$(jq -r '.volumes[] | "\(.name) \(.holds)"' "$T_DIR/body" | xargs)" \
	"db1 0 db2 1 mail 2 web-eu 0 web-us 0"
is "so is the last drill" "$(jq -r '.volumes[] | "\(.name) \(.verified_s)"' "$T_DIR/body" | xargs)" \
	"db1 1764115200 db2 0 mail $then web-eu 0 web-us 0"
as "$WATCHER" "$BASE/metrics" >/dev/null
like "... for Prometheus" "$(cat "$T_DIR/body")" "^rjserver_volume_holds\{name=\"mail\",.*\} 2$"
like "... with the drill" "$(cat "$T_DIR/body")" \
	"^rjserver_volume_verified_timestamp_seconds\{name=\"mail\",.*\} $then$"
is "... and by stats, where there are any" "$("$RJ_BUILD/rjserver/rjserver" stats -d "$D" | grep -B1 '  holds: 2,' | grep -o '^mail\|holds: 2' | xargs)" \
	"mail holds: 2"
like "... with the drill" "$("$RJ_BUILD/rjserver/rjserver" stats -d "$D")" \
	"^  verified $(date -d "@$then" '+%F %T')[^ ]* by rjbackup drill"

html='Accept: text/html,application/xhtml+xml'
is "a stranger's browser is asked who it is" "$(code -H "$html" "$BASE/")" 401
is "the page" "$(as "$WATCHER" -H "$html" "$BASE/")" 200
check "is HTML" head_has 'content-type: text/html; charset=utf-8'
check "takes nothing from elsewhere" head_has "content-security-policy: default-src 'none'; .*"
cp "$T_DIR/body" "$T_DIR/page"
is "curl gets the line of the protocol" "$(as "$WATCHER" "$BASE/")$(body | cut -c1-8)" 200rjserver
for part in page.js page.css; do
	is "$part" "$(as "$WATCHER" "$BASE/$part")$(code "$BASE/$part")" 200401
	as "$WATCHER" "$BASE/$part" >/dev/null
	check "is that of the source" cmp "$RJ_SRC/rjserver/page/$part" "$T_DIR/body"
	cat "$T_DIR/body" >>"$T_DIR/page"
done
is "no part names another place" "$(grep -cE '(src|href|url|import|fetch)[ (="'\'']+(https?:)?//' "$T_DIR/page")" 0
is "PUT on the page" "$(as "$ADMIN" -T "$T_DIR/a" "$BASE/page.js")" 405

BROWSER=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$BROWSER" ] || { skip "in a browser" "no chromium here"; exit 0; }
if grep -q fsanitize=address "$RJ_BUILD/Makefile"; then
	skip "in a browser" "the run without a sanitizer does it"
	exit 0
fi

# browse OPTION...: the page as chromium sees it; user and password in the URL.
# Virtual time lets the page's timers run, and ends by itself.
browse() {
	HOME=$T_DIR timeout -k 5 60 "$BROWSER" --headless=new --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --no-first-run --disable-extensions --no-proxy-server \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$T_DIR/profile" --virtual-time-budget=4000 --timeout=20000 \
		"$@" </dev/null 2>>"$T_DIR/browser"
}
WHERE=http://watcher:$WATCHER@${BASE#http://}/
browse --dump-dom "$WHERE" >"$T_DIR/dom"
if ! grep -q '</html>' "$T_DIR/dom"; then
	note "$(tail -n 5 "$T_DIR/browser")"
	skip "in a browser" "chromium does not run here"
	exit 0
fi
dom() { grep -Eqo -- "$1" "$T_DIR/dom"; }
check "it has figures" dom 'data-ready="yes"'
check "... and holds" dom '2 holds</span>'
check "a drill of three days ago" dom '<span class="id">verified 3 d ago</span>'
check "... an old one" dom '<span class="id bad">stale: verified [0-9]+ d ago</span>'
check "... and none, of what has a hold" dom '<span class="id bad">never verified</span>'
check "says how it is" dom '<p id="health"[^>]*class="good"[^>]*>All is well'
is "a row for each volume" "$(grep -o '<th scope="row">' "$T_DIR/dom" | wc -l)" 5
for v in db1 db2 mail web-eu web-us; do check "with its name: $v" dom ">$v<"; done
check "its journal" dom "$UUID"
check "its host and account" dom '<td>127\.0\.0\.1<span class="id">boss</span>'
check "its size" dom '<td class="n">117 KiB</td><td class="n">6</td>'
check "its last commit" dom '<td>[0-9]+ s ago</td>'
is "a plot for each, which says in words what it shows" \
	"$(grep -oE '<svg[^>]* aria-label="now [^"]* per second, highest [^"]* in ten minutes"' "$T_DIR/dom" | wc -l)" 5
check "sorted by name, which is said" dom 'data-key="name" aria-sort="ascending"'
check "one heading of the first order" test "$(grep -o '<h1' "$T_DIR/dom" | wc -l)" = 1
is "every field has a label" "$(grep -oE '<input[^>]*id="[a-z]*"' "$T_DIR/dom" | sed 's/.*id=//' |
	while read -r id; do dom "<label for=$id" || echo "$id"; done)" ""
is "what can be pressed is a button" "$(grep -cE '<(div|span|td|th)[^>]*onclick' "$T_DIR/dom")" 0
browse --dump-dom "http://watcher:wrong@${BASE#http://}/" >"$T_DIR/dom"
is "with a wrong password: nothing" "$(grep -cE 'db1|All is well' "$T_DIR/dom")" 0
if [ -n "${RJ_SHOTS:-}" ]; then
	browse --window-size=1280,800 --screenshot="$RJ_SHOTS/wide.png" "$WHERE" >/dev/null
	browse --window-size=420,900 --screenshot="$RJ_SHOTS/narrow.png" "$WHERE" >/dev/null
	browse --window-size=1280,800 --blink-settings=preferredColorScheme=0 \
		--screenshot="$RJ_SHOTS/dark.png" "$WHERE" >/dev/null
fi
stop
is "it stops in order" $? 0
