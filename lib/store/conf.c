// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A reader of our own and not libinih: that cuts section names at 49 bytes and
 * lines at 199 (a session token is longer), and leaves what it read in buffers
 * that nobody can wipe.
 */
#include "store/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>

#include "store/conf-file.h"
#include "store/url.h"

#define FORM_BYTES 1024 /* longer than any URL, with a port */
#define DEFAULT_FILE "/etc/rjprogs/rj.conf"

enum slot {
	SLOT_USER,
	SLOT_PASSWORD,
	SLOT_TOKEN,
	SLOT_SESSION_TOKEN,
	SLOT_REGION,
	SLOT_CA,
	SLOT_CERT,
	SLOT_CLIENTKEY,
	SLOT_KNOWN_HOSTS,
	SLOT_PROXY,
	SLOT_KEYFILE,
	SLOT_STYLE,
	SLOT_INSECURE,
	SLOT_DURABLE,
	SLOT_COMPRESS,
	SLOT_CONNECT_TIMEOUT,
	SLOT_REQUEST_TIMEOUT,
	SLOT_LOSS_TIMEOUT,
	SLOT_PREFER,
	SLOT_RETAIN,
	SLOTS,
};

enum kind {
	KIND_TEXT,
	KIND_PATH,	  /* absolute */
	KIND_SECRET,	  /* text that nobody may see */
	KIND_SECRET_FILE, /* the first line of that file */
	KIND_STYLE,
	KIND_YES_NO,
	KIND_SECONDS,
	KIND_PREFER,
	KIND_TIME, /* seconds, or with m, h, d behind */
};

static const struct key {
	const char *name;
	enum slot slot;
	enum kind kind;
} keys[] = {
	{"user", SLOT_USER, KIND_SECRET},
	{"password", SLOT_PASSWORD, KIND_SECRET},
	{"passwordfile", SLOT_PASSWORD, KIND_SECRET_FILE},
	{"token", SLOT_TOKEN, KIND_SECRET},
	{"tokenfile", SLOT_TOKEN, KIND_SECRET_FILE},
	{"session_token", SLOT_SESSION_TOKEN, KIND_SECRET},
	{"session_tokenfile", SLOT_SESSION_TOKEN, KIND_SECRET_FILE},
	{"region", SLOT_REGION, KIND_TEXT},
	{"ca", SLOT_CA, KIND_PATH},
	{"cert", SLOT_CERT, KIND_PATH},
	{"clientkey", SLOT_CLIENTKEY, KIND_PATH},
	{"known_hosts", SLOT_KNOWN_HOSTS, KIND_PATH},
	{"proxy", SLOT_PROXY, KIND_SECRET},
	{"keyfile", SLOT_KEYFILE, KIND_PATH},
	{"style", SLOT_STYLE, KIND_STYLE},
	{"insecure", SLOT_INSECURE, KIND_YES_NO},
	{"durable", SLOT_DURABLE, KIND_YES_NO},
	{"compress", SLOT_COMPRESS, KIND_YES_NO},
	{"connect_timeout", SLOT_CONNECT_TIMEOUT, KIND_SECONDS},
	{"request_timeout", SLOT_REQUEST_TIMEOUT, KIND_SECONDS},
	{"loss_timeout", SLOT_LOSS_TIMEOUT, KIND_SECONDS},
	{"prefer", SLOT_PREFER, KIND_PREFER},
	{"retain", SLOT_RETAIN, KIND_TIME},
};

/* The value of each slot that has the last word so far. */
struct words {
	char url[FORM_BYTES]; /* see one_form() */
	struct word {
		const struct key *key;
		char *value;
		size_t rank; /* length of the section's name */
		unsigned long long number;
	} word[SLOTS];
};

/* Where in which text we are. */
struct place {
	const char *file;
	unsigned line;
	bool holds; /* the section is about our URL */
	bool in_section;
	size_t rank;
};

static int bad(const struct place *p, struct rj_error *err, const char *what)
{
	return rj_fail(
		err, RJ_E_INVAL, "%s: line %u: %s", p->file, p->line, what);
}

