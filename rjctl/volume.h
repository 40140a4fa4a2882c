/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJCTL_VOLUME_H
#define RJCTL_VOLUME_H

#include <stdint.h>

#include "os/holder.h"
#include "util/error.h"
#include "util/uuid.h"

/* The UUID of VOLUME: a device, an image, or the directory where a volume is
 * mounted. Errors name VOLUME. */
int volume_uuid(const char *volume, uint8_t uuid[RJ_UUID_BYTES],
	struct rj_error *err);

/* Call EACH for every volume that rjournald serves here, or served when it died. */
void volumes_here(void (*each)(void *arg, const uint8_t uuid[RJ_UUID_BYTES]),
	void *arg);
/* rj_holder_find() for the volume UUID, which a daemon serves. */
bool volume_held(
	const uint8_t uuid[RJ_UUID_BYTES], struct rj_holder *out);

#endif
