# SPDX-License-Identifier: GPL-2.0-or-later
# The names of the functions that C headers declare (prototypes; not static
# inline ones, not pointers), one per line.
function flush_statement(s, name) {
	if (s ~ /(^|[^a-z_])(typedef|static)[^a-z_]/ || s !~ /\(/)
		return
	if (match(s, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
		name = substr(s, RSTART, RLENGTH - 1)
		sub(/[ \t]+$/, "", name)
		print name
	}
}
FNR == 1 {comment = continued = 0}
{
	line = $0
	# comments
	out = ""
	while (length(line)) {
		if (comment) {
			e = index(line, "*/")
			if (!e) { line = ""; break }
			line = substr(line, e + 2)
			comment = 0
		}
		b = index(line, "/*")
		if (!b) { out = out line; line = ""; break }
		out = out substr(line, 1, b - 1) " "
		line = substr(line, b + 2)
		comment = 1
	}
	line = out
	# the preprocessor's lines and what continues them
	if (continued || line ~ /^[ \t]*#/) {
		continued = line ~ /\\$/
		next
	}
	# split into statements; what stands in braces is none
	n = length(line)
	for (i = 1; i <= n; i++) {
		c = substr(line, i, 1)
		if (c == "{") {
			depth++
		} else if (c == "}") {
			# an inline function ends here, without a semicolon
			if (!--depth && statement ~ /\)[ \t]*$/)
				statement = ""
		} else if (!depth && c == ";") {
			flush_statement(statement)
			statement = ""
		} else if (!depth) {
			statement = statement c
		}
	}
	if (!depth)
		statement = statement " "
}