/*
 * TEXT, a URL or the beginning of one, into OUT in the one form that is
 * compared: the scheme in lower case, no slashes at the end, and the port named
 * where a path follows (the beginning "rj://host" is of all its ports) or
 * with ALWAYS. What does not fit is cut off, and then holds for nothing.
 */
static void one_form(const char *text, bool always, char out[FORM_BYTES])
{
	const char *sep = strstr(text, "://"), *host, *end;
	unsigned port = 0;
	size_t scheme = sep ? (size_t)(sep - text) : 0, len = strlen(text), i;

	while (len && text[len - 1] == '/')
		len--;
	if (sep && (size_t)(sep - text) + 3 < len) {
		host = sep + 3;
		end = memchr(host, '/', (size_t)(text + len - host));
		if (end || always)
			port = rj_url_default_port(text, scheme);
		if (!end)
			end = text + len;
		if (port && memrchr(host, ':', (size_t)(end - host)) &&
			end[-1] != ']')
			port = 0;
		if (end == host)
			port = 0;
	}
	if (port)
		snprintf(out, FORM_BYTES, "%.*s:%u%.*s", (int)(end - text),
			text, port, (int)(text + len - end), end);
	else
		snprintf(out, FORM_BYTES, "%.*s", (int)len, text);
	for (i = 0; i < scheme && i < FORM_BYTES - 1; i++)
		out[i] = (char)tolower((unsigned char)out[i]);
}

/* The same with both in that form. */
static bool holds(const char *name, const char *url)
{
	size_t len = strlen(name);

	if (!strcmp(name, "*"))
		return true;
	return len && len < FORM_BYTES - 1 && !strncmp(name, url, len) &&
	       (url[len] == '\0' || url[len] == '/' || url[len] == ':');
}

bool rj_conf_section_holds(const char *name, const char *url)
{
	char a[FORM_BYTES], b[FORM_BYTES];

	one_form(name, false, a);
	one_form(url, true, b);
	return holds(a, b);
}

/* Seconds with up to three decimals, as milliseconds; up to a day. */
static bool parse_seconds(const char *s, unsigned long long *ms)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)*s))
		return false;
	v = strtod(s, &end);
	if (*end || !(v >= 0.001 && v <= 86400))
		return false;
	*ms = (unsigned long long)(v * 1000 + 0.5);
	return true;
}

static bool parse_time(const char *s, unsigned long long *out)
{
	static const char units[] = "smhd";
	static const unsigned seconds[] = {1, 60, 3600, 86400};
	const char *unit = "s";
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*out = strtoull(s, &end, 10);
	if (*end)
		unit = strchr(units, *end++);
	return !errno && unit && !*end &&
	       !__builtin_mul_overflow(*out,
		       seconds[strchr(units, *unit) - units], out);
}

static const char *const prefers[] = {
	[RJ_PREFER_UNSET] = "",
	[RJ_PREFER_REMOTE] = "remote",
	[RJ_PREFER_LOCAL] = "local",
	[RJ_PREFER_POWER] = "power",
};

const char *rj_prefer_name(enum rj_prefer p)
{
	return prefers[p];
}

enum rj_prefer rj_prefer_parse(const char *word)
{
	enum rj_prefer p = RJ_PREFER_POWER;

	while (p != RJ_PREFER_UNSET && strcmp(word, prefers[p]) != 0)
		p--;
	return p;
}

/* Is VALUE one that KEY may have? Its number, if it is one. */
static const char *judge(
	const struct key *key, const char *value, unsigned long long *number)
{
	*number = 0;
	switch (key->kind) {
	case KIND_TEXT:
	case KIND_SECRET:
		return !*value && key->slot != SLOT_PROXY ? "the value is empty"
							  : NULL;
	case KIND_PATH:
	case KIND_SECRET_FILE:
		return *value == '/' ? NULL : "not an absolute path";
	case KIND_STYLE:
		*number = !strcmp(value, "virtual");
		return *number || !strcmp(value, "path")
			       ? NULL
			       : "style is path or virtual";
	case KIND_YES_NO:
		*number = !strcmp(value, "yes");
		return *number || !strcmp(value, "no") ? NULL
						       : "write yes or no";
	case KIND_SECONDS:
		return parse_seconds(value, number)
			       ? NULL
			       : "not a number of seconds from 0.001 to 86400";
	case KIND_PREFER:
		*number = rj_prefer_parse(value);
		return *number ? NULL : "prefer is remote, local or power";
	case KIND_TIME:
		return parse_time(value, number)
			       ? NULL
			       : "not a time such as 3600, 90m, 24h or 7d";
	}
	return "no such key";
}

