# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests that type what a page says.

# task_commands PAGE NAME: the commands between "task NAME" and "end", without
# their prompts
task_commands() {
	awk -v name="$2" '
	$1 == ".\\\"" && $2 == "task" { on = $3 == name; next }
	$1 == ".\\\"" && $2 == "end" { on = 0 }
	on && !/^\.(EX|EE|PP)$/' "$1" |
		sed -E "s/^(# |  )//; s/\\\\-/-/g; s/\\\\e\$/\\\\/; s/\\\\\(aq/'/g"
}

# page_examples PAGE: the commands of its section EXAMPLES, without their prompts. Where a line has
# the prompt "# ", the lines without one are what the commands print, or no commands.
page_examples() {
	awk '/^\.SH/ { on = /EXAMPLE/; next }
		/^\.(nf|EX)/ { in_nf = 1; next }
		/^\.(fi|EE)/ { in_nf = 0 }
		on && in_nf && !/^\./' "$1" |
		sed -E "s/\\\\-/-/g; s/\\\\\(aq/'/g; s/\\\\\(dq/\"/g" >"$T_DIR/examples"
	if grep -q '^# ' "$T_DIR/examples"; then
		sed -n 's/^# //p' "$T_DIR/examples"
	else
		cat "$T_DIR/examples"
	fi
}
