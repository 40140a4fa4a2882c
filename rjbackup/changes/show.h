/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of files, as text and as JSON: a line each. */
#ifndef RJBACKUP_CHANGES_SHOW_H
#define RJBACKUP_CHANGES_SHOW_H

#include <json-c/json.h>

#include "ext4/files/files.h"
#include "history/history.h"

/* What is counted: names by kind, and bytes. */
struct change_sums {
	uint64_t made, removed, renamed, changed;
	uint64_t made_bytes, removed_bytes, changed_bytes;
};

/* Is PATH at or below BELOW (NULL: all are)? Both begin with a slash; BELOW ends without one. */
bool path_is_below(const char *path, const char *below);
/* Make of TEXT, as a user writes it, a path from the root. *OUT is the caller's to free; NULL: out
 * of memory. */
char *path_of_user(const char *text);
void change_add(struct change_sums *s, const struct rj_file_change *c);
/* Print C as a line: "+", "-", "R" or "M", the path, and what differs. */
void change_print(const struct rj_file_change *c);
struct json_object *change_json(const struct rj_file_change *c);
void sums_print(const struct change_sums *s);
void sums_add_json(const struct change_sums *s, struct json_object *top);
/* PATH with control characters and backslashes as \ooo, on stdout. */
void path_print(const char *path);
/* Add PATH as KEY; of one that is not UTF-8 each other byte as \ooo, and KEY_escaped is true. */
void path_add_json(struct json_object *o, const char *key, const char *path);

#endif