static int set_word(struct words *w, const struct place *p, const char *name,
	const char *value, struct rj_error *err)
{
	const struct key *key = NULL;
	unsigned long long number;
	struct word *word;
	const char *wrong;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(name, keys[i].name))
			key = &keys[i];
	}
	if (!key)
		return bad(p, err, "no such key; rj.conf(5) lists them");
	wrong = judge(key, value, &number);
	if (wrong)
		return bad(p, err, wrong);
	word = &w->word[key->slot];
	if (!p->holds || (word->key && p->rank < word->rank))
		return 0;
	rj_secret_free(word->value);
	*word = (struct word){
		.key = key,
		.value = strdup(value),
		.rank = p->rank,
		.number = number,
	};
	if (!word->value)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	return 0;
}

static char *trim(char *s)
{
	size_t len;

	while (*s == ' ' || *s == '\t')
		s++;
	len = strlen(s);
	while (len && strchr(" \t\r", s[len - 1]))
		s[--len] = '\0';
	return s;
}

static int read_line(
	struct words *w, struct place *p, char *line, struct rj_error *err)
{
	char *equals, name[FORM_BYTES];
	size_t len;

	line = trim(line);
	len = strlen(line);
	if (!len || *line == '#' || *line == ';')
		return 0;
	if (*line == '[') {
		if (line[len - 1] != ']' || len < 3)
			return bad(p, err,
				"a section is [*] or [the beginning of a URL]");
		line[len - 1] = '\0';
		p->in_section = true;
		one_form(line + 1, false, name);
		p->rank = strlen(name);
		p->holds = holds(name, w->url);
		return 0;
	}
	equals = strchr(line, '=');
	if (!equals)
		return bad(p, err, "neither a [section] nor key = value");
	if (!p->in_section)
		return bad(p, err,
			"before the first section; begin with [*] or [URL]");
	*equals = '\0';
	return set_word(w, p, trim(line), trim(equals + 1), err);
}

/* TEXT is taken apart in place. */
static int read_text(struct words *w, const char *file, char *text,
	struct rj_error *err)
{
	struct place p = {.file = file};
	char *next;
	int rc = 0;

	for (; !rc && text; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		p.line++;
		rc = read_line(w, &p, text, err);
	}
	return rc;
}

static int read_file(struct words *w, struct rj_error *err)
{
	const char *path = getenv("RJ_CONF");
	size_t len;
	char *text;
	int rc;

	if (!path || !*path)
		path = DEFAULT_FILE;
	rc = rj_secret_file_read(path, &text, err);
	if (rc == -RJ_E_NOTFOUND)
		return 0;
	if (rc)
		return rc;
	len = strlen(text);
	rc = read_text(w, path, text, err);
	rj_secret_wipe_free(text, len);
	return rc;
}

static int read_environment(struct words *w, struct rj_error *err)
{
	const char *given = getenv("RJ_CREDENTIALS");
	size_t len;
	char *text;
	int rc;

	if (!given)
		return 0;
	text = strdup(given);
	if (!text)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	len = strlen(text);
	rc = read_text(w, "$RJ_CREDENTIALS", text, err);
	rj_secret_wipe_free(text, len);
	return rc;
}

