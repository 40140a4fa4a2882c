// SPDX-License-Identifier: GPL-2.0-or-later
/* rj.conf: what it says for which URL, who may read it, and that no secret
 * gets out by message or core dump. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/badserver.h"
#include "store/common.h"
#include "store/conf.h"
#include "support/rjtest.h"

static char dir[] = "/tmp/rjconf.XXXXXX";
static char conf_path[64], secret_path[64];
static struct rj_error err;

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f) || chmod(path, mode))
		exit(99);
}

static void configure(const char *text)
{
	write_file(conf_path, text, 0600);
	unsetenv("RJ_CREDENTIALS");
}

/* The configuration of URL; never NULL, or the program ends. */
static struct rj_conf *load(const char *url)
{
	struct rj_conf *c = NULL;

	T_WORKS(rj_conf_load(url, &c, &err));
	if (!c)
		exit(99);
	return c;
}

static void is(const char *got, const char *want)
{
	CU_ASSERT_TRUE(!got == !want && (!got || !strcmp(got, want)));
	if (!got != !want || (got && strcmp(got, want)))
		printf("# got %s, wanted %s\n", got ? got : "nothing",
			want ? want : "nothing");
}

static void check_user(const char *url, const char *want)
{
	struct rj_conf *c = load(url);

	is(c->user, want);
	rj_conf_release(c);
}

static void a_section_holds_for_what_begins_with_it(void)
{
	configure("[rj://host/vol]\nuser = u\n");
	check_user("rj://host/vol", "u");
	check_user("rj://host/vol/x", "u");
	check_user("rj://host/vol2", NULL);
	check_user("rj://host", NULL);
	check_user("rjs://host/vol", NULL);
	configure("[rj://host]\nuser = u\n");
	check_user("rj://host:7490/vol", "u");
	check_user("rj://host.evil.example.com/vol", NULL);
	configure("[rj://host:74/]\nuser = u\n");
	check_user("rj://host:74/vol", "u");
	check_user("rj://host:749/vol", NULL);
	configure("[*]\nuser = u\n");
	check_user("sftp://anything", "u");
	configure("[dav]\nuser = u\n");
	check_user("dav://anything", "u");
	check_user("davs://anything", NULL);
}

/* However it is written, it is the same store. */
static void a_port_may_be_left_out(void)
{
	struct rj_conf *c;

	configure("[rj://host/vol]\nuser = u\n[rj://host:7490/vol]\nregion = r\n");
	check_user("rj://host:7490/vol", "u");
	check_user("rj://host/vol", "u");
	check_user("RJ://host/vol/", "u");
	check_user("rj://host:7491/vol", NULL);
	check_user("rj://host:7490/vol2", NULL);
	c = load("rj://host/vol");
	is(c->region, "r");
	rj_conf_release(c);
	configure("[S3+https://h:443]\nuser = u\n");
	check_user("s3+https://h/bucket", "u");
	check_user("s3+https://h:444/bucket", NULL);
	check_user("s3+http://h/bucket", NULL);
	configure("[sftp://[::1]/logs]\nuser = u\n");
	check_user("sftp://[::1]:22/logs/a", "u");
	check_user("sftp://[::1]:23/logs/a", NULL);
	configure("[file:///srv/]\nuser = u\n");
	check_user("file:///srv/logs", "u");
	check_user("file:///srv", "u");
	check_user("file:///srv2", NULL);
	/* the longer one has the last word, however the ports are written */
	configure("[rj://host:7490]\nuser = short\n[rj://host/v]\nuser = long\n");
	check_user("rj://host/v", "long");
}

static void no_file_is_an_empty_one(void)
{
	setenv("RJ_CONF", "/dev/null", 1);
	check_user("rj://host/vol", NULL);
	setenv("RJ_CONF", conf_path, 1);
}

static void the_longest_section_has_the_last_word(void)
{
	struct rj_conf *c;

	configure("[dav://h/a/b]\nuser = deep\n"
		  "[*]\nuser = all\nregion = r1\nproxy = http://p/\n"
		  "[dav://h/a]\nuser = a\nregion = r2\n"
		  "[dav://h/a]\nregion = r3\n");
	c = load("dav://h/a/b/c");
	is(c->user, "deep");
	is(c->region, "r3");
	is(c->proxy, "http://p/");
	rj_conf_release(c);
	check_user("dav://h/a/x", "a");
	check_user("dav://h/x", "all");
}

