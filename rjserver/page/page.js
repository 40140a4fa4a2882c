// SPDX-License-Identifier: GPL-2.0-or-later
// Fetches /status and shows it. Numbers come from the server; nothing is
// written as HTML.
"use strict";
const MOST = 200; // rows shown at once; the filter finds the others
const EVERY = 2000; // ms
const $ = (id) => document.getElementById(id);
let status = null, sort = {key: "name", down: false}, paused = false;

function el(tag, text, name) {
	const e = document.createElement(tag);
	if (text !== undefined) e.textContent = text;
	if (name) e.className = name;
	return e;
}
function bytes(n) {
	n = Math.round(n);
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
	return (i ? n.toFixed(n < 10 ? 1 : 0) : n) + " " + units[i];
}
function span(s) {
	if (s < 120) return Math.floor(s) + " s";
	if (s < 7200) return Math.floor(s / 60) + " min";
	if (s < 172800) return Math.floor(s / 3600) + " h";
	return Math.floor(s / 86400) + " d";
}
function ms(us) { return us < 10000 ? (us / 1000).toFixed(1) + " ms" : Math.round(us / 1000) + " ms"; }
function ago(v) {
	return v.last_commit_ms ? span(Math.max(0, status.server.now_ms - v.last_commit_ms) / 1000) + " ago" : "not yet";
}
const DRILL_MAX_AGE = 8 * 86400; // seconds, the default of rj.conf
// When rjbackup drill succeeded last; without a hold nobody may want to know.
function verified(v) {
	const age = status.server.now_ms / 1000 - v.verified_s;
	if (!v.verified_s) return v.holds ? "never verified" : "";
	return (age > DRILL_MAX_AGE ? "stale: verified " : "verified ") + span(Math.max(0, age)) + " ago";
}
// Bytes a second; the last sample is still filling, so the one before counts.
function rates(v) { return v.rate.map((n) => n / status.server.sample_s); }
function now(v) { const r = rates(v); return r.length > 1 ? r[r.length - 2] : 0; }

const keys = {
	name: (v) => v.name + "/" + v.journal, host: (v) => v.host, last: (v) => -v.last_commit_ms,
	lag: (v) => v.lag_us, bytes: (v) => v.bytes, segments: (v) => v.segments, rate: now,
};

function plot(v) {
	const svg = $("plot").content.firstElementChild.cloneNode(true);
	const W = 180, H = 32, n = status.server.samples;
	const r = rates(v).slice(0, -1);
	if (r.length && r.length < n - 1) r.unshift(0); // zeros at the front are left out
	const top = Math.max(1, ...r), step = W / (n - 2);
	svg.setAttribute("aria-label", "now " + bytes(now(v)) + " per second, highest " +
		bytes(r.length ? Math.max(...r) : 0) + " per second in ten minutes");
	const at = r.map((y, i) => [(W - (r.length - 1 - i) * step).toFixed(1), (H - 2 - y / top * (H - 4)).toFixed(1)]);
	if (at.length > 1) {
		const line = at.map((p) => p.join(",")).join(" ");
		svg.querySelector("path").setAttribute("d", "M" + at[0][0] + "," + H + " L" + line + " L" + W + "," + H + " Z");
		svg.querySelector("polyline").setAttribute("points", line);
	}
	return svg;
}

const limits = { disk: "the disk", volume: "the limit of the volume", account: "the limit of its account" };

function row(v) {
	const tr = el("tr"), name = el("th", v.name), host = el("td", v.host || "-"), rate = el("td");
	const stored = el("td", bytes(v.bytes), "n");
	name.scope = "row";
	name.append(el("span", v.journal, "id"));
	if (v.full) name.append(el("span", "full, its last commit was refused: " + limits[v.full], "id bad"));
	else if (v.nearly_full) name.append(el("span", "nearly full: " + limits[v.nearly_full], "id bad"));
	if (v.holds) stored.append(el("span", v.holds === 1 ? "1 hold" : v.holds + " holds", "id"));
	const proof = verified(v);
	if (proof) stored.append(el("span", proof, proof.startsWith("verified") ? "id" : "id bad"));
	if (v.account) host.append(el("span", v.account, "id"));
	rate.append(plot(v), el("span", bytes(now(v)) + "/s", "id"));
	tr.append(name, host, el("td", ago(v)), el("td", v.last_commit_ms ? ms(v.lag_us) : "-", "n"),
		stored, el("td", v.segments, "n"), rate);
	return tr;
}

