# SPDX-License-Identifier: GPL-2.0-or-later
# Of bench/commit: from its results (one line per run: DISK MODE LOAD JOURNAL
# ROUND RATE MEDIAN 99TH COUNT TICKS WIRE JOURNALBYTES) to Markdown tables of
# the disk D, or with -v plot=LOAD to the lines that plot.awk draws.
# -v modes=, loads=, journals= give the orders.

function median(list, n,    i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
			t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
		}
	return n ? (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2 : 0
}
# of a mode without journal, and of no journal in a mode
function mode_of(journal, mode) { return journal == "none" ? "ordered" : mode }

function rate(mode, load, journal,    n, r, l) {
	mode = mode_of(journal, mode)
	for (r = 1; r <= rounds; r++)
		if ((mode, load, journal, r) in value)
			l[++n] = value[mode, load, journal, r]
	return median(l, n)
}
# In the same round: a machine that is busier in one round than in the next is
# so for both
function ratio(mode, load, journal, to,    n, r, l) {
	for (r = 1; r <= rounds; r++)
		if (value[mode_of(to, mode), load, to, r] > 0 &&
		    ((mode_of(journal, mode), load, journal, r) in value))
			l[++n] = value[mode_of(journal, mode), load, journal, r] / \
				value[mode_of(to, mode), load, to, r]
	return median(l, n)
}
function cpu_us(mode, load, journal) {
	mode = mode_of(journal, mode)
	if (!ops[mode, load, journal]) return 0
	return ticks[mode, load, journal] * 1e4 / ops[mode, load, journal]
}
function cpu(mode, load, journal,    us) {
	us = cpu_us(mode, load, journal)
	return us ? sprintf("%.0f", us) : "-"
}
function wire(mode, load, journal) {
	if (!(jbytes[mode, load, journal] > 0) || journal !~ /^remote|^nbd/) return "-"
	# what goes through the proxy passes over lo twice
	return sprintf("%.3f", bytes[mode, load, journal] / jbytes[mode, load, journal] / \
		(journal == "remote-200" ? 2 : 1))
}

BEGIN {
	nmodes = split(modes, mode); nloads = split(loads, load)
	njournals = split(journals, journal)
	name["internal"] = "internal"; name["none"] = "no journal"
	name["external"] = "external, a disk of its own"
	name["remote-tmpfs"] = "remote, server on tmpfs"
	name["remote-key"] = "remote, server on tmpfs, encrypted"
	name["remote-disk"] = "remote, server on such a disk"
	name["remote-200"] = "remote, tmpfs, longer wire"
	name["nbd"] = "external over nbdkit and nbdfuse"
	title["create1"] = "Fsynced creates, one thread (creates per second)"
	title["create8"] = "Fsynced creates, eight threads (creates per second)"
	title["postmark"] = "Postmark (transactions per second)"
	title["dbench"] = "dbench, 4 clients (operations per second)"
	title["dbench-s"] = "dbench -s, 4 clients (operations per second)"
}
$1 == D {
	value[$2, $3, $4, $5] = $6
	measured[$3]
	ops[$2, $3, $4] += $9
	ticks[$2, $3, $4] += $10
	bytes[$2, $3, $4] += $11
	jbytes[$2, $3, $4] += $12
	if ($5 > rounds) rounds = $5
}
END {
	for (l = 1; l <= nloads; l++) {
		if (!(load[l] in measured)) continue
		if (plot == "") head(load[l])
		for (j = 1; j <= njournals; j++) {
			line = "| " name[journal[j]] " |"
			for (m = 1; m <= nmodes; m++) {
				if (plot != "")
					printf "%s\t%s\t%.3f\n", load[l] ", " mode[m],
						name[journal[j]],
						ratio(mode[m], load[l], journal[j], "internal")
				if (!rate(mode[m], load[l], journal[j])) {
					line = line " - | - | - | - |"
					continue
				}
				line = line sprintf(" %.0f | %.2f | %s | %s |",
					rate(mode[m], load[l], journal[j]),
					ratio(mode[m], load[l], journal[j], "internal"),
					cpu(mode[m], load[l], journal[j]),
					wire(mode[m], load[l], journal[j]))
			}
			if (plot == "") print line
		}
		if (plot == "") foot(load[l])
	}
}
function head(load,    m, line) {
	print "#### " title[load] "\n"
	line = "| journal |"
	for (m = 1; m <= nmodes; m++)
		line = line " " mode[m] ": rate | ratio | CPU µs | wire |"
	print line
	line = "|---|"
	for (m = 1; m <= nmodes; m++) line = line "---:|---:|---:|---:|"
	print line
}
# What JOURNAL reaches of the rate of a commit that takes FLOOR microseconds
function of_floor(journal, floor,    m, line) {
	for (m = 1; m <= nmodes; m++)
		line = line sprintf("%s %.2f (%s)", m > 1 ? "," : "",
			rate(mode[m], "create1", journal) * floor / 1e6, mode[m])
	return line
}
# The network's own part of the CPU time
function put_cost(load,    m, line, i) {
	for (m = 1; m <= nmodes; m++) {
		i = cpu_us(mode[m], load, "internal")
		line = line sprintf("%s %.2f (%s)", m > 1 ? "," : "",
			i ? (cpu_us(mode[m], load, "remote-tmpfs") - put) / i : 0, mode[m])
	}
	printf "A bare put of %d bytes takes %.0f µs of CPU, at both ends. The rest, to internal:%s.\n\n", \
		putbytes, put, line
}
# The remote journal beside the same device without us, and beside the floor
function foot(load,    m, line) {
	print ""
	if (journals ~ /nbd/ && journals ~ /remote-tmpfs/) {
		line = "Remote (tmpfs) to nbdkit and nbdfuse:"
		for (m = 1; m <= nmodes; m++)
			line = line sprintf("%s %.2f (%s)", m > 1 ? "," : "",
				ratio(mode[m], load, "remote-tmpfs", "nbd"), mode[m])
		print line ".\n"
	}
	if (load == "create1" && put > 0 && journals ~ /remote-tmpfs/) put_cost(load)
	if (load != "create1" || flush <= 0) return
	if (journals ~ /remote-tmpfs/)
		printf "The floor, one write and one flush of the volume, is %.0f per second; of it:%s.\n\n", \
			1e6 / flush, of_floor("remote-tmpfs", flush)
	# the commit block may be durable only behind that flush: its round trip
	# cannot be hidden in it
	if (journals ~ /remote-200/ && far > 0)
		printf "With a round trip of the longer wire behind the flush it is %.0f per second, %.2f of internal (%s);\nof it:%s.\n\n", \
			1e6 / (flush + far), 1e6 / (flush + far) / rate(mode[1], "create1", "internal"), \
			mode[1], of_floor("remote-200", flush + far)
}
