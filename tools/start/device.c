// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/start/device.h"

#include <blkid/blkid.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ext4/journal.h"

static bool is_tag(const char *name)
{
	return !strcmp(name, "UUID") || !strcmp(name, "LABEL") || !strcmp(name, "PARTUUID") ||
	       !strcmp(name, "PARTLABEL");
}

static bool is_part(const char *path)
{
	struct stat st;

	return !stat(path, &st) && rj_device_is_part(st.st_rdev);
}

/* A path that is valid until the program ends. */
struct found {
	struct found *next;
	char path[];
};

/* Keep PATH. NULL: out of memory. */
static const char *keep(const char *path)
{
	static struct found *all;
	size_t size = strlen(path) + 1;
	struct found *f = malloc(sizeof(*f) + size);

	if (!f)
		return NULL;
	memcpy(f->path, path, size);
	f->next = all;
	all = f;
	return f->path;
}

/* Find the devices with that tag: *OUT and *SECOND get the first two; NULL: there is none. */
static int search(const char *name, const char *value, const char **out, const char **second)
{
	blkid_dev_iterate it;
	blkid_cache cache = NULL;
	blkid_dev dev;
	int rc = 0;

	/* the devices themselves, and no file that may be old */
	if (blkid_get_cache(&cache, "/dev/null") < 0)
		return -RJ_E_NOMEM;
	blkid_probe_all(cache);
	it = blkid_dev_iterate_begin(cache);
	blkid_dev_set_search(it, name, value);
	while (!rc && !*second && !blkid_dev_next(it, &dev)) {
		const char *path = blkid_dev_devname(dev);
		const char **to = *out ? second : out;

		if (!is_part(path) && !(*to = keep(path)))
			rc = -RJ_E_NOMEM;
	}
	blkid_dev_iterate_end(it);
	blkid_put_cache(cache);
	return rc;
}

int tool_device(const char *word, const char **out, struct rj_error *err)
{
	char *name = NULL, *value = NULL;
	const char *first = NULL, *second = NULL;
	int rc = 0;

	*out = word;
	if (blkid_parse_tag_string(word, &name, &value) || !is_tag(name))
		goto out;
	rc = search(name, value, &first, &second);
	if (rc)
		rj_fail(err, RJ_E_NOMEM, "out of memory");
	else if (!first)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: no block device has it", word);
	else if (second)
		rc = rj_fail(err, RJ_E_INVAL,
			"%s: %s has it, and so has %s: name the one that is meant by its path",
			word, first, second);
	if (!rc)
		*out = first;
out:
	free(name);
	free(value);
	return rc;
}
