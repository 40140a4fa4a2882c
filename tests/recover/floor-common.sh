# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by the tests of the floor: $img.crash is the volume after the crash, $V a copy.

# refused NAME REGEX: neither recovered nor served, for that reason; nothing changed
refused() {
	cp --sparse=always "$img.crash" "$V"
	status 4 "$1: refused" "$RJRECOVER" -p "$V"
	like "$1: why" "$OUT" "$2"
	status 4 "$1: also with -n" "$RJRECOVER" -n "$V"
	status 1 "$1: not served" "$RJOURNALD" -q "$V"
	like "$1: why" "$OUT" "$2"
	check "$1: nothing is changed" cmp "$img.crash" "$V"
}