static void every_key_is_read(void)
{
	struct rj_conf *c;

	configure("# comment\r\n; another\n\n[rj://h]\n [*] \n"
		  "user=u 1\npassword = p;#= [x]\ntoken=t\nsession_token=s\n"
		  "region=eu\nca=/ca\ncert=/cert\nclientkey=/key\n"
		  "known_hosts=/kh\nproxy=\nkeyfile=/seal\nstyle=virtual\n"
		  "insecure=yes\ndurable=no\ncompress=yes\n"
		  "connect_timeout=1.5\nrequest_timeout=20\n\n"
		  "retain=7d\n"
		  "trim_interval=90m\nship_early=64k\n"
		  "disk_energy=wakeup=90J idle=10m\nlink_energy=commit=0.5J\n"
		  "floor=rjs://far/floors");
	c = load("rj://h/v");
	is(c->user, "u 1");
	is(c->password, "p;#= [x]");
	is(c->token, "t");
	is(c->session_token, "s");
	is(c->region, "eu");
	is(c->ca, "/ca");
	is(c->cert, "/cert");
	is(c->clientkey, "/key");
	is(c->known_hosts, "/kh");
	is(c->proxy, "");
	is(c->keyfile, "/seal");
	CU_ASSERT_EQUAL(c->style, RJ_STYLE_VIRTUAL);
	CU_ASSERT_TRUE(c->insecure);
	CU_ASSERT_EQUAL(c->durable, RJ_CONF_NO);
	CU_ASSERT_EQUAL(c->compress, RJ_CONF_YES);
	CU_ASSERT_EQUAL(c->connect_timeout_ms, 1500);
	CU_ASSERT_EQUAL(c->request_timeout_ms, 20000);
	CU_ASSERT_EQUAL(c->retain_s, 7 * 86400);
	CU_ASSERT_EQUAL(c->trim_interval_s, 90 * 60);
	CU_ASSERT_EQUAL(c->ship_early_bytes, 64 << 10);
	CU_ASSERT_DOUBLE_EQUAL(c->disk_energy.wakeup_j, 90, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c->disk_energy.idle_s, 600, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c->link_energy.commit_j, 0.5, 1e-9);
	CU_ASSERT_STRING_EQUAL(c->floor, "rjs://far/floors");
	rj_conf_release(c);
}

static void nothing_said_is_nothing_set(void)
{
	struct rj_conf *c;

	unlink(conf_path);
	c = load("rj://h/v");
	is(c->user, NULL);
	is(c->proxy, NULL);
	CU_ASSERT_EQUAL(c->style, RJ_STYLE_PATH);
	CU_ASSERT_EQUAL(c->durable, RJ_CONF_UNSET);
	CU_ASSERT_EQUAL(c->connect_timeout_ms, 0);
	CU_ASSERT_PTR_EQUAL(rj_conf_ref(c), c);
	rj_conf_release(c);
	rj_conf_release(c);
	rj_conf_release(NULL);
}

static void a_long_token_and_a_long_section(void)
{
	char text[5000], token[3001], url[300];
	struct rj_conf *c;

	memset(token, 'T', sizeof(token) - 1);
	token[sizeof(token) - 1] = '\0';
	snprintf(url, sizeof(url), "s3+https://%0200d/bucket", 7);
	snprintf(text, sizeof(text), "[%s]\nsession_token = %s\n", url, token);
	configure(text);
	c = load(url);
	is(c->session_token, token);
	rj_conf_release(c);
}

static void the_environment_has_the_same_form(void)
{
	configure("[*]\nuser = file\nregion = r\n[rj://h]\ntoken = filetoken\n");
	setenv("RJ_CREDENTIALS", "[*]\nuser = env\n[rj://h/v]\ntoken = t\n", 1);
	check_user("dav://x", "env");
	struct rj_conf *c = load("rj://h/v");
	is(c->token, "t");
	is(c->region, "r");
	rj_conf_release(c);
	setenv("RJ_CREDENTIALS", "hunter2", 1);
	T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_INVAL,
		"$RJ_CREDENTIALS: line 1: neither");
	CU_ASSERT_PTR_NULL(strstr(err.msg, "hunter2"));
	unsetenv("RJ_CREDENTIALS");
}

