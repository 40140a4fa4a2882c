// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse /proc/self/mountinfo. */
#include "os/mountinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/loopdev.h"

/* Undo the kernel's \ooo for blanks and backslashes, in place. */
static void unescape(char *s)
{
	char *to = s;
	int i, value;

	while (*s) {
		value = 0;
		for (i = 1; *s == '\\' && i <= 3 && s[i] >= '0' && s[i] <= '7';
			i++)
			value = value * 8 + (s[i] - '0');
		if (*s == '\\' && i == 4) {
			*to++ = (char)value;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = 0;
}

struct line {
	char *number, *dir, *type, *source;
};

/* The fields of one line: "36 35 98:0 /root /dir options [tags] - type source
 * options". False if it is not such a line. */
static bool fields(char *text, struct line *out)
{
	char *save = NULL, *word = strtok_r(text, " ", &save);
	int i;

	for (i = 0; word && i < 4; i++) {
		word = strtok_r(NULL, " ", &save);
		if (i == 1)
			out->number = word;
	}
	out->dir = word;
	while (word && strcmp(word, "-") != 0)
		word = strtok_r(NULL, " ", &save);
	out->type = word ? strtok_r(NULL, " ", &save) : NULL;
	out->source = out->type ? strtok_r(NULL, " ", &save) : NULL;
	if (!out->source)
		return false;
	unescape(out->dir);
	unescape(out->source);
	return true;
}

#define OURS "/proc/self/mountinfo"

/* Calls FN for each mount of PATH, the last one last: it is on top. */
static void each(const char *path,
	void (*fn)(const struct line *l, void *arg), void *arg)
{
	FILE *file = fopen(path, "re");
	struct line l;
	char *line = NULL;
	size_t capacity = 0;

	if (!file)
		return;
	while (getline(&line, &capacity, file) != -1) {
		line[strcspn(line, "\n")] = 0;
		if (fields(line, &l))
			fn(&l, arg);
	}
	free(line);
	fclose(file);
}

/* What is looked for; NULL: any. */
struct wanted {
	const char *dir, *device;
	char *source;
	size_t size;
	bool found;
};

static void look(const struct line *l, void *arg)
{
	struct wanted *w = arg;

	if ((w->dir && strcmp(l->dir, w->dir) == 0) ||
		(w->device && strcmp(l->source, w->device) == 0)) {
		snprintf(w->source, w->size, "%s", l->source);
		w->found = true;
	}
}

static bool find(const char *dir, const char *device, char *source, size_t size)
{
	struct wanted w = {
		.dir = dir, .device = device, .source = source, .size = size};

	each(OURS, look, &w);
	return w.found;
}

bool rj_mountinfo_source(const char *dir, char *source, size_t size)
{
	char *real = realpath(dir, NULL);
	bool found = find(real ? real : dir, real ? real : dir, source, size);

	free(real);
	return found;
}

bool rj_mountinfo_mounted(const char *source)
{
	char same[4096];

	return find(NULL, source, same, sizeof(same));
}

/* Does the loop device NUMBER ("7:3") show the file IMAGE? */
static bool shows(const char *number, const char *image)
{
	char sys[96];

	snprintf(sys, sizeof(sys), "/sys/dev/block/%s", number);
	return rj_loop_shows(sys, image);
}

struct volume {
	struct stat st;
	char *image; /* NULL: a block device */
	char *dir;
	size_t size;
	dev_t *dev;
	bool found;
};

static void look_at_volume(const struct line *l, void *arg)
{
	struct volume *v = arg;
	unsigned major, minor;

	if ((strncmp(l->type, "ext", 3) != 0 && strcmp(l->type, "xfs") != 0) ||
		sscanf(l->number, "%u:%u", &major, &minor) != 2 ||
		(v->image ? !shows(l->number, v->image)
			  : makedev(major, minor) != v->st.st_rdev))
		return;
	snprintf(v->dir, v->size, "%s", l->dir);
	*v->dev = makedev(major, minor);
	v->found = true;
}

/* rj_mountinfo_of_volume(), by the mounts of PATH. */
static bool find_volume(const char *path, const char *volume, char *dir,
	size_t size, dev_t *dev)
{
	struct volume v = {.dir = dir, .size = size, .dev = dev};

	/* an image that was removed while a loop device shows it */
	if (stat(volume, &v.st)) {
		if (asprintf(&v.image, "%s (deleted)", volume) == -1)
			return false;
	} else if (!S_ISBLK(v.st.st_mode)) {
		v.image = realpath(volume, NULL);
	}
	if (S_ISBLK(v.st.st_mode) || v.image)
		each(path, look_at_volume, &v);
	free(v.image);
	return v.found;
}

bool rj_mountinfo_of_volume(
	const char *volume, char *dir, size_t size, dev_t *dev)
{
	return find_volume(OURS, volume, dir, size, dev);
}

bool rj_mountinfo_of_process(
	long pid, const char *volume, char *dir, size_t size)
{
	char path[64];
	dev_t dev;

	snprintf(path, sizeof(path), "/proc/%ld/mountinfo", pid);
	return find_volume(path, volume, dir, size, &dev);
}

bool rj_mountinfo_device_name(dev_t dev, char *name, size_t size)
{
	char path[96], link[256];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev),
		minor(dev));
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return false;
	link[n] = 0;
	slash = strrchr(link, '/');
	return (size_t)snprintf(name, size, "%s", slash ? slash + 1 : link) <
	       size;
}

bool rj_mountinfo_ext4_option(const char *name, const char *option)
{
	char path[96], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/fs/ext4/%.32s/options", name);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		found = !strcmp(line, option);
	}
	if (f)
		fclose(f);
	return found;
}
