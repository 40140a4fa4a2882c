/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes in bytes that the pipeline keeps to and that memory is reserved for. */
#ifndef RJ_JOURNALD_SEGMENT_SIZE_H
#define RJ_JOURNALD_SEGMENT_SIZE_H

/* Pending bytes that are shipped before a flush asks for them: keeps segments
 * well below RJ_SEG_MAX_BYTES and the last flush of a large commit short. */
#define RJ_PIPELINE_SHIP_BYTES (4u << 20)
/* The largest single write of the kernel. */
#define RJ_PIPELINE_WRITE_BYTES (1u << 20)
/* The least that may wait and is shipped as a segment of its own while the
 * kernel writes the rest. */
#define RJ_PIPELINE_EARLY_BYTES (256u << 10)

#endif