static void secrets_from_files(void)
{
	char text[256];
	struct rj_conf *c;

	snprintf(text, sizeof(text), "[rj://h]\npassword=no\npasswordfile = %s\n",
		secret_path);
	configure(text);
	write_file(secret_path, "from file \nrest\n", 0600);
	c = load("rj://h/v");
	is(c->password, "from file ");
	rj_conf_release(c);
	write_file(secret_path, "hunter2\n", 0640);
	T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_DENIED, secret_path);
	T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_DENIED, "chmod 600");
	write_file(secret_path, "\nhunter2\n", 0600);
	T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_INVAL, "is empty");
	unlink(secret_path);
	T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_NOTFOUND, "password");
	/* for a URL that does not want it, it need not be there */
	snprintf(text, sizeof(text), "[dav://x]\npasswordfile = %s\n",
		secret_path);
	configure(text);
	check_user("rj://h/v", NULL);
}

static void others_must_not_read_it(void)
{
	static const mode_t modes[] = {0644, 0640, 0604, 0660, 0601, 0620};
	struct rj_conf *c;
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		write_file(conf_path, "[*]\nuser = u\n", modes[i]);
		T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_DENIED,
			"chmod 600");
	}
	write_file(conf_path, "[*]\nuser = u\n", 0400);
	check_user("rj://h/v", "u");
	if (geteuid())
		return;
	if (chown(conf_path, 12345, 0))
		exit(99);
	T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_DENIED,
		"another user (12345)");
	unlink(conf_path);
}

static void bad_lines_are_named_and_not_repeated(void)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{"user = hunter2\n", "line 1: before the first section"},
		{"[*]\n\nhunter2\n", "line 3: neither"},
		{"[*]\nhunter2 = x\n", "line 2: no such key"},
		{"[*]\ndisk_energy = wakeup=90W\n", "line 2: not words such as wakeup=90J"},
		{"[*]\npasswort = hunter2\n",
			"line 2: no such key: passwort;"},
		{"[*]\npassword =\n", "line 2: the value is empty"},
		{"[*]\npasswordfile = hunter2\n", "not an absolute path"},
		{"[hunter2\n", "line 1: a section is"},
		{"[]\n", "line 1: a section is"},
		{"[*]\n[lokal]\n", "line 2: no such section: lokal;"},
		{"[http://u:hunter2@h]\n", "line 1: no such section: http;"},
		{"[*]\nstyle = hunter2\n", "path or virtual"},
		{"[*]\ninsecure = hunter2\n", "yes or no"},
		{"[*]\nrequest_timeout = -1\n", "number of seconds"},
		{"[*]\nrequest_timeout = 0\n", "number of seconds"},
		{"[*]\nrequest_timeout = 1s\n", "number of seconds"},
		{"[*]\nretain = 7w\n", "not a time"},
		{"[*]\nship_early = 64m\n", "not a size"},
		{"[*]\nship_early = 64kB\n", "not a size"},
		{"[*]\nship_early = 17179869184G\n", "not a size"},
		{"[*]\nfloor = /var/floors\n", "not a URL"},
		{"[*]\nretain = 99999999999999999999\n", "not a time"},
		{"[*]\nretain = 9999999999999999999d\n", "not a time"},
		/* also in a section that is not about our URL */
		{"[dav://x]\nnonsense = 1\n", "line 2: no such key: nonsense;"},
	};
	struct rj_conf *c;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		configure(bad[i].text);
		T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_INVAL,
			bad[i].want);
		CU_ASSERT_PTR_NULL(strstr(err.msg, "hunter2"));
		CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, conf_path));
	}
}

/* In a child: load TEXT, then crash. Did it leave a core? */
static bool dumps(const char *text, bool *dumped)
{
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	int status;
	pid_t pid;

	configure(text);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_DUMPABLE, 1);
		setrlimit(RLIMIT_CORE, &all);
		if (chdir(dir))
			_exit(98);
		load("rj://h/v");
		if (!dumped)
			_exit(prctl(PR_GET_DUMPABLE) == 1);
		signal(SIGABRT, SIG_DFL);
		abort();
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		exit(99);
	if (!dumped)
		return WIFEXITED(status) && WEXITSTATUS(status) == 1;
	*dumped = WIFSIGNALED(status) && WCOREDUMP(status);
	return WIFSIGNALED(status);
}

static void check_token(const char *url, const char *token)
{
	struct rj_conf *c = load(url);

	is(c->token, token);
	CU_ASSERT_EQUAL(c->withheld, !token);
	rj_conf_release(c);
}

