// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module/openssl.h"

#include "module/module.h"

int rj_openssl(const struct rj_openssl **out, struct rj_error *err)
{
	const void *functions = NULL;
	int rc = rj_module_load(RJ_MODULE_OPENSSL, &functions, err);

	*out = functions;
	return rc;
}
