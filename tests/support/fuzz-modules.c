// SPDX-License-Identifier: GPL-2.0-or-later
/* In the place of lib/module/module.c, for fuzz targets (scripts/fuzz): the modules are those
 * of their functions that were linked into the program. */
#include <openssl/crypto.h>

#include "crypto/crypto-priv.h"
#include "module/module.h"
#include "store/backend.h"
#include "store/curl/tunnel.h"

#pragma weak rj_openssl_hkdf
#pragma weak rj_openssl_aead_seal
#pragma weak rj_openssl_aead_open
#pragma weak rj_store_dav_open
#pragma weak rj_store_s3_open
#pragma weak rj_store_ftp_open
#pragma weak rj_store_sftp_open
#pragma weak rj_store_imap_open
#pragma weak rj_curl_tunnel

int rj_module_load(enum rj_module which, const void **functions, struct rj_error *err)
{
	static struct rj_openssl openssl;
	static struct rj_curl_module curl;

	openssl = (struct rj_openssl){
		.hkdf = rj_openssl_hkdf,
		.aead_seal = rj_openssl_aead_seal,
		.aead_open = rj_openssl_aead_open,
		.differ = CRYPTO_memcmp,
	};
	curl = (struct rj_curl_module){
		.dav = rj_store_dav_open,
		.s3 = rj_store_s3_open,
		.ftp = rj_store_ftp_open,
		.sftp = rj_store_sftp_open,
		.imap = rj_store_imap_open,
		.connect = rj_curl_tunnel,
	};
	*functions = which == RJ_MODULE_CURL ? (const void *)&curl : &openssl;
	return 0;
}
