// SPDX-License-Identifier: GPL-2.0-or-later
/* shutdown DIR: the ext4 mounted there stops at once, and writes nothing more:
 * EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define GOING_DOWN _IOR('X', 125, uint32_t)

int main(int argc, char **argv)
{
	uint32_t without_the_log = 2;
	int fd;

	if (argc != 2)
		return 2;
	fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, GOING_DOWN, &without_the_log)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
