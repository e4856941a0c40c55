/* thread_compare.h - what a comparison, or a table of predicates, gives in one thread.  Private to this room: part of
 * thread_step.h.
 */
#ifndef WSDBG_SASS_THREAD_COMPARE_H
#define WSDBG_SASS_THREAD_COMPARE_H

#include "sass/thread_operand.h"

/* The predicate that ISETP writes: of two words, or with is_long of two numbers of 64 bits. */
enum wsdbg_truth wsdbg_thread_compare_words(const struct wsdbg_thread_reader *reader);
enum wsdbg_truth wsdbg_thread_compare_long(const struct wsdbg_thread_reader *reader);
/* The predicate that FSETP writes. */
enum wsdbg_truth wsdbg_thread_compare_floats(const struct wsdbg_thread_reader *reader);
/* The predicate that PLOP3 makes of three by its table. */
enum wsdbg_truth wsdbg_thread_combine(const struct wsdbg_thread_reader *reader);

#endif
