/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that leave their process' signals alone. */
#ifndef RJ_UTIL_THREAD_H
#define RJ_UTIL_THREAD_H

#include <pthread.h>

/*
 * pthread_create() with every signal blocked in the new thread. A signal goes to
 * any thread that does not block it: a daemon that waits for SIGTERM in a
 * signalfd would be killed by it through a thread that the library had started
 * before. Returns 0, or an errno value.
 */
int rj_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);

#endif
