/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_OS_HOSTNAME_H
#define RJ_OS_HOSTNAME_H

#include <stddef.h>

/* Get the name of this host into OUT, of SIZE bytes, in visible ASCII without blanks. */
void rj_host_name(char *out, size_t size);

#endif
