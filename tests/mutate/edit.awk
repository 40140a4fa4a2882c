# SPDX-License-Identifier: GPL-2.0-or-later
# awk -v name=MUTATION -f edit.awk table FILE: FILE with that edit. It fails unless the
# lines that the edit takes out are in FILE, one after the other, exactly once.
FNR == NR {
	if (/^= /)
		here = $2 == name
	else if (here && /^-/)
		old = old "\n" substr($0, 2)
	else if (here && /^\+/)
		new = new "\n" substr($0, 2)
	next
}
{ text = text "\n" $0 }
END {
	text = text "\n"
	at = index(text, old "\n")
	rest = substr(text, at + 1)
	if (old == "" || !at || index(rest, old "\n")) {
		printf "%s: %s: its lines are there %s\n", name, FILENAME,
			at ? "more than once" : "not at all" >"/dev/stderr"
		exit 1
	}
	text = substr(text, 1, at - 1) new substr(text, at + length(old))
	printf "%s", substr(text, 2)
}
