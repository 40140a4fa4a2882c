/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Classify errors. rj_code_*() take what a function of the library returned: 0 or a
 * negative enum rj_code. rj_error_*() take the error that it filled.
 *
 * Who decides whether to try again:
 * - a retry with a time limit (log/retry.h): rj_code_transient(), by the code alone;
 * - a commit, which may wait without a limit: rj_error_final() (error.h), by code and cause;
 * - a worker that starts after another one died: rjournald/load/takeover.c, which asks
 *   rj_error_final() and adds the time limit of on_loss=error.
 */
#ifndef RJ_UTIL_ERROR_CLASS_H
#define RJ_UTIL_ERROR_CLASS_H

#include <stdbool.h>

struct rj_error;

/* Is it worth another try, without a change by the user? */
bool rj_code_transient(int rc);
/* Did the store not answer, or not let us in? Of the log it says nothing. */
bool rj_code_away(int rc);
/* Is the log that was read damaged, incomplete, or not this volume's? */
bool rj_code_damage(int rc);
/* Is the journal missing, out of reach, or not usable, so that a check of the
 * whole volume can replace it? Never true of what is ours: */
bool rj_error_log_lost(const struct rj_error *err);
/* Is the journal not the cause, but this host (rj.conf, a file that it names), or what the
 * user gave? */
bool rj_error_ours(const struct rj_error *err);

#endif
