#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# contrib/monitoring: each metric, mode and reason that its rules and its
# dashboard name is one that rjserver and rjournald show; and a real Prometheus
# that reads both through the examples as they are finds each expression in
# order, gets data for each panel, and raises an alert when the server is gone.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"
need_fuse_loop
export no_proxy='*' PATH=$RJ_BUILD/rjctl:$PATH
img=$T_DIR/img mnt=$T_DIR/mnt D=$T_DIR/store M=$RJ_SRC/contrib/monitoring

# ---- a server with TLS, and a mounted volume that it keeps the journal of ----
new_ca ca && new_cert server localhost ca || { not_ok "certificates"; exit 1; }
adduser "$D" host1 >"$T_DIR/token"
adduser "$D" prometheus --rights watch --volumes '*' >"$T_DIR/watch"
chmod 600 "$T_DIR/token"
check "a server with accounts" tls_start "$D"
printf '[rjs://127.0.0.1]\ntokenfile = %s\nca = %s\n' "$T_DIR/token" "$PKI/ca.pem" >"$RJ_CONF"
chmod 600 "$RJ_CONF"
url=rjs://${BASE#https://}/host1
check "a volume" "$MKRJFS" -q -F -t ext4 -J "remote=$url,size=4" "$img" 32M
check "mounted" mount_served "$img" "$mnt" data=journal
at_exit umount -l "$mnt"
check "written" fsynced "$mnt" 5 "$T_DIR/sums"
status 0 "a base" "$RJ_BUILD/rjbackup/rjbackup" base --hold=30d -o "$T_DIR/base" "$mnt"

# ---- what they show ----
text=$T_DIR/textfile
mkdir "$text"
# the command of rjprogs-metrics.service, as systemd would read it
command=$(sed -n ':a; /\\$/{N; s/\\\n\t*//; ba}; s/^ExecStart=//p' "$M/rjprogs-metrics.service" |
	sed 's/\$\$/$/g')
write_metrics() { (cd "$text" && eval "$command"); }
check "rjprogs-metrics.service writes its file" write_metrics
# a drill that fails is shown, too
status 8 "a drill without its base" "$RJ_BUILD/rjbackup/rjbackup" drill --scratch="$T_DIR" \
	--base="$T_DIR/none" --metrics="$text/rjbackup.prom"
shown=$T_DIR/shown
curl -s -m 120 -H "Authorization: Bearer $(cat "$T_DIR/watch")" "$BASE/metrics" |
	cat - "$text"/*.prom >"$shown"
like "which holds the status of rjctl check" "$(cat "$shown")" '^rjctl_check_status 0$'
# shellcheck disable=SC2046 # a command with its arguments
check "rjprogs-check.service's command ends well" $(sed -n 's/^ExecStart=//p' "$M/rjprogs-check.service")

# names FILE...: the metrics of ours that they name
names() { grep -ohE '\brj(server|ournald|ctl|backup)_[a-z_]+' "$@" | LC_ALL=C sort -u; }
# values LABEL FILE...: of the label, in matchers
values() {
	local label=$1; shift
	grep -ohE "\\b$label=~?\\\\?\"[a-z_|]+" "$@" | sed 's/.*"//' | tr '|' '\n' | LC_ALL=C sort -u
}
absent() { LC_ALL=C comm -23 <("$@") <(sed 's/^# TYPE //' "$shown" | names); }
absent_values() { LC_ALL=C comm -23 <(values "$@") <(values "$1" "$shown"); }
rules=$M/prometheus-rules.yml board=$M/grafana-dashboard.json
check "the rules and the dashboard name metrics" test "$(names "$rules" "$board" | wc -l)" -gt 20
is "each is shown" "$(absent names "$rules" "$board")" ""
is "each mode is one" "$(absent_values mode "$rules" "$board")" ""
is "each reason is one" "$(absent_values reason "$rules")" ""
sed 's/rjserver_lost_records/rjserver_lost/; s/"fenced|/"fence|/' "$rules" >"$T_DIR/bad.yml"
is "seen: a metric and a mode that are none" \
	"$(absent names "$T_DIR/bad.yml") $(absent_values mode "$T_DIR/bad.yml")" "rjserver_lost fence"
check "the dashboard is JSON with panels" jq -e '.panels | length > 10' "$board"

# ---- Prometheus ----
for p in prometheus promtool prometheus-node-exporter; do
	command -v $p >/dev/null || skip_all "no $p here (scripts/deps --server)"
done
sed "s|%RULES%|$rules|" "$RJ_SRC/tests/system/monitoring-rules.yml" >"$T_DIR/test.yml"
check "promtool check rules" promtool check rules "$rules"
check "promtool test rules" promtool test rules "$T_DIR/test.yml"
is "promtool check metrics finds no mistake" "$(promtool check metrics <"$shown" 2>&1 |
	grep -v 'counter metrics should have\|non-counter metrics should not')" ""

# on_a_port COMMAND...: start it with PORT for %PORT%, and wait until it answers
# there; sets PORT
on_a_port() {
	local pid try
	for try in 1 2 3 4 5; do
		PORT=$((20000 + RANDOM % 12000))
		"${@//%PORT%/$PORT}" >"$T_DIR/${1##*/}.log" 2>&1 &
		pid=$!
		kill_at_end $pid
		wait_for 60 answers_or_dead $pid && kill -0 $pid 2>/dev/null && return 0
	done
	return 1
}
answers_or_dead() { ! kill -0 "$1" || curl -sf -m 120 "http://127.0.0.1:$PORT/metrics"; }
check "node_exporter" on_a_port prometheus-node-exporter --collector.disable-defaults \
	--collector.textfile --collector.textfile.directory="$text" \
	--web.listen-address=127.0.0.1:%PORT%
