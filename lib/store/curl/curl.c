// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/curl/curl.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/conf.h"
#include "store/http/peer-fail.h"

static pthread_once_t global_once = PTHREAD_ONCE_INIT;
static CURLcode global_result;

/* libcurl has copies of passwords, and builds headers of them: all memory that
 * it gives back is wiped. */
static void wiping_free(void *p)
{
	if (!p)
		return;
	explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

static void *wiping_realloc(void *old, size_t size)
{
	size_t had = old ? malloc_usable_size(old) : 0;
	void *p;

	if (had >= size && size)
		return old;
	p = malloc(size);
	if (p && old) {
		memcpy(p, old, had < size ? had : size);
		wiping_free(old);
	}
	return p;
}

static void global_init(void)
{
	global_result = curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc,
		wiping_free, wiping_realloc, strdup, calloc);
}

void rj_sigpipe_block(struct rj_sigpipe *p)
{
	sigset_t pipe, pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	p->pending = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe, &p->old);
}

void rj_sigpipe_restore(const struct rj_sigpipe *p)
{
	static const struct timespec now;
	int saved = errno;
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	if (!p->pending) {
		while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &p->old, NULL);
	errno = saved;
}

CURLcode rj_curl_perform(CURL *e)
{
	struct rj_sigpipe hold;
	CURLcode code;

	rj_sigpipe_block(&hold);
	code = curl_easy_perform(e);
	rj_sigpipe_restore(&hold);
	return code;
}

void rj_curl_cleanup(CURL *e)
{
	struct rj_sigpipe hold;

	if (!e)
		return;
	rj_sigpipe_block(&hold);
	curl_easy_cleanup(e);
	rj_sigpipe_restore(&hold);
}

#if LIBCURL_VERSION_NUM < 0x075500
static long protocol_bits(const char *protocols)
{
	static const struct {
		const char *name;
		long bit;
	} all[] = {
		{"http", CURLPROTO_HTTP},
		{"https", CURLPROTO_HTTPS},
		{"ftp", CURLPROTO_FTP},
		{"ftps", CURLPROTO_FTPS},
		{"sftp", CURLPROTO_SFTP},
		{"imap", CURLPROTO_IMAP},
		{"imaps", CURLPROTO_IMAPS},
	};
	long bits = 0;
	size_t i, len;

	for (; *protocols; protocols += len + (protocols[len] == ',')) {
		len = strcspn(protocols, ",");
		for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			if (strlen(all[i].name) == len &&
				!memcmp(all[i].name, protocols, len))
				bits |= all[i].bit;
		}
	}
	return bits;
}
#endif

static CURLcode set_protocols(CURL *e, const char *protocols)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	return curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, protocols);
#else
	return curl_easy_setopt(
		e, CURLOPT_PROTOCOLS, protocol_bits(protocols));
#endif
}

static CURLcode set_conf(CURL *e, const struct rj_conf *c)
{
	CURLcode code = 0;

	if (c->proxy)
		code = curl_easy_setopt(e, CURLOPT_PROXY, c->proxy);
	if (!code && c->ca)
		code = curl_easy_setopt(e, CURLOPT_CAINFO, c->ca);
	if (!code && c->ca) /* libcurl would add the system's folder, and has no word for none */
		code = curl_easy_setopt(e, CURLOPT_CAPATH, "/dev/null");
	if (!code && c->cert)
		code = curl_easy_setopt(e, CURLOPT_SSLCERT, c->cert);
	if (!code && c->cert && c->clientkey)
		code = curl_easy_setopt(e, CURLOPT_SSLKEY, c->clientkey);
	if (!code && c->insecure) {
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
		curl_easy_setopt(e, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(e, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
	}
	return code;
}

static int ask_give_up(void *arg, curl_off_t a, curl_off_t b, curl_off_t c,
	curl_off_t d)
{
	const _Atomic bool *give_up = arg;

	(void)a, (void)b, (void)c, (void)d;
	return *give_up;
}

static CURLcode set_up(CURL *e, const struct rj_store_opts *opts,
	const char *protocols, char *detail)
{
	CURLcode code;

	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_NOPROGRESS, opts->give_up ? 0L : 1L);
	if (opts->give_up) {
		curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, ask_give_up);
		curl_easy_setopt(
			e, CURLOPT_XFERINFODATA, (void *)opts->give_up);
	}
	curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(
		e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* the certificate is verified for each connection: a resumed session skips that */
	curl_easy_setopt(e, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	curl_easy_setopt(
		e, CURLOPT_CONNECTTIMEOUT_MS, (long)opts->connect_timeout_ms);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)opts->request_timeout_ms);
#if LIBCURL_VERSION_NUM >= 0x075700
	/* else a time limit waits for the name servers, which have their own:
	 * ten seconds and more, for which a commit waits */
	curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
	/* else a CA file that was replaced is not seen for a day */
	curl_easy_setopt(e, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, 64L * 1024);
	curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, detail);
	code = set_protocols(e, protocols);
	return code ? code : set_conf(e, opts->conf);
}

