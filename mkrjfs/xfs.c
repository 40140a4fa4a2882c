// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "mkrjfs/xfs.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "journal/attach.h"
#include "mkrjfs/served.h"
#include "os/proc.h"
#include "tools/start/raw-daemon.h"
#include "util/buf.h"
#include "xfs/xfs.h"

/* mkfs.xfs's own getopt string (6.1), and -F, -J and -t */
#define XFS_OPTIONS "b:c:d:fFi:J:Kl:L:m:n:Np:qr:s:t:V"
/* What mkfs.xfs adds at most: its name, -N -f, -m, -l, their values, --, device, NULL. */
#define MORE_WORDS  16
#define DEFAULT_MIB 64 /* the least that mkfs.xfs takes */

struct make {
	struct rj_journal_opts journal;
	bool has_journal, dry_run, quiet, force;
	const char *device;
	const char **words; /* for mkfs.xfs, with space for MORE_WORDS */
	int word_count;
	const char *log_words; /* of -l; NULL */
	uint8_t uuid[RJ_UUID_BYTES];
	char uuid_text[RJ_UUID_TEXT];
};

static int bad(const char *what, const char *value)
{
	fprintf(stderr, "mkrjfs: %s%s%s (see mkrjfs --help)\n", what, value ? ": " : "",
		value ? value : "");
	return -1;
}

static int complain(const struct rj_error *err, const char *after)
{
	fprintf(stderr, "mkrjfs: %s%s\n", err->msg, after);
	return 1;
}

bool xfs_asked(int argc, char **argv)
{
	bool asked = false;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "--version"))
			return false; /* these say it of both */
		if (!strcmp(argv[i], "-txfs") ||
			(!strcmp(argv[i], "-t") && i + 1 < argc &&
				!strcmp(argv[i + 1], "xfs")))
			asked = true;
	}
	return asked;
}

/* Is one of NAMES (up to NULL) a word of LIST, alone or with a value? */
static const char *forbidden(const char *list, const char *const *names)
{
	const char *p;
	size_t n;

	for (; *names; names++) {
		n = strlen(*names);
		for (p = list; *p; p += strcspn(p, ","), p += *p == ',')
			if (!strncmp(p, *names, n) && strchr("=,", p[n]))
				return *names;
	}
	return NULL;
}

/* What would make another log or another volume than the one that is served. */
static int check_word(int c, const char *value)
{
	static const char *const of_log[] = {"logdev", "internal", "size", "agnum", "name",
		"file", NULL};
	static const char *const of_metadata[] = {"uuid", NULL};
	static const char *const of_data[] = {"file", "name", NULL};
	static const char *const of_realtime[] = {"rtdev", "name", "file", NULL};
	const char *word = NULL;

	if (c == 'l' && (word = forbidden(value, of_log)))
		return bad(
			"-l: where the log is, and how large, says -J remote=URL,size=MB; leave out",
			word);
	if (c == 'm' && (word = forbidden(value, of_metadata)))
		return bad("-m: the log is found by the UUID that mkrjfs draws; leave out", word);
	if (c == 'm' && strstr(value, "crc=0"))
		return bad(
			"-m crc=0: without checksums nothing tells an old log; leave it out", NULL);
	if (c == 'd' && (word = forbidden(value, of_data)))
		return bad("-d: the volume is a block device, after the options; leave out", word);
	if (c == 'r' && (word = forbidden(value, of_realtime)))
		return bad("-r: a realtime device does not go with a remote log; leave out", word);
	return c == 'c' ? bad("-c: options from a file are not looked at here; give them as words", NULL)
			: 0;
}

static void add(struct make *m, const char *word)
{
	m->words[m->word_count++] = word;
}

