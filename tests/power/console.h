/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's debug console: every byte has left the machine before the instruction ends. */
#ifndef TESTS_POWER_CONSOLE_H
#define TESTS_POWER_CONSOLE_H

/* Get the right to use its port. 0, or -1 with errno. */
int console_open(void);
/* Write LINE. Threads may call it at once. */
void console_say(const char *line);

#endif
