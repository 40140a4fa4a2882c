/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connect to rjserver through a proxy. Private to the module librj-curl. */
#ifndef RJ_STORE_TUNNEL_H
#define RJ_STORE_TUNNEL_H

#include "store/http/http1-conn.h"

/* As connect of struct rj_curl_module. */
int rj_curl_tunnel(struct rj_http1_conn *c, const char *base, struct rj_error *err);

#endif
