# SPDX-License-Identifier: GPL-2.0-or-later
# Of bench/thesis: from its results, whose first line names the fields, the page; with
# -v plot=DISK the lines of Figure 2 that plot.awk draws.

BEGIN {
	name["internal"] = "internal"; name["external"] = "external, a disk of its own"
	name["remote-tmpfs"] = "remote"; name["null"] = "NJ: written blocks are dropped"
	split("fig2 varmail fileserver", part, " ")
	title["fig2"] = "Postmark, commit=5 (transactions per second)"
	title["varmail"] = "varmail, commit=5 (operations per second)"
	title["fileserver"] = "fileserver, commit=5 (operations per second)"
	split("journal ordered writeback", mode, " ")
	split("internal external remote-tmpfs null", journal, " ")
}
# In the order in which they came first
function remember(list, count, item,    i) {
	for (i = 1; i <= count; i++) if (list[i] == item) return count
	list[count + 1] = item
	return count + 1
}
$1 == "#" && $2 != "part" { run[++runs] = substr($0, 3) }
!/^#/ {
	k = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4 SUBSEP $5
	disks = remember(disk, disks, $2)
	if ($1 == "fig2") intervals = remember(interval, intervals, $5)
	if ($6 > rounds[k]) rounds[k] = $6
	v[k, $6, "rate"] = $8
	v[k, $6, "client"] = 100 * ($10 + $11 + $12) / $9
	v[k, $6, "rjournald"] = 100 * $12 / $9
	v[k, $6, "rjserver"] = 100 * $13 / $9
	v[k, $6, "mbit"] = $14 * 8 / $9 / 1e6
	v[k, $6, "wire"] = $15 ? $14 / $15 : 0
	if ($6 > got[$1, $2]) got[$1, $2] = $6
	most_load[$1, $2] = $16 > most_load[$1, $2] ? $16 : most_load[$1, $2]
}
function median(list, n,    i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
			t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
		}
	return n ? (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2 : ""
}
function key(p, d, m, j, c) { return p SUBSEP d SUBSEP m SUBSEP j SUBSEP c }
# The median over the rounds of a value, or of its ratio to that of another key in the round
function of(k, what, to,    n, r, l) {
	for (r = 1; r <= rounds[k]; r++)
		if ((k, r, what) in v && (to == "" || v[to, r, what] > 0))
			l[++n] = v[k, r, what] / (to == "" ? 1 : v[to, r, what])
	return median(l, n)
}
function show(format, value) { return value == "" ? "-" : sprintf(format, value) }

