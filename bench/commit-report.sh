# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Of bench/commit: the page and its plots. Sourced.

# tables DISK [PLOT]
tables() {
	awk -v D="$1" -v plot="${2:-}" -v modes="$modes" -v loads="$loads" \
		-v journals="${configs[*]}" -v flush="${flush_us[$1]:-0}" -v far="${proxy_us:-0}" \
		-v put="${put_us:-0}" -v putbytes="${put_bytes:-0}" \
		-f "$src/bench/table/commit-table.awk" "$results"
}

disk_name() { # DISK
	case $1 in
	plain) echo "This machine's disk" ;;
	rotating) echo "An emulated rotating disk" ;;
	*) echo "This machine's disk, a flush ${1#flush} µs longer" ;;
	esac
}

page() {
	local disk
	cat <<END
# What a commit costs, by where the journal lives

Written by \`bench/commit -r $rounds -k "$disks"\` (as root, from a built tree); run it again to remake this page and its plots.

$(date -u +%Y-%m-%d), Linux $(uname -r), $(nproc) CPUs, $load % of the processors busy before, commit $(git -C "$src" rev-parse --short HEAD 2>/dev/null || "$build/rjserver/rjserver" -V | head -n 1).
$([ -n "$kept" ] && echo "The last of several runs (-c)" || echo It) took $((SECONDS / 60)) minutes.

$(awk -v l="$load" 'BEGIN {if (l >= 15) print "**The machine was busy with other work: only what does not depend on that (the wire) is to be believed.**\n"}')
All volumes are ext3 with 4 KiB blocks ($image_mb MiB under direct-I/O loop devices, journals of $journal_mb MiB, noatime), mounted at the same
time and used in turn, $rounds rounds, each beginning with another one. *Rate* is the median over the rounds; *ratio* the median of the rate to that of
the internal journal in the same round. *CPU µs* is all that the machine did per operation (servers and emulation included), *wire* what passed over
the network in both directions, with all its headers, to the bytes that the kernel wrote to the journal. Each load, described in \`bench/\`:

- *create1, create8*: open, write 4 KiB, fsync, close; one thread, and eight.
- *postmark*: 10,000 files of 500 to 1,000 bytes made, 20,000 transactions, all removed; no fsync, but syncfs after each of the three.
  (On the rotating disk 2,000 and 4,000.)
- *dbench, dbench-s*: 4 clients for three seconds; with -s all is opened with O_SYNC. (On the rotating disk only -s.)

"External" has its journal on a second disk of the same kind. "Such a disk" for the server is the same disk where that is this machine's own, and one
more where it is not. The longer wire is \`bench/delay-proxy\`, for this kernel has no netem: 2 x $delay µs, with the proxy's own work${proxy_us:+ $proxy_us µs} per round trip.
What remains on the volume's own disk at each fsync is one write and a flush: rjournald flushes the volume before the commit block, JBD2 where it sees a reason.
Nbdkit and nbdfuse leave that flush to JBD2, which is faster, and can show another file's bytes after a power cut ([crash-states.md](crash-states.md)).

END
	for disk in $disks; do
		echo "## $(disk_name "$disk")"
		echo
		case $disk in flush*) cat <<'END' ;; esac
Each flush of what was written takes so much longer, as it does on a disk whose cache a power cut empties (a layer between the loop device and the image,
`bench/slow-disk`). The goals were set on a disk on which a volume without a journal was 1.7 to 1.9 times as fast, with one thread, as with the internal
one; it is so here, and not on this machine's own disk.

END
		[ "$disk" != rotating ] || cat <<'END'
7,200 turns per minute, 60 MB/s, a seek 0.8 ms and up to 7 ms by distance (the volume stands for the third of a disk that a file system uses), a write cache
of 16 MB that is written out in the background and at a flush (`bench/disk/rotating.h`). The bytes are in memory: only the times are a disk's.

END
		echo "A 4 KiB write and a flush take ${flush_us[$disk]:-?} µs there (median of 100)."
		echo
		echo "![ratio to the internal journal](benchmarks-$disk.svg)"
		echo
		tables "$disk"
	done
}

report() {
	local disk
	if [ "$out" = - ]; then
		page
		return
	fi
	for disk in $disks; do
		tables "$disk" yes |
			awk -v title="$(disk_name "$disk"): rate, internal journal = 1" \
				-f "$src/bench/table/plot.awk" >"${out%.md}-$disk.svg" ||
			die "cannot write the plots"
	done
	page >"$out" || die "cannot write $out"
}