/* The first line of the file that WORD names takes its value's place. */
static int read_secret(struct word *word, struct rj_error *err)
{
	size_t len;
	char *text;
	int rc;

	if (!word->key || word->key->kind != KIND_SECRET_FILE)
		return 0;
	rc = rj_secret_file_read(word->value, &text, err);
	if (rc)
		return rj_fail_prefix(err, "%s", word->key->name);
	len = strlen(text);
	text[strcspn(text, "\r\n")] = '\0';
	if (!*text)
		rc = rj_fail(err, RJ_E_INVAL, "%s: %s: its first line is empty",
			word->key->name, word->value);
	rj_secret_free(word->value);
	word->value = rc ? NULL : strdup(text);
	rj_secret_wipe_free(text, len);
	if (!rc && !word->value)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	return rc;
}

static enum rj_conf_tristate tristate(const struct word *w)
{
	return !w->key ? RJ_CONF_UNSET : w->number ? RJ_CONF_YES : RJ_CONF_NO;
}

/* The values pass from W to C. */
static void fill(struct rj_conf *c, struct words *w)
{
	char **const text[SLOTS] = {
		[SLOT_USER] = &c->user,
		[SLOT_PASSWORD] = &c->password,
		[SLOT_TOKEN] = &c->token,
		[SLOT_SESSION_TOKEN] = &c->session_token,
		[SLOT_REGION] = &c->region,
		[SLOT_CA] = &c->ca,
		[SLOT_CERT] = &c->cert,
		[SLOT_CLIENTKEY] = &c->clientkey,
		[SLOT_KNOWN_HOSTS] = &c->known_hosts,
		[SLOT_PROXY] = &c->proxy,
		[SLOT_KEYFILE] = &c->keyfile,
	};
	unsigned i;

	for (i = 0; i < SLOTS; i++) {
		if (text[i]) {
			*text[i] = w->word[i].value;
			w->word[i].value = NULL;
		}
	}
	c->style = w->word[SLOT_STYLE].number ? RJ_STYLE_VIRTUAL
					      : RJ_STYLE_PATH;
	c->insecure = w->word[SLOT_INSECURE].number;
	c->durable = tristate(&w->word[SLOT_DURABLE]);
	c->compress = tristate(&w->word[SLOT_COMPRESS]);
	c->connect_timeout_ms = (int)w->word[SLOT_CONNECT_TIMEOUT].number;
	c->request_timeout_ms = (int)w->word[SLOT_REQUEST_TIMEOUT].number;
	c->loss_timeout_ms = (int)w->word[SLOT_LOSS_TIMEOUT].number;
	c->prefer = (enum rj_prefer)w->word[SLOT_PREFER].number;
	c->retain_s = w->word[SLOT_RETAIN].number;
}

int rj_conf_load(const char *url, struct rj_conf **out, struct rj_error *err)
{
	struct words w = {0};
	struct rj_conf *c = calloc(1, sizeof(*c));
	unsigned i;
	int rc;

	if (!c)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	c->refs = 1;
	one_form(url, true, w.url);
	rc = read_file(&w, err);
	if (!rc)
		rc = read_environment(&w, err);
	for (i = 0; !rc && i < SLOTS; i++)
		rc = read_secret(&w.word[i], err);
	if (!rc)
		fill(c, &w);
	for (i = 0; i < SLOTS; i++)
		rj_secret_free(w.word[i].value);
	/* libcurl and the TLS library will have copies of it, too */
	if (c->password || c->token || c->session_token || c->proxy)
		prctl(PR_SET_DUMPABLE, 0);
	if (rc) {
		rj_conf_release(c);
		return rc;
	}
	*out = c;
	return 0;
}

struct rj_conf *rj_conf_ref(struct rj_conf *c)
{
	if (c)
		__atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
	return c;
}

void rj_conf_release(struct rj_conf *c)
{
	if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
		return;
	rj_secret_free(c->user);
	rj_secret_free(c->password);
	rj_secret_free(c->token);
	rj_secret_free(c->session_token);
	rj_secret_free(c->region);
	rj_secret_free(c->ca);
	rj_secret_free(c->cert);
	rj_secret_free(c->clientkey);
	rj_secret_free(c->known_hosts);
	rj_secret_free(c->proxy);
	rj_secret_free(c->keyfile);
	free(c);
}
