/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the trees of FTP, SFTP and IMAP servers share: one connection through
 * libcurl, which stays open between requests, a second one for lists that are too long for
 * libcurl, and the parser of folder listings in the form of "ls -l". Private to lib/store.
 */
#ifndef RJ_STORE_CURL_TREE_H
#define RJ_STORE_CURL_TREE_H

#include <curl/curl.h>

#include "store/tree/tree.h"
#include "store/url.h"

#define RJ_NET_URL (2 * RJ_URL_BYTES)
#define RJ_NET_PATH                                                            \
	(RJ_URL_BYTES + RJ_TREE_FOLDER + RJ_TREE_NAME + 32) /* on the server */

struct rj_net_kind {
	const char *plain, *tls;	 /* schemes: "ftp", "ftps" */
	unsigned plain_port, tls_port;	 /* where none is given */
	const char *protocols;		 /* for libcurl */
	const char *peer;		 /* in messages: "FTP server" */
	bool starttls;			 /* PLAIN encrypts, once connected */
	bool tagged;			 /* answers are as IMAP's, else as FTP's */
	bool short_poll;		 /* see rj_net_perform() */
	/* Sets more options of a new handle than user and password; NULL: none */
	CURLcode (*set_options)(CURL *e, const struct rj_conf *c);
	const char *box;		 /* the URL's path must name one ("mailbox") */
	const struct rj_tree_ops *ops;
	size_t bytes;			 /* of a tree, which begins with struct rj_net */
};

#define RJ_NET_LINE 65536 /* the longest line of a list */

/* The connection of rj_net_ask(). */
struct rj_net_lines {
	CURL *easy;
	int64_t until_ns; /* of the command under way, monotonic */
	size_t len, at;	  /* bytes in TEXT, and where the next line begins */
	char text[RJ_NET_LINE];
};

/* The head of every such tree's own struct. */
struct rj_net {
	struct rj_tree base;
	const struct rj_net_kind *kind;
	struct rj_url url;
	struct rj_store_opts opts; /* with a reference to its conf */
	CURL *easy;
	CURLM *multi;
	char detail[CURL_ERROR_SIZE];
	char origin[300];	  /* "ftp://host:port/" */
	char root[RJ_URL_BYTES];  /* the path, without slashes at its end */
	uint64_t salt, attempts;  /* make temporary names unique */
	bool failed;		  /* the last request did, perhaps because of rj.conf */
	int64_t looked_ns;	  /* when rj.conf was last read again, monotonic */
	bool fresh;		  /* the next request first closes all connections */
	struct rj_net_lines *lines; /* see rj_net_ask(); NULL: not connected */
	char large[RJ_NET_PATH];  /* the last list that was too long for libcurl */
	char answer[200];	  /* the last line of the last one's answer */
	/* Of the request under way: */
	struct rj_net_call *call;
	size_t sent, start;
	bool too_long, no_memory;
	bool gone; /* libcurl closed a connection that the server had closed */
};

/* One request. All but URL may be left 0. */
struct rj_net_call {
	const char *url;
	const char *custom;		   /* command instead of the usual one */
	const char *quote[4], *after[4];   /* commands before and after it */
	bool nobody;			   /* send only those */
	bool upload;
	const void *body;
	size_t body_len;
	struct rj_buf *out; /* gets what comes (appended); more than MAX bytes is */
	size_t max;	    /* RJ_E_CORRUPT */
	/* Called for each line of the server's replies. May be NULL. */
	void (*line)(void *arg, const char *line, size_t len);
	void *arg;
	/* Filled: */
	int reply; /* last reply code (FTP) */
};

/* Make a handle with all settings of N, for rj_curl_cleanup() also after a failure. */
int rj_net_handle(struct rj_net *n, CURL **out, struct rj_error *err);
void rj_net_fini(struct rj_net *n);
/* For rj_tree_ops: dup; and close, for a tree that has nothing else to free. */
int rj_net_dup(struct rj_tree *t, struct rj_tree **out, struct rj_error *err);
void rj_net_close(struct rj_tree *t);
/* Open a store of KIND at URL, as rj_backend_open; OUT NULL: only check URL. */
int rj_net_open_store(const struct rj_net_kind *kind, const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err);

/*
 * Make one request, in one attempt. *CODE gets libcurl's result; the caller handles the
 * codes that it expects, and passes the others to rj_net_fail(). Only RJ_E_NOMEM and
 * RJ_E_CORRUPT are returned here. On failure call->out is as it was.
 */
int rj_net_perform(struct rj_net *n, struct rj_net_call *call, CURLcode *code,
	struct rj_error *err);
int rj_net_fail(struct rj_net *n, CURLcode code, struct rj_error *err);
/* The same of another handle of N's. */
int rj_net_fail_on(struct rj_net *n, CURL *e, CURLcode code, struct rj_error *err);
/* RJ_E_UNREACHABLE: the connection was lost while DOING something, which may
 * have been done. */
int rj_net_fail_lost(
	struct rj_net *n, const char *doing, struct rj_error *err);

/*
 * libcurl refuses more than 300 KiB of reply lines to one request (8.3.0 and later, and older
 * ones that were mended), and counts IMAP's several times. May CODE be that, and not a
 * connection that was lost? rj_net_ask() tells.
 */
bool rj_net_cut(CURLcode code);
/*
 * Send COMMAND over a connection of its own, which libcurl opens and logs in, and pass the
 * lines of the answer, without their ends, to LINE as they come. The last one gets into
 * n->answer, and not to LINE; an IMAP answer's literals are left out. One attempt within the
 * time limits of the handle. The connection stays open until rj_net_asked().
 */
int rj_net_ask(struct rj_net *n, const char *command,
	void (*line)(void *arg, const char *line, size_t len), void *arg, struct rj_error *err);
/* After a list of BYTES of WHAT: close the connection, unless such a list is often asked for;
 * note in n->large whether it was one for rj_net_ask() at all. */
void rj_net_asked(struct rj_net *n, const char *what, size_t bytes, bool often);
/* Close that connection, if there is one. */
void rj_net_lines_close(struct rj_net *n);

/* Is FOLDER one of an epoch's (mkdir-view.h), or of holds: with objects, and no folders? */
bool rj_net_holds_objects(const char *folder);
/* Write the path of NAME (may be NULL: of FOLDER itself) on the server, or its URL, into
 * OUT, and return OUT. SLASH: the URL ends in one. */
char *rj_net_path(const struct rj_net *n, const char *folder, const char *name,
	char out[RJ_NET_PATH]);
char *rj_net_url(const struct rj_net *n, const char *folder, const char *name,
	bool slash, char out[RJ_NET_URL]);
/* Write a name for an upload that no other upload has into OUT, and return OUT. */
char *rj_net_temporary(struct rj_net *n, const char *name,
	char out[RJ_TREE_NAME + 64]);

/* Call FN for each entry of an "ls -l" listing; other lines are left out. */
int rj_net_parse_list(
	const struct rj_buf *text, rj_tree_list_fn fn, void *arg);
/* Is NAME (may be ".") in such a listing? *FOLDER and *BYTES (may be NULL) get what it is. */
bool rj_net_in_list(const struct rj_buf *text, const char *name, bool *folder,
	uint64_t *bytes);

#endif
