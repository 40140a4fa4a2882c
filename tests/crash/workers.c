// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ops.h"

struct order {
	char dir[256];
	unsigned long long seed;
	unsigned thread, count;
};

/* Each worker's: an order goes there; an 'A' comes back for each operation, and
 * goes there again; an 'E' or 'F' is the end. */
static int sockets[WORKERS_MAX];

/* ---- the process that writes ---- */

static bool tell(int fd, char what)
{
	return send(fd, &what, 1, MSG_NOSIGNAL) == 1;
}

static bool work(int fd, const struct order *w)
{
	int root = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = root >= 0;
	struct ops o;
	char heard;

	ops_init(&o, w->seed, w->thread);
	while (good && o.done < w->count) {
		good = !ops_run(&o, root);
		if (!good)
			break;
		if (!tell(fd, 'A') || recv(fd, &heard, 1, 0) != 1)
			exit(1); /* nobody records any more */
		ops_acked(&o);
	}
	if (!good)
		fprintf(stderr, "record: thread %u, operation %llu, kind %d: %s\n",
			w->thread, (unsigned long long)o.done, o.next.kind,
			strerror(errno));
	ops_release(&o);
	if (root >= 0)
		close(root);
	return good;
}

static void *worker(void *arg)
{
	int fd = *(int *)arg;
	struct order w;

	while (recv(fd, &w, sizeof(w), 0) == sizeof(w))
		tell(fd, work(fd, &w) ? 'E' : 'F');
	exit(0);
}

int workers_fork(void)
{
	int pair[2], theirs[WORKERS_MAX];
	pthread_t id;
	unsigned i;
	pid_t pid;

	for (i = 0; i < WORKERS_MAX; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
			return -1;
		sockets[i] = pair[0];
		theirs[i] = pair[1];
	}
	pid = fork();
	for (i = 0; i < WORKERS_MAX; i++)
		close(pid ? theirs[i] : sockets[i]);
	if (pid)
		return pid < 0 ? -1 : 0;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	for (i = 0; i < WORKERS_MAX; i++)
		if (pthread_create(&id, NULL, worker, &theirs[i]))
			exit(1);
	for (;;)
		pause();
}

/* ---- the process that records ---- */

struct listener {
	pthread_t id;
	unsigned thread;
	void (*acked)(unsigned thread);
	bool good;
};

static void *listen_to(void *arg)
{
	struct listener *l = arg;
	char what = 'F';

	while (recv(sockets[l->thread], &what, 1, 0) == 1 && what == 'A') {
		l->acked(l->thread);
		tell(sockets[l->thread], 'A');
		what = 'F';
	}
	l->good = what == 'E';
	return NULL;
}

bool workers_run(const char *dir, unsigned long long seed, unsigned threads,
	unsigned n, void (*acked)(unsigned thread))
{
	struct listener l[WORKERS_MAX];
	struct order w = {.seed = seed, .count = n};
	bool good = threads <= WORKERS_MAX;
	unsigned i, started = 0;

	snprintf(w.dir, sizeof(w.dir), "%s", dir);
	for (i = 0; good && i < threads; i++) {
		w.thread = i;
		l[i] = (struct listener){.thread = i, .acked = acked};
		good = send(sockets[i], &w, sizeof(w), MSG_NOSIGNAL) ==
			       sizeof(w) &&
		       !pthread_create(&l[i].id, NULL, listen_to, &l[i]);
		started += good;
	}
	for (i = 0; i < started; i++) {
		pthread_join(l[i].id, NULL);
		good = good && l[i].good;
	}
	return good;
}