static void a_secret_for_any_host_goes_to_named_ones(void)
{
	configure("[*]\ntoken = t\nregion = r\n[rj]\ntoken = u\n"
		  "[rjs://h/vol]\n[rj://i:1]\nuser = me\n");
	check_token("rjs://h/other", "t"); /* that host and port */
	check_token("rjs://h:7490/vol", "t");
	check_token("rjs://h:99/vol", NULL);
	check_token("rj://h/vol", NULL); /* in the clear */
	check_token("rjs://h.evil.example.com/vol", NULL);
	check_token("rjs://evil/h/vol", NULL);
	check_token("rj://i:1/v", "u");
	check_token("rj://evil/v", NULL);
	configure("[rj://evil/vol]\ntoken = t\n");
	check_token("rj://evil/vol", "t"); /* meant for it */
	struct rj_conf *c;
	configure("[*]\npasswordfile = /none\nuser = u\n");
	c = load("sftp://h/v"); /* nor is the file looked for */
	is(c->password, NULL);
	is(c->user, "u");
	rj_conf_release(c);
}

static void local_is_about_no_url(void)
{
	struct rj_conf_local l;
	struct rj_conf *c;

	configure("[*]\ntoken = t\n");
	T_WORKS(rj_conf_local_load(&l, &err));
	is(l.fallback_dirs, RJ_FALLBACK_DIRS);
	rj_conf_local_free(&l);
	configure("[local]\nfallback_dirs = /a  /b/c\n[rj://h]\nuser = u\n");
	T_WORKS(rj_conf_local_load(&l, &err));
	is(l.fallback_dirs, "/a  /b/c");
	rj_conf_local_free(&l);
	check_user("rj://h/v", "u");
	check_user("rj://i/v", NULL);
	configure("[local]\nfallback_dirs = /a b\n");
	T_FAILS(rj_conf_load("rj://h/v", &c, &err), RJ_E_INVAL,
		"line 2: not absolute paths");
	configure("[local]\nfront = auto\n");
	T_WORKS(rj_conf_local_load(&l, &err));
	CU_ASSERT_EQUAL(l.front, RJ_FRONT_AUTO);
	rj_conf_local_free(&l);
	configure("[local]\nfront = nbd\n");
	T_FAILS(rj_conf_local_load(&l, &err), RJ_E_INVAL, "front is fuse, ublk or auto");
	configure("[local]\ntoken = b\n");
	T_FAILS(rj_conf_local_load(&l, &err), RJ_E_INVAL, "no such key");
}

static void no_core_dump_with_a_secret(void)
{
	bool dumped;

	CU_ASSERT_TRUE(dumps("[*]\nregion = x\n", NULL));
	CU_ASSERT_FALSE(dumps("[rj://h]\npassword = x\n", NULL));
	CU_ASSERT_FALSE(dumps("[rj://h]\ntoken = x\n", NULL));
	CU_ASSERT_FALSE(dumps("[rj://h]\nsession_token = x\n", NULL));
	CU_ASSERT_TRUE(dumps("[rj://h]\npassword = x\n", &dumped));
	CU_ASSERT_FALSE(dumped);
}

static void a_password_does_not_travel_in_the_clear(void)
{
	struct rj_store *s = NULL;

	configure("[*]\ntoken = hunter2\n[rj://203.0.113.5]\n");
	T_FAILS(rj_store_open("rj://203.0.113.5/v", NULL, &s, &err),
		RJ_E_REFUSED, "unencrypted");
	CU_ASSERT_PTR_NULL(strstr(err.msg, "hunter2"));
	T_WORKS(rj_store_open("rj://127.0.0.1/v", NULL, &s, &err));
	rj_store_close(s);
	T_WORKS(rj_store_open("rjs://203.0.113.5/v", NULL, &s, &err));
	rj_store_close(s);
	configure("[*]\ntoken = hunter2\ninsecure = yes\n"
		  "[rj://203.0.113.5]\n");
	T_WORKS(rj_store_open("rj://203.0.113.5/v", NULL, &s, &err));
	rj_store_close(s);
}

static bool renewed(struct rj_conf **c)
{
	int64_t never = 0;

	return rj_conf_renew(c, &never);
}

