/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parse a tool's command line by a table of its options. */
#ifndef TOOLS_COMMAND_LINE_H
#define TOOLS_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recover/recover.h"

/* What the tool should do after parsing. */
enum options_verdict {
	OPTIONS_RUN,
	OPTIONS_DONE, /* --help or -V was answered */
	OPTIONS_BAD,  /* one line on stderr says why */
};

enum option_kind {
	OPTION_FLAG, /* sets a bool */
	OPTION_TEXT, /* puts its value into a const char * */
	OPTION_FD,   /* puts its value, a descriptor's number, into an int */
	OPTION_TAKE, /* gives its value to a function */
};

struct tool_option {
	char letter;	  /* 0: it has only a name */
	const char *name; /* without "--"; NULL: it has only a letter */
	enum option_kind kind;
	size_t at; /* in the tool's struct */
	/* TO is the tool's struct; says what is bad with tool_bad() */
	enum options_verdict (*take)(void *to, const char *value);
	/* The commands that have it, 1 << their place in the tool's table; 0: all. */
	uint32_t commands;
};

/* The word after the options' tool, which says what to do, and the words after that. */
struct tool_command {
	const char *word;
	int least, most;     /* words */
	const char *missing; /* what to say of fewer words: "no FILE given" */
};

/* The last members of a struct tool_option: set FIELD of TYPE, by its type. */
#define OPTION_SET(type, field)                                                \
	.kind = _Generic(((type *)0)->field, bool : OPTION_FLAG,               \
		const char * : OPTION_TEXT, int : OPTION_FD),                  \
	.at = offsetof(type, field)

#define TOOL_OPTIONS_MAX 32

struct tool {
	const char *name;
	const char *help; /* what --help prints */
	const char *hint; /* ends the line about a bad command line */
	/* ends with {0}; -V, --version and --help are added */
	const struct tool_option *options;
	const struct tool_command *commands; /* ends with {0}; NULL: the tool has none */
	bool in_order; /* an option after an operand is an operand */
};

/*
 * Set in TO, the tool's struct with its defaults, what the options in ARGV say.
 * After OPTIONS_RUN the operands begin at argv[optind].
 */
enum options_verdict tool_parse(const struct tool *t, int argc, char **argv, void *to);

/*
 * Do the same for a tool with commands, and check that the command has the options that were
 * given, and its number of words. *COMMAND gets the command's place in the table; after
 * OPTIONS_RUN its words begin at argv[optind].
 */
enum options_verdict tool_parse_command(const struct tool *t, int argc, char **argv, void *to,
	int *command);

/* Print "name: FORMAT" and the hint on stderr. Returns OPTIONS_BAD. */
enum options_verdict tool_bad(const struct tool *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Put the value of --verify into OUT. */
enum options_verdict tool_verify(const struct tool *t, const char *value,
	enum rj_verify_level *out);

/* The place of WORD in WORDS, which ends with NULL; -1: it is not there. */
int tool_word(const char *const words[], const char *word);

#endif
