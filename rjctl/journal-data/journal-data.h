/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories whose files' data pass the journal: ext4's flag "j" of chattr(1). */
#ifndef RJCTL_JOURNAL_DATA_H
#define RJCTL_JOURNAL_DATA_H

/*
 * Carry out "journal-data VERB PATH", with VERB on, off, ls or check, and print what came
 * of it. Returns the exit status: 0; 1: refused, or not done for all files, with a line on
 * stderr for each cause.
 */
int journal_data(const char *verb, const char *path);

#endif
