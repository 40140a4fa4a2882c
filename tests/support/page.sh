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
