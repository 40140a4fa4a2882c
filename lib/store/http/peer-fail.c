// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/peer-fail.h"

#include <errno.h>
#include <string.h>

int rj_peer_fail_name(
	const char *name, const char *peer, const char *what, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: cannot reach the %s: could not resolve the name of the %s", name, peer, what);
}

/* What the operating system said about a connection that failed. */
static const char *why_no_connection(int sys_errno)
{
	switch (sys_errno) {
	case ECONNREFUSED:
		return "connection refused";
	case EHOSTUNREACH:
		return "no route to the host";
	case ENETUNREACH:
		return "network is unreachable";
	case ECONNRESET:
		return "connection reset";
	case ETIMEDOUT:
		return "timed out";
	case 0:
		return "no connection";
	default:
		return strerror(sys_errno);
	}
}

int rj_peer_fail_connect(
	const char *name, const char *peer, int sys_errno, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE, "%s: cannot reach the %s: %s", name, peer,
		why_no_connection(sys_errno));
}

int rj_peer_fail_connect_time(const char *name, const char *peer,
	const struct rj_store_opts *opts, struct rj_error *err)
{
	int connect = opts->connect_timeout_ms, request = opts->request_timeout_ms;

	return rj_fail(err, RJ_E_UNREACHABLE, "%s: cannot reach the %s: timed out after %d ms",
		name, peer, connect < request ? connect : request);
}

int rj_peer_fail_time(const char *name, const char *peer,
	const struct rj_store_opts *opts, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE, "%s: no answer from the %s: timed out after %d ms",
		name, peer, opts->request_timeout_ms);
}

int rj_peer_fail_given_up(const char *name, const char *peer, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE, "%s: the request to the %s was given up", name,
		peer);
}

/* A TLS library's words for a certificate, ours or the peer's; ELSE: none. */
static enum rj_cause cause_of_tls(const char *detail, enum rj_cause other)
{
	if (strstr(detail, "expired"))
		return RJ_CAUSE_EXPIRED;
	return strstr(detail, "certificate") ? RJ_CAUSE_CERTIFICATE : other;
}

static const char *identity_hint(const char *detail)
{
	if (strstr(detail, "expired"))
		return "renew the certificate of the server";
	if (strstr(detail, "not yet valid"))
		return "is the clock right, here and where it was made?";
	return "rj.conf: ca, known_hosts";
}

int rj_peer_fail_identity(
	const char *name, const char *peer, const char *detail, struct rj_error *err)
{
	return rj_fail_cause(
		rj_fail(err, RJ_E_DENIED, "%s: the %s is not who it should be: %s (%s)", name,
			peer, detail, identity_hint(detail)),
		cause_of_tls(detail, RJ_CAUSE_CERTIFICATE), err);
}

int rj_peer_fail_certificate_file(const char *name, const char *detail, struct rj_error *err)
{
	return rj_fail_cause(rj_fail(err, RJ_E_INVAL,
				     "%s: a certificate or key of rj.conf cannot be used: %s",
				     name, detail),
		RJ_CAUSE_SETTINGS, err);
}

/* NAME's scheme with TLS if it is one without, or the other way round, into OUT; "":
 * there is no such pair. */
static const char *other_scheme(const char *name, char out[16])
{
	static const char *const pairs[][2] = {
		{"rj://", "rjs://"},
		{"dav://", "davs://"},
		{"s3+http://", "s3+https://"},
		{"ftp://", "ftps://"},
		{"imap://", "imaps://"},
	};
	size_t i, k;

	out[0] = '\0';
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		for (k = 0; k < 2; k++)
			if (!strncmp(name, pairs[i][k], strlen(pairs[i][k])))
				strcpy(out, pairs[i][!k]);
	return out;
}

/* What OpenSSL and GnuTLS say of bytes that are no TLS. */
static bool no_tls_there(const char *detail)
{
	static const char *const said[] = {"wrong version number",
		"packet length too long", "record layer failure",
		"unexpected TLS packet"};
	size_t i;

	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (strstr(detail, said[i]))
			return true;
	return false;
}

int rj_peer_fail_tls(
	const char *name, const char *peer, const char *detail, struct rj_error *err)
{
	char other[16];

	if (no_tls_there(detail) && *other_scheme(name, other))
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: what answers there does not speak TLS; without it, the URL begins with %s",
			name, other);
	return rj_fail_cause(rj_fail(err, RJ_E_UNREACHABLE,
				     "%s: no TLS connection to the %s: %s", name, peer, detail),
		cause_of_tls(detail, RJ_CAUSE_CODE), err);
}

int rj_peer_fail_lost(
	const char *name, const char *peer, const char *detail, struct rj_error *err)
{
	return rj_fail_cause(
		rj_fail(err, RJ_E_UNREACHABLE, "%s: lost the connection to the %s: %s", name,
			peer, strstr(detail, "reset") ? "connection reset" : detail),
		cause_of_tls(detail, RJ_CAUSE_CODE), err);
}

int rj_peer_fail_silent(
	bool fresh, const char *name, const char *peer, struct rj_error *err)
{
	char other[16];

	other_scheme(name, other);
	if (!fresh || !strstr(other, "s://"))
		other[0] = '\0';
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: the %s closed the connection without an answer%s%s%s",
		name, peer, other[0] ? " (with TLS, the URL begins with " : "",
		other, other[0] ? ")" : "");
}
