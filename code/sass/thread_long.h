/* thread_long.h - what an instruction of PTX makes of numbers of 64 bits.  Private to this room: part of thread_step.h.
 *
 * A PTX register of 64 bits has one number in a thread's state.  Its low half is kept as every register's word is; the
 * high half may be known beside it.
 */
#ifndef WSDBG_SASS_THREAD_LONG_H
#define WSDBG_SASS_THREAD_LONG_H

#include "sass/thread_operand.h"

/* The 64 bits that an instruction with is_long writes; false where they are not known. */
bool wsdbg_thread_long(const struct wsdbg_thread_reader *reader, uint64_t *out);
/* The outcome of a comparison of 64 bits (ISETP with is_long). */
enum wsdbg_truth wsdbg_thread_compares_long(const struct wsdbg_thread_reader *reader);

#endif
