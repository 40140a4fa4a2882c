// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tell the S3 services of the large providers, which document that what they acknowledge is stored
 * durably, from private servers, of which that is not known. */
#include "store/curl/s3.h"

#include <string.h>
#include <strings.h>

/* Suffixes of host names, each with its dot. */
static const char *const providers[] = {
	".aliyuncs.com",
	".amazonaws.com",
	".amazonaws.com.cn",
	".backblazeb2.com",
	".cloud-object-storage.appdomain.cloud",
	".digitaloceanspaces.com",
	".linodeobjects.com",
	".oraclecloud.com",
	".r2.cloudflarestorage.com",
	".scw.cloud",
	".storage.googleapis.com",
	".wasabisys.com",
};

bool rj_s3_host_is_provider(const char *host)
{
	size_t n = strlen(host), m, i;

	if (!strcasecmp(host, "storage.googleapis.com"))
		return true;
	for (i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
		m = strlen(providers[i]);
		if (n > m && !strcasecmp(host + n - m, providers[i]))
			return true;
	}
	return false;
}