# Figure 2, the lowest and the highest over modes and intervals, in per cent
function range(d, what, from, to, less,    m, c, x, k, low, high) {
	for (m = 1; m <= 3; m++) for (c = 1; c <= intervals; c++) {
		k = key("fig2", d, mode[m], from, interval[c])
		x = of(k, what, to == "" ? "" : key("fig2", d, mode[m], to, interval[c]))
		if (x == "") continue
		x = to == "" ? x : less ? 100 * (1 - x) : 100 * (x - 1)
		if (low == "" || x < low) low = x
		if (high == "" || x > high) high = x
	}
	return low == "" ? "-" : sprintf("%.1f to %.1f", low, high)
}
function mail(d, j,    m, s, x) {
	for (m = 2; m <= 3; m++) {
		x = of(key("varmail", d, mode[m], j, 5), "rate", key("varmail", d, mode[m], "internal", 5))
		s = s (s == "" ? "" : ", ") (x == "" ? "-" : sprintf("%+.0f", 100 * (x - 1)))
	}
	return s
}
function row(text, theirs, what, from, to, less,    d, line) {
	line = "| " text " | " theirs " |"
	for (d = 1; d <= disks; d++)
		line = line " " (what == "mail" ? mail(disk[d], from) : \
			range(disk[d], what, from, to, less)) " |"
	print line
}
function beside(    d, line, rule) {
	line = "| figure, per cent | theirs |"; rule = "|---|---|"
	for (d = 1; d <= disks; d++) { line = line " " disk[d] " |"; rule = rule "---:|" }
	print line "\n" rule
	row("Fig. 2: a local journal is slower than NJ by", "at most 27 [T]", "rate", "internal", "null", 1)
	row("Fig. 2: a remote journal is faster than a local one by", "10 to 21 [T], 8 to 19 [D]", \
		"rate", "remote-tmpfs", "internal")
	row("Fig. 2: a remote journal is slower than NJ by", "not known", "rate", "remote-tmpfs", \
		"null", 1)
	row("network, of Ethernet with 100 Mb/s", "0.8 to 5 [T], below 6 [D]", "mbit", "remote-tmpfs")
	row("CPU for the network, of one processor: rjournald", "below 8 [D]", "rjournald", \
		"remote-tmpfs")
	row("the same of the server: rjserver", "not known", "rjserver", "remote-tmpfs")
	row("mail server, external to internal (ordered, writeback)", "about +40 [E]", "mail", "external")
	row("mail server, remote to internal (ordered, writeback)", "-", "mail", "remote-tmpfs")
	print "| recovery, remote to local | about the same [T] | [bench-replay.md](bench-replay.md) |" \
		substr("  |  |  |  |", 1, 3 * (disks - 1))
}
function fig2(d,    m, c, l, r, n) {
	print "### Figure 2: postmark by commit interval (transactions per second)\n\n" \
		"![rate by commit interval](thesis-" d ".svg)\n\n" \
		"| mode | interval, s | local | remote | NJ | remote / local | local / NJ | remote / NJ |\n" \
		"|---|---:|---:|---:|---:|---:|---:|---:|"
	for (m = 1; m <= 3; m++) for (c = 1; c <= intervals; c++) {
		l = key("fig2", d, mode[m], "internal", interval[c])
		r = key("fig2", d, mode[m], "remote-tmpfs", interval[c])
		n = key("fig2", d, mode[m], "null", interval[c])
		if (of(l, "rate") == "") continue
		print "| " mode[m] " | " interval[c] " | " show("%.0f", of(l, "rate")) " | " \
			show("%.0f", of(r, "rate")) " | " show("%.0f", of(n, "rate")) " | " \
			show("%.2f", of(r, "rate", l)) " | " show("%.2f", of(l, "rate", n)) " | " \
			show("%.2f", of(r, "rate", n)) " |"
	}
	print ""
}
function loads(p, d,    m, j, k, far) {
	print "### " title[p] "\n\n" \
		"| mode | journal | rate | to internal | client CPU % | rjournald % | rjserver % | " \
		"network Mb/s | wire / journal |\n|---|---|---:|---:|---:|---:|---:|---:|---:|"
	for (m = 1; m <= 3; m++) for (j = 1; j <= 4; j++) {
		k = key(p, d, mode[m], journal[j], 5)
		if (of(k, "rate") == "") continue
		far = journal[j] == "remote-tmpfs"
		print "| " mode[m] " | " name[journal[j]] " | " show("%.0f", of(k, "rate")) " | " \
			show("%.2f", of(k, "rate", key(p, d, mode[m], "internal", 5))) " | " \
			show("%.0f", of(k, "client")) " | " \
			(far ? show("%.1f", of(k, "rjournald")) " | " show("%.1f", of(k, "rjserver")) " | " \
				show("%.1f", of(k, "mbit")) " | " show("%.3f", of(k, "wire")) : \
				"- | - | - | -") " |"
	}
	print ""
}
function plotted(d,    m, c, j, k, base, where) {
	where[1] = "internal"; where[2] = "remote-tmpfs"; where[3] = "null"
	base = key("fig2", d, "ordered", "internal", 5)
	for (c = 1; c <= intervals; c++) for (m = 1; m <= 3; m++) for (j = 1; j <= 3; j++) {
		k = key("fig2", d, mode[m], where[j], interval[c])
		if (of(k, "rate", base) != "" && (j < 3 || m < 3))
			printf "%s s\t%s, %s\t%.3f\n", interval[c], mode[m], \
				j == 1 ? "local" : j == 2 ? "remote" : "NJ", of(k, "rate", base)
	}
}
function ran(    i, f) {
	print "| part | disk | scale | rounds | date | kernel | CPUs | load average, most |\n" \
		"|---|---|---:|---:|---|---|---:|---:|"
	for (i = 1; i <= runs; i++) {
		split(run[i], f, "\t")
		print "| " f[1] " | " f[2] " | " (f[1] == "varmail" ? "1" : "1/" f[3]) \
			(f[1] == "fig2" ? "" : ", " f[4] " s") " | " got[f[1], f[2]] " | " f[5] \
			" | " f[6] " | " f[7] " | " most_load[f[1], f[2]] " |"
	}
	print "\nThe load average counts the threads of the load itself, too (one, 16 and 50), and those that wait for the disk.\n"
}
END {
	if (plot != "") { plotted(plot); exit }
	while ((getline line < intro) > 0) print line
	beside()
	print "\n## What was measured\n"
	ran()
	for (d = 1; d <= disks; d++) {
		print "## " disk[d] "\n"
		for (p = 1; p <= 3; p++)
			if ((part[p], disk[d]) in most_load) {
				if (part[p] == "fig2") fig2(disk[d])
				loads(part[p], disk[d])
			}
	}
}
