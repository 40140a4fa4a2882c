/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rjserver adduser, deluser, users: change and show the accounts file. */
#ifndef RJSERVER_USERS_H
#define RJSERVER_USERS_H

#include "options.h"
#include "settings.h"

/* Each returns the exit status, and has said what was wrong. */
int users_add(const struct options *o, const struct settings *s);
int users_delete(const struct options *o, const struct settings *s);
int users_list(const struct settings *s);

#endif
