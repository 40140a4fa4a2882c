/* SPDX-License-Identifier: GPL-2.0-or-later */
/* End in order when a signal asks for it. */
#ifndef TOOLS_STOP_SIGNAL_H
#define TOOLS_STOP_SIGNAL_H

/* From now on SIGINT, SIGTERM and SIGHUP are noted, and interrupt system calls. A child that is
 * to end by them has to set them back. */
void stop_signal_catch(void);
/* The one that came last; 0: none. */
int stop_signal(void);

#endif
