/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page/ as strings; page_data.c is made by embed.awk. */
#ifndef RJSERVER_PAGE_DATA_H
#define RJSERVER_PAGE_DATA_H

extern const char page_html[], page_js[], page_css[];

#endif
