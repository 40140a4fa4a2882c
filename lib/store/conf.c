// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse rj.conf, and choose the settings for a URL. libinih is not used: it cuts section
 * names at 49 bytes and lines at 199 (a session token is longer), and leaves what it
 * read in buffers that cannot be wiped.
 */
#include "store/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>

#include "store/secret-file.h"
#include "store/url.h"
#include "text/quantity.h"
#include "util/environ.h"
#include "util/log.h"

#define RENEW_NS 1000000000LL
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
	SLOT_DISK_ENERGY,
	SLOT_LINK_ENERGY,
	SLOT_RETAIN,
	SLOT_TRIM_INTERVAL,
	SLOT_SHIP_EARLY,
	SLOT_FLOOR,
	SLOTS,
};

enum kind {
	KIND_TEXT,
	KIND_PATH,	  /* absolute */
	KIND_SECRET,	  /* text that is never shown */
	KIND_SECRET_FILE, /* the first line of that file */
	KIND_STYLE,
	KIND_YES_NO,
	KIND_SECONDS,
	KIND_PREFER,
	KIND_ENERGY,
	KIND_TIME,
	KIND_SIZE,
	KIND_URL,
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
	{"disk_energy", SLOT_DISK_ENERGY, KIND_ENERGY},
	{"link_energy", SLOT_LINK_ENERGY, KIND_ENERGY},
	{"retain", SLOT_RETAIN, KIND_TIME},
	{"trim_interval", SLOT_TRIM_INTERVAL, KIND_TIME},
	{"ship_early", SLOT_SHIP_EARLY, KIND_SIZE},
	{"floor", SLOT_FLOOR, KIND_URL},
};

/* The value of each slot that has the last word so far. */
struct words {
	char url[FORM_BYTES]; /* see one_form() */
	bool named; /* a section names the URL's host */
	struct rj_conf_local *local; /* NULL: not wanted */
	struct word {
		const struct key *key;
		char *value;
		size_t rank; /* length of the section's name */
		bool any_host; /* the section names no host */
		uint64_t number;
	} word[SLOTS];
};

/* Where in which text we are. */
struct place {
	const char *file;
	unsigned line;
	bool holds; /* the section is about our URL */
	bool in_section;
	bool local;    /* the section is [local] */
	bool any_host; /* the section names no host: [*], [dav] */
	size_t rank;
};

static int bad(const struct place *p, struct rj_error *err, const char *what)
{
	return rj_fail(
		err, RJ_E_INVAL, "%s: line %u: %s", p->file, p->line, what);
}

/* Names a key that is none of ours, unless it may be a secret that holds '='. */
static int no_such_key(
	const struct place *p, const char *name, struct rj_error *err)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
	bool named = len && !name[len] && len < 24;

	return rj_fail(err, RJ_E_INVAL,
		"%s: line %u: no such key%s%s; rj.conf(5) lists them", p->file,
		p->line, named ? ": " : "", named ? name : "");
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

/* Is URL's host (at that port) one that section NAME names? Both in one form.
 * *ANY: the section names none. */
static bool names_host(const char *name, const char *url, bool *any)
{
	const char *sep = strstr(name, "://"), *end;
	char host[FORM_BYTES];

	*any = !sep;
	if (!sep || !strcmp(sep, ":///")) /* file:///... has none */
		return false;
	end = strchr(sep + 3, '/');
	snprintf(host, sizeof(host), "%.*s",
		(int)(end ? end - name : (long)strlen(name)), name);
	return holds(host, url);
}

bool rj_conf_section_covers(const char *name, const char *url)
{
	char a[FORM_BYTES], b[FORM_BYTES];

	one_form(name, false, a);
	one_form(url, true, b);
	return holds(a, b);
}

/* Seconds with up to three decimals, as milliseconds; up to a day. */
static bool parse_seconds(const char *s, uint64_t *ms)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)*s))
		return false;
	v = strtod(s, &end);
	if (*end || !(v >= 0.001 && v <= 86400))
		return false;
	*ms = (uint64_t)(v * 1000 + 0.5);
	return true;
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
	const struct key *key, const char *value, uint64_t *number)
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
	case KIND_ENERGY:
		return rj_energy_parse(value, &(struct rj_energy){0})
			       ? NULL
			       : "not words such as wakeup=90J awake=4W idle=10m commit=0.05J mib=0.02J";
	case KIND_TIME:
		return rj_parse_time(value, number)
			       ? NULL
			       : "not a time such as 3600, 90m, 24h or 7d";
	case KIND_SIZE:
		return rj_parse_size(value, number)
			       ? NULL
			       : "not a size such as 65536, 256k or 1M";
	case KIND_URL:
		return strstr(value, "://") ? NULL : "not a URL";
	}
	return "no such key";
}

