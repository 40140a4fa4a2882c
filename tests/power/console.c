// SPDX-License-Identifier: GPL-2.0-or-later
#include "console.h"

#include <errno.h>
#include <pthread.h>

#if defined(__x86_64__) || defined(__i386__)
#include <sys/io.h>
#endif

#define PORT 0xE9

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#if defined(__x86_64__) || defined(__i386__)
int console_open(void)
{
	return ioperm(PORT, 1, 1);
}
static void console_byte(char c)
{
	outb((unsigned char)c, PORT);
}
#else
int console_open(void)
{
	errno = ENOSYS;
	return -1;
}
static void console_byte(char c)
{
	(void)c;
}
#endif

void console_say(const char *line)
{
	pthread_mutex_lock(&lock);
	while (*line)
		console_byte(*line++);
	pthread_mutex_unlock(&lock);
}
