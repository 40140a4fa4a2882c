/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read rj.conf: credentials and options of stores, by URL prefix. man/rj.conf.5 says
 * what each key means.
 *
 *	[s3+https://s3.example.com/logs]
 *	user = AKIA...
 *	passwordfile = /etc/rjprogs/s3.secret
 *	region = eu-central-1
 *
 * The file $RJ_CONF (default /etc/rjprogs/rj.conf) is read, and then the text of
 * $RJ_CREDENTIALS, which has the same form (for containers). A section holds for each
 * URL that begins with its name, up to a "/", a ":" or the URL's end (with or without
 * the scheme's default port, and the scheme in any case); [*] holds for all. Of
 * several sections the longest name counts, key by key.
 * A URL may be a stranger's, out of a superblock: passwords and tokens of a section
 * that names no host are used only for hosts that another section names.
 * [local] is about this host, not about a URL.
 *
 * Secrets: the file, and each file that it names for a secret, must belong to
 * root or to the user of this process and be closed to others (mode 0600). No message
 * repeats a value. Secrets are wiped when they are freed; a process that has read a
 * secret leaves no core dump (PR_SET_DUMPABLE).
 */
#ifndef RJ_STORE_CONF_H
#define RJ_STORE_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "store/energy.h"
#include "store/store.h"
#include "util/error.h"

/* S3: where the bucket's name goes. */
enum rj_conf_style {
	RJ_STYLE_PATH,	  /* https://example.com/bucket/key */
	RJ_STYLE_VIRTUAL, /* https://bucket.example.com/key */
};

enum rj_conf_tristate {
	RJ_CONF_UNSET,
	RJ_CONF_NO,
	RJ_CONF_YES,
};

/* Where the journal goes while both the store and the fallback file can take it; see
 * rjournald/fallback/arbiter.h. */
enum rj_prefer {
	RJ_PREFER_UNSET, /* the store, and nothing is looked at */
	RJ_PREFER_REMOTE,
	RJ_PREFER_LOCAL,
	RJ_PREFER_POWER,
};

/* The settings for one URL. A string that is not set is NULL; strings belong to the
 * struct. All are read-only once loaded. */
struct rj_conf {
	char *user;	     /* user; an S3 access key */
	char *password;	     /* password, passwordfile; an S3 secret key */
	char *token;	     /* token, tokenfile: HTTP "Bearer" */
	char *session_token; /* session_token, session_tokenfile: of S3 */
	char *region;	     /* region: of S3; NULL: us-east-1 */
	char *ca;	     /* ca: PEM file; instead of the system's */
	char *cert;	     /* cert: our certificate, PEM file */
	char *clientkey;     /* clientkey: its key, or SSH's private key */
	char *known_hosts;   /* known_hosts: of SSH; NULL: ~/.ssh/known_hosts */
	char *proxy;	     /* proxy: URL; "": none. NULL: the environment's */
	char *keyfile;	     /* keyfile: seals the log. A path, not a secret */
	enum rj_conf_style style; /* style=path|virtual */
	/* insecure=yes: the server's certificate or host key is not checked,
	 * and passwords may go over a wire that is not encrypted. */
	bool insecure;
	/* durable=yes|no: what this store has acknowledged survives its machine's
	 * power cut, or does not, whatever rj_store_caps says. */
	enum rj_conf_tristate durable;
	enum rj_conf_tristate compress; /* compress=yes|no: zstd before sealing */
	int connect_timeout_ms; /* connect_timeout=SECONDS; 0: not set */
	int request_timeout_ms; /* request_timeout=SECONDS; 0: not set */
	/* loss_timeout=SECONDS: with a fallback file, a put that takes longer means
	 * that the store is lost. 0: not set. */
	int loss_timeout_ms;
	enum rj_prefer prefer; /* prefer=remote|local|power */
	/* disk_energy, link_energy: of the fallback file's disk, and of the link to the store */
	struct rj_energy disk_energy, link_energy;
	/* retain=SECONDS|MINUTESm|HOURSh|DAYSd: keep segments that long though
	 * no replay needs them. 0: not set. */
	unsigned long long retain_s;
	/* trim_interval: seconds between two deletions of old segments. 0: not set. */
	unsigned long long trim_interval_s;
	/* ship_early=BYTES: pieces of a large commit that are put while the
	 * kernel still writes it. 0: not set. */
	unsigned long long ship_early_bytes;
	char *floor; /* floor: URL of a second store; log/floor/floor-url.h */
	char *url; /* that it was loaded for; NULL: not by rj_conf_load() */
	/* A password or token of [*] was left out: no section names the host. */
	bool withheld;
	int refs;
};

/* Set the cause of a failure RC to read or use rj.conf, or a file that it names, to
 * RJ_CAUSE_SETTINGS, if no other cause is set and RC is not -RJ_E_NOMEM. Returns RC; 0
 * stays 0. */
int rj_conf_fault(int rc, struct rj_error *err);
/*
 * Load the settings for URL; all are empty when nothing is configured. *OUT is for
 * rj_conf_release(). RJ_E_INVAL: a malformed line (the message names file and line, never
 * the value); RJ_E_DENIED: a file that others may read; RJ_E_NOTFOUND: $RJ_CONF
 * or a secret's file is not there (the default file may be absent); RJ_E_IO.
 */
int rj_conf_load(const char *url, struct rj_conf **out, struct rj_error *err);
/*
 * After a failure: read rj.conf again. If a setting of connections has changed, release
 * *C, replace it, and return true. Reads at most once a second: *LOOKED_NS (monotonic; 0:
 * never) is set to the time of the last read. A file that cannot be used (half written,
 * or not readable for us) is logged, and *C stays.
 */
bool rj_conf_renew(struct rj_conf **c, int64_t *looked_ns);

/* Section [local]. */
#define RJ_FALLBACK_DIRS "/var/lib/rjprogs"
#define RJ_FLOOR_DIR	 "/var/lib/rjprogs/floor"
#define RJ_DRILL_DIR	 "/var/lib/rjprogs/drill"
#define RJ_DRILL_MAX_AGE 691200 /* seconds: 8 days, for a weekly drill */
/* How a journal is shown to the kernel: rjournald/front/front.h. */
enum rj_conf_front {
	RJ_FRONT_FUSE,
	RJ_FRONT_UBLK,
	RJ_FRONT_AUTO, /* ublk where the kernel has it */
};
struct rj_conf_local {
	/* Absolute paths, with blanks between them: directories below which a
	 * fallback file may be, or the file's own path. */
	char *fallback_dirs;
	/* Absolute paths, with blanks between them: directories below which a store of
	 * file:// may be. NULL: it may be anywhere. */
	char *file_dirs;
	char *floor_dir; /* of the local floors: log/floor/floor.h */
	char *drill_dir; /* of the notes of drills: tools/drill-note.h */
	uint64_t drill_max_age_s; /* after which a drill's success does not count any more */
	enum rj_conf_front front; /* front=fuse|ublk|auto */
};

/* Load section [local] into OUT, for rj_conf_local_free(). Errors as of rj_conf_load();
 * OUT is then empty. */
int rj_conf_local_load(struct rj_conf_local *out, struct rj_error *err);
/* Free the strings of C, which may be empty. */
void rj_conf_local_free(struct rj_conf_local *c);

/* Take another reference to C, and return C. NULL-safe. */
struct rj_conf *rj_conf_ref(struct rj_conf *c);
/* Release a reference; the last one wipes and frees C. NULL-safe. */
void rj_conf_release(struct rj_conf *c);

/* "remote", "local", "power"; "" for unset. */
const char *rj_prefer_name(enum rj_prefer p);
/* Parse WORD as one of these names; RJ_PREFER_UNSET if it is none. */
enum rj_prefer rj_prefer_parse(const char *word);

/* Does section NAME hold for URL? */
bool rj_conf_section_covers(const char *name, const char *url);

/* Overwrite and free a secret. NULL-safe. */
void rj_secret_free(char *s);

#endif
