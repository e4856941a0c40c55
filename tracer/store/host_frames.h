/* host_frames.h - private to the room: columns of host_frame and of site_frame, which are the same. */
#ifndef WSDBG_STORE_HOST_FRAMES_H
#define WSDBG_STORE_HOST_FRAMES_H

#include "store/database.h"

/* Inserts a row: the stack's id, position, kind, function, file, line, module, offset_bytes, left_out. */
void wsdbg_write_frame(struct wsdbg_insert *insert, int64_t stack_id, uint32_t position,
                       const struct wsdbg_host_frame *frame);
/* Takes the columns from kind on. */
void wsdbg_read_frame(struct wsdbg_select *select, struct wsdbg_host_frame *out);

#endif