static void what_was_changed_is_taken_after_a_failure(void)
{
	struct rj_conf made = {.refs = 1}, *c = NULL, *other = &made;
	int64_t looked = 0;

	configure("[rj://h]\ntoken = one\n");
	T_WORKS(rj_conf_load("rj://h/v", &c, &err));
	CU_ASSERT_FALSE(renewed(&c));
	configure("[rj://h]\ntoken = two\nretain = 5\n");
	CU_ASSERT_TRUE(rj_conf_renew(&c, &looked));
	CU_ASSERT_STRING_EQUAL(c->token, "two");
	configure("[rj://h]\ntoken = three\n");
	CU_ASSERT_FALSE(rj_conf_renew(&c, &looked)); /* not so soon again */
	CU_ASSERT_TRUE(renewed(&c));
	/* half written, or open to others: what is known stays */
	configure("[rj://h]\ntok");
	CU_ASSERT_FALSE(renewed(&c));
	configure("[rj://h]\ntoken = four\n");
	chmod(conf_path, 0644);
	CU_ASSERT_FALSE(renewed(&c));
	CU_ASSERT_STRING_EQUAL(c->token, "three");
	configure("[rj://other]\ntoken = four\n");
	chmod(conf_path, 0600);
	CU_ASSERT_TRUE(renewed(&c));
	CU_ASSERT_PTR_NULL(c->token);
	rj_conf_release(c);
	CU_ASSERT_FALSE(renewed(&other)); /* it came from elsewhere */
}

/* The server refuses each request; the next one goes with what is new. */
static void a_new_token_goes_with_the_next_request(void)
{
	static const struct {
		struct bad_act act;
		const char *host, *conf, *header;
	} all[] = {
		{{"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", BAD_KEEP, 0,
			 0},
			"rj://127.0.0.1", "token = ",
			"Authorization: Bearer "},
		{{"HTTP/1.1 400 Bad\r\nContent-Length: 40\r\n\r\n"
		  "<Error><Code>ExpiredToken</Code></Error>",
			 BAD_KEEP, 0, 0},
			"s3+http://127.0.0.1",
			"user = u\npassword = p\nsession_token = ",
			"x-amz-security-token: "},
	};
	static const char *const tokens[] = {"one", "two"};
	char url[64], text[128], want[64];
	struct rj_key key = {.kind = RJ_KEY_LOG, .number = 1};
	struct rj_store *s = NULL;
	struct bad_server *b;
	size_t i, k;

	for (i = 0; i < 2; i++) {
		b = bad_start(&all[i].act, 1);
		snprintf(url, sizeof(url), "%s:%d/name", all[i].host,
			bad_port(b));
		for (k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "[%s]\n%s%s\n",
				all[i].host, all[i].conf, tokens[k]);
			configure(text);
			if (!k)
				T_WORKS(rj_store_open(url, NULL, &s, &err));
			T_FAILS(rj_store_put_new(s, &key, "x", 1, &err),
				RJ_E_DENIED, "refuses us");
			CU_ASSERT_EQUAL(err.cause, RJ_CAUSE_TOKEN);
			snprintf(want, sizeof(want), "%s%s\r\n",
				all[i].header, tokens[k]);
			CU_ASSERT_PTR_NOT_NULL(
				strstr(bad_last_head(b), want));
		}
		rj_store_close(s);
		bad_stop(b);
	}
}

static const struct rjtest tests[] = {
	RJTEST(a_section_holds_for_what_begins_with_it),
	RJTEST(a_port_may_be_left_out),
	RJTEST(no_file_is_an_empty_one),
	RJTEST(the_longest_section_has_the_last_word),
	RJTEST(every_key_is_read),
	RJTEST(nothing_said_is_nothing_set),
	RJTEST(a_long_token_and_a_long_section),
	RJTEST(the_environment_has_the_same_form),
	RJTEST(secrets_from_files),
	RJTEST(others_must_not_read_it),
	RJTEST(bad_lines_are_named_and_not_repeated),
	RJTEST(a_secret_for_any_host_goes_to_named_ones),
	RJTEST(local_is_about_no_url),
	RJTEST(no_core_dump_with_a_secret),
	RJTEST(a_password_does_not_travel_in_the_clear),
	RJTEST(what_was_changed_is_taken_after_a_failure),
	RJTEST(a_new_token_goes_with_the_next_request),
};

int main(void)
{
	int status;

	if (!mkdtemp(dir))
		return 99;
	snprintf(conf_path, sizeof(conf_path), "%s/rj.conf", dir);
	snprintf(secret_path, sizeof(secret_path), "%s/secret", dir);
	setenv("RJ_CONF", conf_path, 1);
	status = RJTEST_RUN("store-conf", tests);
	unlink(conf_path);
	unlink(secret_path);
	rmdir(dir);
	return status;
}