const health = {
	ok: "All is well: commits are taken.",
	expired: "The certificate of this server has ended: no new connection is made. Renew it.",
	expiring: "The certificate of this server ends soon: renew it.",
	low: "Nearly full: commits are still taken.",
	full: "Full: new commits are refused.",
	lossy: "Records were lost to damage: new keys are refused. The log and rjserver(8) say more.",
	failed: "A write failed: nothing is taken until the server is restarted.",
};
function say(text, good) {
	if ($("health").textContent !== text) $("health").textContent = text;
	$("health").className = good ? "good" : "bad";
}

function showServer() {
	const s = status.server, facts = [
		["Volumes", status.volumes.length],
		["Stored", bytes(status.volumes.reduce((n, v) => n + v.bytes, 0))],
		["Taken in now", bytes(status.volumes.reduce((n, v) => n + now(v), 0)) + "/s"],
		["Commits", s.commits],
		["Half of commits within", s.commits ? ms(s.commit_p50_us) : "-"],
		["99 % of commits within", s.commits ? ms(s.commit_p99_us) : "-"],
		["Disk free", bytes(s.free_bytes) + " of " + bytes(s.disk_bytes)],
		["Refused", s.refused],
		["Acknowledged when", s.durability === "fsync" ? "on stable storage" : "received"],
		...(s.certificate_end_s ? [["Certificate until", new Date(s.certificate_end_s * 1000).toLocaleDateString()]] : []),
		["Running for", span(s.uptime_s)],
		["Version", s.version],
	];
	$("server").replaceChildren(...facts.map(([k, v]) => {
		const div = el("div");
		div.append(el("dt", k), el("dd", v));
		return div;
	}));
}

function showVolumes() {
	const want = $("filter").value.toLowerCase(), key = keys[sort.key];
	const all = status.volumes.filter((v) => (v.name + " " + v.journal + " " + v.host + " " + v.account).toLowerCase().includes(want));
	all.sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : 0) * (sort.down ? -1 : 1); });
	const some = all.slice(0, MOST);
	const text = some.length < status.volumes.length ? some.length + " of " + status.volumes.length + " shown" : "";
	if ($("count").textContent !== text) $("count").textContent = text;
	document.querySelector("#volumes tbody").replaceChildren(...some.map(row));
	for (const th of document.querySelectorAll("#volumes thead th")) {
		if (th.dataset.key === sort.key) th.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
		else th.removeAttribute("aria-sort");
	}
}

function show() {
	if (!status) return;
	const s = status.server, text = health[s.health] || s.health;
	const of = s.health === "low" || s.health === "full" ? " " + (s.limit_of ? s.limit_of + ", " : "") + limits[s.limit] + "." : "";
	say(text + of, s.health === "ok");
	showServer();
	showVolumes();
	document.body.dataset.ready = "yes";
}

async function update() {
	if (!paused) {
		try {
			// not relative: the page's own URL may have a password in it
			const answer = await fetch(location.origin + "/status", {cache: "no-store"});
			if (!answer.ok) throw new Error("it answers " + answer.status);
			status = await answer.json();
			show();
		} catch (e) {
			say("The server does not answer: " + e.message + ". What follows is old.", false);
		}
	}
	setTimeout(update, EVERY);
}

$("filter").addEventListener("input", () => { if (status) showVolumes(); });
$("pause").addEventListener("click", () => {
	paused = !paused;
	$("pause").setAttribute("aria-pressed", paused);
});
for (const th of document.querySelectorAll("#volumes thead th")) {
	th.querySelector("button").addEventListener("click", () => {
		sort = {key: th.dataset.key, down: sort.key === th.dataset.key && !sort.down};
		show();
	});
}
update();
