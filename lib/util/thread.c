// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/thread.h"

#include <signal.h>
#include <stddef.h>

int rj_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, before;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return e;
}