static int take_journal(struct make *m, const char *text)
{
	struct rj_error err;

	if (m->has_journal)
		return bad("two -J", NULL);
	if (rj_journal_opts_parse(text, &m->journal, &err)) {
		fprintf(stderr, "mkrjfs: %s\n", err.msg);
		return -1;
	}
	m->has_journal = true;
	if (m->journal.placement != RJ_PLACE_REMOTE)
		return bad("-t xfs is for a remote log: -J remote=URL[,size=MB]", NULL);
	if (m->journal.key_file[0])
		return bad(
			"-J key=: rj.conf names the key of an XFS log (keyfile=, rj.conf(5))",
			NULL);
	if (m->journal.fallback[0] || m->journal.on_loss != RJ_LOSS_BLOCK ||
		m->journal.ack_received || m->journal.rest[0])
		return bad("an XFS log takes only remote=URL and size=MB; -J", text);
	return 0;
}

static int take(struct make *m, int c, const char *value)
{
	char *flag;

	switch (c) {
	case 'J':
		return take_journal(m, value);
	case 't':
		return strcmp(value, "xfs") ? bad("two -t", value) : 0;
	case 'l':
		if (m->log_words)
			return bad("two -l", value);
		m->log_words = value;
		return check_word(c, value);
	case 'N':
		m->dry_run = true;
		return 0;
	case 'F':
	case 'f':
		c = 'f';
		m->force = true;
		break;
	case 'q':
		m->quiet = true;
		break;
	}
	flag = malloc(3);
	if (!flag)
		return bad("out of memory", NULL);
	snprintf(flag, 3, "-%c", c);
	add(m, flag); /* until the program ends */
	if (value)
		add(m, value);
	return value ? check_word(c, value) : 0;
}

static int parse(struct make *m, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt(argc, argv, ":" XFS_OPTIONS)) != -1) {
		if (c == 'V') {
			printf("mkrjfs (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION);
			return 1;
		}
		if (c == '?' || c == ':')
			return bad(c == ':' ? "a value is missing after" : "unknown option",
				(char[]){'-', (char)optopt, 0});
		if (take(m, c, optarg))
			return -1;
	}
	if (!m->has_journal)
		return bad(
			"-t xfs is for a remote log: -J remote=URL[,size=MB]; mkfs.xfs makes volumes without",
			NULL);
	if (optind + 1 != argc)
		return bad(optind == argc ? "which device?" : "one word too many",
			optind == argc ? NULL : argv[optind + 1]);
	m->device = argv[optind];
	if (!m->journal.size_mb)
		m->journal.size_mb = DEFAULT_MIB;
	return 0;
}

/* mkfs.xfs with its log on LOG. MORE: other options; NULL: none. */
static int run_mkfs(struct make *m, const char *log, const char *more, unsigned flags,
	struct rj_proc_result *r, struct rj_error *err)
{
	struct rj_buf path = {0}, log_word = {0}, uuid = {0};
	int kept = m->word_count, rc;

	rc = rj_proc_find("mkfs.xfs", &path, err);
	if (rc)
		return rj_fail_suffix(err, " (it is in the package xfsprogs)");
	if (rj_buf_printf(&log_word, "logdev=%s%s%s", log, m->log_words ? "," : "",
		    m->log_words ? m->log_words : "") ||
		rj_buf_printf(&uuid, "uuid=%s", m->uuid_text)) {
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	} else {
		m->words[0] = (char *)path.data;
		if (more)
			add(m, more);
		add(m, "-l");
		add(m, (char *)log_word.data);
		add(m, "-m");
		add(m, (char *)uuid.data);
		add(m, "--");
		add(m, m->device);
		m->words[m->word_count] = NULL;
		fflush(stdout);
		rc = rj_proc_run(m->words, flags, r, err);
	}
	m->word_count = kept;
	rj_buf_free(&uuid);
	rj_buf_free(&log_word);
	rj_buf_free(&path);
	return rc;
}

/* The reason in what mkfs.xfs said: the first line with its name, or its first. */
static const char *reason(char *text)
{
	static const char name[] = "mkfs.xfs: ";
	char *found = strstr(text, name), *line = found ? found + strlen(name) : text;

	line[strcspn(line, "\n")] = 0;
	return *line ? line : "it does not say why";
}

/* mkfs.xfs -N, with an empty file of the log's size. Its words of what would be made
 * are shown with -N. */