int rj_curl_new(const char *name, const struct rj_store_opts *opts,
	const char *protocols, char *detail, CURL **out, struct rj_error *err)
{
	CURLcode code;
	CURL *e;

	pthread_once(&global_once, global_init);
	if (global_result)
		return rj_fail(err, RJ_E_IO, "%s: cannot start libcurl: %s",
			name, curl_easy_strerror(global_result));
	e = curl_easy_init();
	if (!e)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);
	code = set_up(e, opts, protocols, detail);
	if (!code) {
		*out = e;
		return 0;
	}
	curl_easy_cleanup(e);
	if (code == CURLE_OUT_OF_MEMORY)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);
	return rj_fail(err, RJ_E_INVAL,
		"%s: this machine's libcurl cannot do what is asked for: %s",
		name, curl_easy_strerror(code));
}

static int fail_timeout(CURL *e, const char *name, const char *peer,
	const struct rj_store_opts *opts, struct rj_error *err)
{
	curl_off_t connected = 0;

	curl_easy_getinfo(e, CURLINFO_PRETRANSFER_TIME_T, &connected);
	return connected ? rj_peer_fail_time(name, peer, opts, err)
			 : rj_peer_fail_connect_time(name, peer, opts, err);
}

/* Refused for what one of us is, or is not. 0: none of that. */
static int fail_identity(CURLcode code, const char *name, const char *peer,
	const char *detail, struct rj_error *err)
{
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
		return rj_peer_fail_identity(name, peer, detail, err);
	case CURLE_LOGIN_DENIED:
	case CURLE_REMOTE_ACCESS_DENIED:
		return rj_fail_cause(
			rj_fail(err, RJ_E_DENIED,
				"%s: the %s refuses us: user or password wrong "
				"or missing in rj.conf?",
				name, peer),
			RJ_CAUSE_LOGIN, err);
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CRL_BADFILE:
		return rj_peer_fail_certificate_file(name, detail, err);
	default:
		return 0;
	}
}

int rj_curl_fail(CURL *e, CURLcode code, const char *name, const char *peer,
	const char *detail, const struct rj_store_opts *opts,
	struct rj_error *err)
{
	long sys_errno = 0, connects = 0;
	int rc;

	if (!*detail)
		detail = curl_easy_strerror(code);
	rc = fail_identity(code, name, peer, detail, err);
	if (rc)
		return rc;
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return rj_peer_fail_name(name, peer, "host", err);
	case CURLE_COULDNT_RESOLVE_PROXY:
		return rj_peer_fail_name(name, peer, "proxy", err);
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(e, CURLINFO_OS_ERRNO, &sys_errno);
		return rj_peer_fail_connect(name, peer, (int)sys_errno, err);
	case CURLE_OPERATION_TIMEDOUT:
		return fail_timeout(e, name, peer, opts, err);
	case CURLE_GOT_NOTHING:
		curl_easy_getinfo(e, CURLINFO_NUM_CONNECTS, &connects);
		return rj_peer_fail_silent(connects, name, peer, err);
	case CURLE_PARTIAL_FILE:
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the %s's answer was cut short", name, peer);
	case CURLE_SSL_CONNECT_ERROR:
		return rj_peer_fail_tls(name, peer, detail, err);
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		return rj_peer_fail_lost(name, peer, detail, err);
	case CURLE_ABORTED_BY_CALLBACK:
		return rj_peer_fail_given_up(name, peer, err);
	case CURLE_OUT_OF_MEMORY:
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);
	default:
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: request to the %s failed: %s", name, peer, detail);
	}
}

int rj_curl_new_http(const struct rj_http_peer *p, char *detail, CURL **out,
	struct rj_error *err)
{
	int rc = rj_curl_new(p->name, &p->opts, p->setup.tls ? "https" : "http",
		detail, out, err);

	if (rc || !rj_http_peer_stays_here(p) || !curl_easy_setopt(*out, CURLOPT_PROXY, ""))
		return rc;
	rj_curl_cleanup(*out);
	*out = NULL;
	return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", p->name);
}
