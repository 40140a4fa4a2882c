# SPDX-License-Identifier: GPL-2.0-or-later
# The output of oracle.sh as a table: awk -f tests/history/table.awk LOG...
/^# seed [0-9]+: ext[34] [0-9]+ .* used / {
	for (i = 4; i < NF; i++)
		if ($i ~ /^[a-z]+$/) {
			sum[kind, $i] += $(i + 1)
			if ($i == "used") sum[kind, "bytes"] += $(i + 1) * size
		}
	next
}
/^# seed [0-9]+: ext[34] [0-9]+ / {
	size = $5
	kind = $4 " " $5
	for (i = 6; i <= NF; i++)
		if ($i != "journal") kind = kind " " $i
	sub(/journal,/, "", kind)
	sub(/ (key|zstd)$/, "", kind)
	seals[$NF == "key" || $NF == "zstd" ? $NF : "neither"]++
	if (!(kind in volumes)) order[++kinds] = kind
	volumes[kind]++
}
/^ok .*(marker [0-9]+ by|the latest)/ { sum[kind, "restored"]++ }
/^not ok / { sum[kind, "failed"]++ }
function row(name, k) {
	printf "| %s | %d | %d | %d | %d | %.1f | %d | %d | %d | %d | %d | %d | %d |\n", name, volumes[k],
		sum[k, "restored"], sum[k, "failed"], sum[k, "used"], sum[k, "bytes"] / 1048576, sum[k, "equal"],
		sum[k, "super"], sum[k, "backup"], sum[k, "itable"], sum[k, "unwritten"], sum[k, "cluster"],
		sum[k, "wrong"]
}
END {
	print "| volume | seeds | moments restored | failed | blocks in use compared | MiB | equal | superblock | its copies | unused inodes | unwritten | rest of a cluster | wrong |"
	print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
	n = split("restored failed used bytes equal super backup itable unwritten cluster wrong", names, " ")
	for (i = 1; i <= kinds; i++) {
		k = order[i]
		row(k, k)
		volumes["all"] += volumes[k]
		for (j = 1; j <= n; j++) sum["all", names[j]] += sum[k, names[j]]
	}
	row("all", "all")
	printf "\nWith a key: %d, with zstd: %d, with neither: %d.\n", seals["key"], seals["zstd"],
		seals["neither"]
}
