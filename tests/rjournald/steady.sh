# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced after daemon.sh: somebody who writes to the volume at $mnt all the time,
# and remembers what was acknowledged.

# write_on PREFIX [KEEP]: a file after the other, each fsynced, their sums noted,
# until told; of them the last KEEP stay (all, without it)
write_on() {
	local i keep=${2:-0}
	for ((i = 0; ; i++)); do
		[ -e "$T_DIR/enough" ] && break
		head -c $((RANDOM % 20000 + 1)) /dev/urandom >"$mnt/$1.$i" &&
			sync "$mnt/$1.$i" || { echo failed >"$T_DIR/failed"; break; }
		(cd "$mnt" && sha256sum "$1.$i") >>"$T_DIR/sums"
		((keep && i > keep)) && rm -f "$mnt/$1.$((i - keep))"
	done
}
begin_writing() { # PREFIX [KEEP]
	rm -f "$T_DIR"/{enough,failed}
	: >"$T_DIR/sums"
	write_on "$@" & writer=$!
}
end_writing() { touch "$T_DIR/enough"; wait "$writer"; [ ! -e "$T_DIR/failed" ]; }
# more N: N more files are acknowledged
more() {
	local n=$(($(wc -l <"$T_DIR/sums") + $1))
	wait_for 60 eval "[ -e '$T_DIR/failed' ] || enough_lines $n"
	[ ! -e "$T_DIR/failed" ]
}
enough_lines() { [ "$(wc -l 2>/dev/null <"$T_DIR/sums")" -ge "$1" ]; }
