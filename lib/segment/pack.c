// SPDX-License-Identifier: LGPL-2.1-or-later
#include "segment/pack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* The fastest level: a commit waits for it. */
#define LEVEL 1

struct packer {
	ZSTD_CCtx *c;
	ZSTD_DCtx *d;
	uint8_t *scratch;
	size_t scratch_bytes;
};

static pthread_key_t cleanup;
static bool have_cleanup;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread struct packer *mine;

static void free_packer(void *arg)
{
	struct packer *p = arg;

	ZSTD_freeCCtx(p->c);
	ZSTD_freeDCtx(p->d);
	free(p->scratch);
	free(p);
}

static void set_up(void)
{
	have_cleanup = !pthread_key_create(&cleanup, free_packer);
}

static struct packer *get_packer(void)
{
	struct packer *p = mine;

	if (p)
		return p;
	pthread_once(&once, set_up);
	p = have_cleanup ? calloc(1, sizeof(*p)) : NULL;
	if (!p)
		return NULL;
	p->c = ZSTD_createCCtx();
	p->d = ZSTD_createDCtx();
	if (!p->c || !p->d || pthread_setspecific(cleanup, p)) {
		free_packer(p);
		return NULL;
	}
	mine = p;
	return p;
}

int rj_pack(uint8_t *data, size_t len, size_t *packed, struct rj_error *err)
{
	struct packer *p = get_packer();
	size_t space = len - len / 8, n;

	*packed = len;
	if (p && p->scratch_bytes < space) {
		free(p->scratch);
		p->scratch = malloc(space);
		p->scratch_bytes = p->scratch ? space : 0;
	}
	if (!p || p->scratch_bytes < space)
		return rj_fail(err, RJ_E_NOMEM, "out of memory to compress");
	/* "does not fit" is the answer "does not pay" */
	n = ZSTD_compressCCtx(p->c, p->scratch, space, data, len, LEVEL);
	if (ZSTD_isError(n) || n >= len)
		return 0;
	memcpy(data, p->scratch, n);
	*packed = n;
	return 0;
}

int rj_unpack(const uint8_t *in, size_t len, uint8_t *out, size_t raw,
	struct rj_error *err)
{
	struct packer *p = get_packer();
	size_t n;

	if (!p)
		return rj_fail(err, RJ_E_NOMEM, "out of memory to expand");
	n = ZSTD_decompressDCtx(p->d, out, raw, in, len);
	if (ZSTD_isError(n) || n != raw)
		return rj_fail(err, RJ_E_CORRUPT,
			"its body does not expand to %zu bytes", raw);
	return 0;
}
