/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJCTL_VOLUME_H
#define RJCTL_VOLUME_H

#include <stdint.h>

#include "ext4/volume.h"
#include "os/holder.h"
#include "util/error.h"
#include "util/uuid.h"

/* Is the journal remote? Damage to the extension does not prove that it is not. */
bool volume_is_remote(const struct rj_volume_facts *f);
/* Get the UUID of VOLUME: a device, an image, or the directory where a volume is
 * mounted. Errors name VOLUME. RJ_E_INVAL: also if its journal is not remote and no
 * daemon serves it. */
int volume_uuid(const char *volume, uint8_t uuid[RJ_UUID_BYTES],
	struct rj_error *err);

/* Call EACH for every volume that rjournald serves here, or served when it died. */
void volumes_here(void (*each)(void *arg, const uint8_t uuid[RJ_UUID_BYTES]),
	void *arg);
/* Fail as volumes_here() called nothing: RJ_E_NOTFOUND. Only root may look whether a daemon is
 * there. */
int volumes_none(struct rj_error *err);
/* Do rj_holder_find() for the volume UUID, which a daemon serves. */
bool volume_held(
	const uint8_t uuid[RJ_UUID_BYTES], struct rj_holder *out);

#endif
