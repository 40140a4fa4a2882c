// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests to an S3 store: URL, settings, and what an error answer means. */
#include "store/curl/s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "store/conf.h"
#include "store/curl/xml.h"

const char *const rj_s3_plain_headers[] = {RJ_S3_UNSIGNED, NULL};

struct error_xml {
	char code[64], message[RJ_HTTP_TEXT];
};

static void copy_printable(char *out, size_t size, const char *text)
{
	size_t i;

	for (i = 0; i < size - 1 && text[i]; i++)
		out[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
	out[i] = '\0';
}

static int on_error_end(void *arg, const char *name, const char *text)
{
	struct error_xml *x = arg;

	if (!strcmp(name, "Code") && !x->code[0])
		copy_printable(x->code, sizeof(x->code), text);
	else if (!strcmp(name, "Message") && !x->message[0])
		copy_printable(x->message, sizeof(x->message), text);
	return 0;
}

void rj_s3_read_error(const struct rj_http_call *c, struct rj_s3_said *said)
{
	struct error_xml x = {"", ""};
	const struct rj_xml handlers = {.end = on_error_end, .arg = &x};
	size_t len = strlen(c->error);

	/* it may have been cut: what came before counts */
	rj_xml_parse("", c->error, len, &handlers, NULL);
	snprintf(said->code, sizeof(said->code), "%s", x.code);
	if (x.code[0])
		snprintf(said->text, sizeof(said->text), "%s%s%.*s", x.code,
			x.message[0] ? ": " : "",
			(int)(sizeof(said->text) - sizeof(x.code) - 3),
			x.message);
	else
		snprintf(said->text, sizeof(said->text), "%s", c->text);
}

static const struct meaning {
	const char *said;
	enum rj_code code;
	const char *words;
	enum rj_cause cause;
} meanings[] = {
	{"NoSuchBucket", RJ_E_INVAL, "there is no bucket of that name",
		RJ_CAUSE_NOTFOUND},
	{"InvalidBucketName", RJ_E_INVAL, "there is no bucket of that name",
		RJ_CAUSE_NOTFOUND},
	{"PermanentRedirect", RJ_E_INVAL,
		"the bucket is elsewhere: host or region is wrong",
		RJ_CAUSE_REDIRECT},
	{"AuthorizationHeaderMalformed", RJ_E_INVAL,
		"it wants another region (rj.conf: region)", RJ_CAUSE_SETTINGS},
	{"ExpiredToken", RJ_E_DENIED,
		"the store refuses us: the session token has expired",
		RJ_CAUSE_TOKEN},
	{"InvalidToken", RJ_E_DENIED,
		"the store refuses us: the session token is not valid",
		RJ_CAUSE_TOKEN},
	{"EntityTooLarge", RJ_E_INVAL,
		"the store does not take an object that large",
		RJ_CAUSE_RIGHTS},
	{"QuotaExceeded", RJ_E_NOSPACE, "the store is full", RJ_CAUSE_CODE},
	{"NotImplemented", RJ_E_UNSUPPORTED,
		"the store does not know what a journal needs", RJ_CAUSE_CODE},
	{"RequestTimeTooSkewed", RJ_E_DENIED,
		"its clock and ours differ too much", RJ_CAUSE_CLOCK},
	/* another attempt may cure these */
	{"RequestTimeout", RJ_E_UNREACHABLE, "the store cannot do it now",
		RJ_CAUSE_CODE},
	{"SlowDown", RJ_E_UNREACHABLE, "the store cannot do it now",
		RJ_CAUSE_CODE},
	{"OperationAborted", RJ_E_UNREACHABLE, "the store cannot do it now",
		RJ_CAUSE_CODE},
	{"ConditionalRequestConflict", RJ_E_UNREACHABLE,
		"the store cannot do it now", RJ_CAUSE_CODE},
	/* of a put: the object of that name was deleted at the same time */
	{"NoSuchKey", RJ_E_UNREACHABLE, "the store cannot do it now",
		RJ_CAUSE_CODE},
};

static bool means(const char *said, const char *code, const char *verb)
{
	return !strcmp(code, said) &&
	       (strcmp(said, "NoSuchKey") != 0 || !strcmp(verb, "put"));
}

int rj_s3_fail(struct rj_s3 *s, const struct rj_http_call *c, const char *verb,
	const char *key, struct rj_error *err)
{
	char doing[RJ_KEY_TEXT + 16];
	struct rj_s3_said said;
	size_t i;

	rj_s3_read_error(c, &said);
	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (means(meanings[i].said, said.code, verb))
			return rj_fail_cause(
				rj_fail(err, meanings[i].code,
					"%s: %s %s: %s (status %d: %s)",
					s->base.url, verb, key,
					meanings[i].words, c->status,
					said.text),
				meanings[i].cause, err);
	}
	snprintf(doing, sizeof(doing), "%s %s", verb, key);
	return rj_http_fail_status(rj_http_peer_of(s->http), c, doing, said.text, err);
}

int rj_s3_take_conf(struct rj_s3 *s, struct rj_conf *conf)
{
	char *header = NULL;

	if (conf == s->conf)
		return 0;
	if (conf->session_token &&
		asprintf(&header, "x-amz-security-token: %s",
			conf->session_token) < 0)
		return -RJ_E_NOMEM;
	rj_conf_release(s->conf);
	s->conf = rj_conf_ref(conf);
	rj_secret_free(s->token_header);
	s->token_header = header;
	return 0;
}

int rj_s3_perform(
	struct rj_s3 *s, struct rj_http_call *call, struct rj_error *err)
{
	int rc = rj_http_renew(s->http, err);
	unsigned i = 0;

	if (!rc && rj_s3_take_conf(s, rj_http_conf(s->http)))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (rc)
		return rc;
	call->url = (const char *)s->url.data;
	while (call->extra[i])
		i++;
	call->extra[i] = s->token_header;
	rc = rj_http_perform(s->http, call, err);
	if (call->date_s)
		s->base.clock_s = call->date_s;
	return rc;
}

int rj_s3_set_url(struct rj_s3 *s, const char *text, struct rj_error *err)
{
	s->url.len = s->root;
	return rj_buf_printf(&s->url, "%s", text)
		       ? rj_fail(err, RJ_E_NOMEM, "%s: out of memory",
				 s->base.url)
		       : 0;
}
