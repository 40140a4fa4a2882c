/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the tools' JSON, and its output. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static inline void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static inline void add_i64(struct json_object *o, const char *key, int64_t v)
{
	json_object_object_add(o, key, json_object_new_int64(v));
}

static inline void add_bool(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

static inline void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

/* Print TOP on stdout, and free it. FORM: JSON_C_TO_STRING_PRETTY, or _PLAIN on one line. */
static inline void json_show(struct json_object *top, int form)
{
	puts(json_object_to_json_string_ext(top, form | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

/* With --json a tool that failed prints this, too: KEY (NULL: none) names what it was about. */
static inline void json_show_error(const char *key, const char *name, const char *message)
{
	struct json_object *top = json_object_new_object();

	if (key)
		add_text(top, key, name);
	add_text(top, "error", message);
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

#endif