static int ask_mkfs(struct make *m, struct rj_error *err)
{
	int fd = memfd_create("mkrjfs", 0), rc; /* mkfs.xfs inherits it */
	struct rj_proc_result r = {0};
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (fd < 0 || ftruncate(fd, (off_t)m->journal.size_mb << 20))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	else
		rc = run_mkfs(m, name, "-N", RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, &r, err);
	if (!rc && rj_proc_exit_status(&r))
		rc = rj_fail(err, RJ_E_REFUSED, "mkfs.xfs refuses: %s",
			reason((char *)r.out.data));
	if (!rc && m->dry_run && !m->quiet)
		printf("%sRemote log: %u MiB at %s\n", (char *)r.out.data, m->journal.size_mb,
			m->journal.url);
	rj_proc_release(&r);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* What the volume itself says now. */
static int check_made(const struct make *m, struct rj_error *err)
{
	struct rj_xfs_facts f;
	int rc = rj_xfs_look(m->device, &f, err);

	if (!rc)
		rc = rj_xfs_check(m->device, &f, err);
	if (!rc && !rj_uuid_equal(f.uuid, m->uuid))
		rc = rj_fail(err, RJ_E_CORRUPT, "%s: mkfs.xfs gave it another UUID than %s",
			m->device, m->uuid_text);
	return rc;
}

static int make(struct make *m)
{
	char size[32], uuid[16 + RJ_UUID_TEXT], loop[64];
	const char *const words[2] = {size, uuid};
	struct rj_proc_result r = {0};
	struct rj_error err, e;
	int rc;

	snprintf(size, sizeof(size), "--size=%u", m->journal.size_mb);
	snprintf(uuid, sizeof(uuid), "--uuid=%s", m->uuid_text);
	if (raw_daemon_start(words, m->journal.url, loop, &err))
		return complain(&err, "; the volume was not touched");
	rc = run_mkfs(m, loop, NULL, 0, &r, &err);
	if (!rc && rj_proc_exit_status(&r))
		rc = rj_fail(&err, RJ_E_IO, "%s: mkfs.xfs ended with status %d", m->device,
			rj_proc_exit_status(&r));
	rj_proc_release(&r);
	if (!rc)
		rc = check_made(m, &err);
	if (raw_daemon_stop(m->uuid, m->device, &e) && !rc)
		rc = rj_fail(&err, e.code, "%s", e.msg);
	if (rc) {
		fprintf(stderr,
			"mkrjfs: %s; the log that was begun is left (rjlog rm --force %s %s/%s removes it)\n",
			err.msg, m->uuid_text, m->journal.url, m->uuid_text);
		return 1;
	}
	if (!m->quiet)
		printf("Remote log: %u MiB at %s\nMount it with: mount -t rj -o logdev=%s %s DIR\n",
			m->journal.size_mb, m->journal.url, m->journal.url, m->device);
	return 0;
}

static int check_and_make(struct make *m)
{
	struct rj_error err;
	struct left left;
	int rc;

	if (rj_uuid_random(m->uuid))
		return complain(&(struct rj_error){.msg = "no random numbers"}, "");
	rj_uuid_text(m->uuid, m->uuid_text);
	rc = rj_xfs_check_unused(m->device, &err);
	if (!rc)
		rc = check_served(m->device, m->force, &left, &err);
	if (!rc)
		rc = ask_mkfs(m, &err);
	if (!rc)
		rc = rj_attach_check(&m->journal, m->force, &err);
	if (rc)
		return complain(&err, "; nothing was changed");
	return m->dry_run ? 0 : make(m);
}

int xfs_make(int argc, char **argv, bool *quiet)
{
	struct make m = {.word_count = 1};
	int rc;

	/* a cluster such as -qf is one word here, and two for mkfs.xfs */
	for (rc = 0; rc < argc; rc++)
		m.word_count += (int)strlen(argv[rc]) + 1;
	m.words = calloc((size_t)m.word_count + MORE_WORDS, sizeof(*m.words));
	m.word_count = 1;
	if (!m.words)
		return complain(&(struct rj_error){.msg = "out of memory"}, "");
	rc = parse(&m, argc, argv);
	*quiet = m.quiet;
	rc = rc < 0 ? 1 : rc > 0 ? 0 : check_and_make(&m);
	free(m.words);
	return rc;
}
