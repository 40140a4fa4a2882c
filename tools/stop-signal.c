// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/stop-signal.h"

#include <signal.h>

static volatile sig_atomic_t came;

static void note(int sig)
{
	came = sig;
}

void stop_signal_catch(void)
{
	const struct sigaction sa = {.sa_handler = note};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

int stop_signal(void)
{
	return came;
}
