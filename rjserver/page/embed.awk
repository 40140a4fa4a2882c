# SPDX-License-Identifier: GPL-2.0-or-later
# Text files as strings of C: page/page.js becomes page_js.
FNR == 1 {
	if (NR > 1) print ";"
	name = FILENAME
	sub(/.*\//, "", name)
	gsub(/[^a-z]/, "_", name)
	printf "extern const char %s[];\nconst char %s[] =", name, name
}
{
	out = ""
	for (i = 1; i <= length($0); i++) {
		c = substr($0, i, 1)
		if (c == "\\" || c == "\"") out = out "\\"
		out = out c
	}
	printf "\n\t\"%s\\n\"", out
}
END {print ";"}