static bool parse_front(const char *word, enum rj_conf_front *out)
{
	static const char *const fronts[] = {
		[RJ_FRONT_FUSE] = "fuse",
		[RJ_FRONT_UBLK] = "ublk",
		[RJ_FRONT_AUTO] = "auto",
	};
	unsigned i;

	for (i = 0; i < sizeof(fronts) / sizeof(*fronts); i++)
		if (!strcmp(word, fronts[i])) {
			*out = (enum rj_conf_front)i;
			return true;
		}
	return false;
}

static int set_local(struct words *w, const struct place *p, const char *name,
	const char *value, struct rj_error *err)
{
	struct rj_conf_local none = {0}, *to = w->local ? w->local : &none;
	char **out = !strcmp(name, "fallback_dirs") ? &to->fallback_dirs
		     : !strcmp(name, "file_dirs")   ? &to->file_dirs
		     : !strcmp(name, "floor_dir")   ? &to->floor_dir
		     : !strcmp(name, "drill_dir")   ? &to->drill_dir
						    : NULL;
	bool dirs = out == &to->fallback_dirs || out == &to->file_dirs;
	const char *s = value;

	if (!strcmp(name, "front"))
		return parse_front(value, &to->front)
			       ? 0
			       : bad(p, err, "front is fuse, ublk or auto");
	if (!strcmp(name, "drill_max_age"))
		return rj_parse_time(value, &to->drill_max_age_s) && to->drill_max_age_s
			       ? 0
			       : bad(p, err, "not a time such as 8d");
	if (!out)
		return no_such_key(p, name, err);
	while (dirs && *s == '/')
		for (s += strcspn(s, " \t"); *s == ' ' || *s == '\t';)
			s++;
	if (!*value || (dirs ? *s : *s != '/'))
		return bad(p, err,
			dirs ? "not absolute paths, with blanks between them"
			     : "not an absolute path");
	if (!w->local)
		return 0;
	free(*out);
	*out = strdup(value);
	return *out ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

static int set_word(struct words *w, const struct place *p, const char *name,
	const char *value, struct rj_error *err)
{
	const struct key *key = NULL;
	uint64_t number;
	struct word *word;
	const char *wrong;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(name, keys[i].name))
			key = &keys[i];
	}
	if (!key)
		return no_such_key(p, name, err);
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
		.any_host = p->any_host,
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

/* NAME in its one form. */
static bool is_section(const char *name)
{
	size_t scheme = strcspn(name, ":");

	if (!strcmp(name, "*") || !strcmp(name, "local"))
		return true;
	return rj_url_default_port(name, scheme) ||
	       (scheme == 4 && !strncmp(name, "file", 4));
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
				"a section is [*], [the beginning of a URL] or [local]");
		line[len - 1] = '\0';
		p->in_section = true;
		one_form(line + 1, false, name);
		if (!is_section(name))
			return rj_fail(err, RJ_E_INVAL,
				"%s: line %u: no such section: %.*s; rj.conf(5) lists them",
				p->file, p->line, (int)strcspn(name, ":"),
				name);
		p->rank = strlen(name);
		p->local = !strcmp(name, "local");
		p->holds = holds(name, w->url);
		w->named |= names_host(name, w->url, &p->any_host);
		return 0;
	}
	equals = strchr(line, '=');
	if (!equals)
		return bad(p, err, "neither a [section] nor key = value");
	if (!p->in_section)
		return bad(p, err,
			"before the first section; begin with [*] or [URL]");
	*equals = '\0';
	return (p->local ? set_local : set_word)(
		w, p, trim(line), trim(equals + 1), err);
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

/* Who made the volume chose its URL: a secret that is for any host goes only to
 * hosts that we know. */