# the examples, with the places of this test; alerts do not wait
sed 's/for: .*/for: 0s/' "$rules" >"$T_DIR/rules.yml"
{
	printf 'global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}\n'
	sed "s|/etc/prometheus/rjprogs-rules.yml|$T_DIR/rules.yml|
		s|/etc/prometheus/rjserver.token|$T_DIR/watch|
		s|/etc/prometheus/rjserver-ca.pem|$PKI/ca.pem|
		s|journal.example.org:7490|${BASE#https://}|
		s|host1.example.org:9100|127.0.0.1:$PORT|" "$M/prometheus-scrape.yml"
} >"$T_DIR/prometheus.yml"
check "promtool check config" promtool check config "$T_DIR/prometheus.yml"
check "Prometheus" on_a_port prometheus --config.file="$T_DIR/prometheus.yml" \
	--storage.tsdb.path="$T_DIR/tsdb" --web.listen-address=127.0.0.1:%PORT% --log.level=warn
ask() { curl -s -m 120 -G "http://127.0.0.1:$PORT/api/v1/query" --data-urlencode "query=$1"; }
found() { ask "$1" | jq -e '.status == "success" and (.data.result | length > 0)'; }
check "it reads the server, with TLS and a token" wait_for 60 found 'up{job="rjserver"} == 1'
check "and the volume, through node_exporter" wait_for 60 found 'rjournald_mode{mode="online"} == 1'
while IFS= read -r expr; do
	check "a panel has data: $expr" wait_for 60 found "$expr"
done < <(jq -r '.panels[].targets[]?.expr' "$board" |
	sed 's/\$__rate_interval/1m/g; s/\$volume/.*/g')

# ---- the server is gone ----
stop
port=${BASE##*:}
(echo more >"$mnt/more" && sync "$mnt/more") &
writer=$!
waits() { write_metrics && grep -q 'mode="waiting"} 1' "$text/rjprogs.prom"; }
check "the volume waits" wait_for 60 waits
for a in RjServerDown RjJournalWaits RjCheckCritical RjDrillFailed; do
	check "alert $a" wait_for 60 found "ALERTS{alertname=\"$a\",alertstate=\"firing\"}"
done
check "the server is back" tls_start "$D" -l "127.0.0.1:$port"
check "the write goes on" wait_for 60 gone "$writer"
online() { write_metrics && grep -q 'mode="online"} 1' "$text/rjprogs.prom"; }
check "the volume is online" wait_for 60 online
quiet() { ! found 'ALERTS{alertname="RjJournalWaits"}' && ! found 'ALERTS{alertname="RjServerDown"}'; }
check "the alerts end" wait_for 60 quiet
check "unmounted" umount "$mnt"
check "stopped" unserve
