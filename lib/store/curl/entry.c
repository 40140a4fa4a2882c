// SPDX-License-Identifier: LGPL-2.1-or-later
/* The entry of the module librj-curl: its functions. */
#include "config.h"
#include "store/backend.h"
#include "store/curl/tunnel.h"

extern const struct rj_curl_module rj_module_functions;

const struct rj_curl_module rj_module_functions = {
	.s3 = rj_store_s3_open,
#ifdef RJ_TREE_STORES
	.dav = rj_store_dav_open,
	.ftp = rj_store_ftp_open,
	.sftp = rj_store_sftp_open,
	.imap = rj_store_imap_open,
#endif
	.connect = rj_curl_tunnel,
};
