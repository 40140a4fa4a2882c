// SPDX-License-Identifier: GPL-2.0-or-later
/* For LD_PRELOAD: a machine with pages of 64 KiB, as ppc64el and some kernels of arm64. */
#include <unistd.h>

int getpagesize(void)
{
	return 65536;
}
