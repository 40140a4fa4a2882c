// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module/module.h"
#include "store/backend.h"

int rj_curl_module(const struct rj_curl_module **out, struct rj_error *err)
{
	const void *functions = NULL;
	int rc = rj_module_load(RJ_MODULE_CURL, &functions, err);

	*out = functions;
	return rc;
}