static bool withhold(struct words *w)
{
	static const enum slot secrets[] = {
		SLOT_PASSWORD, SLOT_TOKEN, SLOT_SESSION_TOKEN};
	bool any = false;
	struct word *word;
	size_t i;

	for (i = 0; !w->named && i < sizeof(secrets) / sizeof(secrets[0]); i++) {
		word = &w->word[secrets[i]];
		if (!word->key || !word->any_host)
			continue;
		rj_secret_free(word->value);
		*word = (struct word){0};
		any = true;
	}
	return any;
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
		[SLOT_FLOOR] = &c->floor,
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
	if (w->word[SLOT_DISK_ENERGY].value)
		rj_energy_parse(w->word[SLOT_DISK_ENERGY].value, &c->disk_energy);
	if (w->word[SLOT_LINK_ENERGY].value)
		rj_energy_parse(w->word[SLOT_LINK_ENERGY].value, &c->link_energy);
	c->retain_s = w->word[SLOT_RETAIN].number;
	c->trim_interval_s = w->word[SLOT_TRIM_INTERVAL].number;
	c->ship_early_bytes = w->word[SLOT_SHIP_EARLY].number;
}

int rj_conf_fault(int rc, struct rj_error *err)
{
	bool settings = rc && rc != -RJ_E_NOMEM && (!err || !err->cause);

	return settings ? rj_fail_cause(rc, RJ_CAUSE_SETTINGS, err) : rc;
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
	c->withheld = withhold(&w);
	for (i = 0; !rc && i < SLOTS; i++)
		rc = read_secret(&w.word[i], err);
	if (!rc) {
		fill(c, &w);
		c->url = strdup(url);
		if (!c->url)
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	for (i = 0; i < SLOTS; i++)
		rj_secret_free(w.word[i].value);
	/* libcurl and the TLS library will have copies of it, too */
	if (c->password || c->token || c->session_token || c->proxy || c->clientkey)
		prctl(PR_SET_DUMPABLE, 0);
	if (rc) {
		rj_conf_release(c);
		return rj_conf_fault(rc, err);
	}
	*out = c;
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* For a connection: all else is looked at once. */
static bool same(const struct rj_conf *a, const struct rj_conf *b)
{
	return same_text(a->user, b->user) &&
	       same_text(a->password, b->password) &&
	       same_text(a->token, b->token) &&
	       same_text(a->session_token, b->session_token) &&
	       same_text(a->ca, b->ca) && same_text(a->cert, b->cert) &&
	       same_text(a->clientkey, b->clientkey) &&
	       same_text(a->known_hosts, b->known_hosts) &&
	       same_text(a->proxy, b->proxy) && a->insecure == b->insecure;
}

bool rj_conf_renew(struct rj_conf **c, int64_t *looked_ns)
{
	int64_t now = rj_monotonic_ns();
	struct rj_conf *new = NULL;
	struct rj_error err;

	if (!(*c)->url || (*looked_ns && now - *looked_ns < RENEW_NS))
		return false;
	*looked_ns = now;
	if (rj_conf_load((*c)->url, &new, &err)) {
		rj_log(RJ_LOG_WARNING, "%s", err.msg);
		return false;
	}
	if (same(*c, new)) {
		rj_conf_release(new);
		return false;
	}
	rj_log(RJ_LOG_NOTICE, "%s: rj.conf says something new for it",
		new->url);
	rj_conf_release(*c);
	*c = new;
	return true;
}

int rj_conf_local_load(struct rj_conf_local *out, struct rj_error *err)
{
	struct rj_conf_local local = {0};
	struct words w = {.local = &local};
	unsigned i;
	int rc;

	rc = read_file(&w, err);
	if (!rc)
		rc = read_environment(&w, err);
	if (!local.fallback_dirs)
		local.fallback_dirs = strdup(RJ_FALLBACK_DIRS);
	if (!local.floor_dir)
		local.floor_dir = strdup(RJ_FLOOR_DIR);
	if (!local.drill_dir)
		local.drill_dir = strdup(RJ_DRILL_DIR);
	if (!local.drill_max_age_s)
		local.drill_max_age_s = RJ_DRILL_MAX_AGE;
	if (!rc && (!local.fallback_dirs || !local.floor_dir || !local.drill_dir))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (i = 0; i < SLOTS; i++) /* of [*] */
		rj_secret_free(w.word[i].value);
	if (rc)
		rj_conf_local_free(&local);
	*out = local;
	return rj_conf_fault(rc, err);
}

void rj_conf_local_free(struct rj_conf_local *c)
{
	free(c->fallback_dirs);
	free(c->file_dirs);
	free(c->floor_dir);
	free(c->drill_dir);
	c->fallback_dirs = c->file_dirs = c->floor_dir = c->drill_dir = NULL;
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
	rj_secret_free(c->floor);
	free(c->url);
	free(c);
}
