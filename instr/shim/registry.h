/* registry.h - rows of the segment.
 *
 * Free of driver types, so that the CUPTI observer can include it.  Every function is safe from any thread; those that
 * append to a table want the lock.
 */
#ifndef WSDBG_SHIM_REGISTRY_H
#define WSDBG_SHIM_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/session.h"

/* The caller's copy of the row is published at the next index; WSDBG_UNKNOWN32 when the table is full. */
uint32_t registry_add_context(const struct wsdbg_context_row *row);
uint32_t registry_add_module(const struct wsdbg_module_row *row);
/* An equal (handle, module) pair is found again instead. */
uint32_t registry_add_function(const struct wsdbg_function_row *row);
/* Rows [*first, *first + return) of the name table hold `names`. */
uint32_t registry_add_names(const struct wsdbg_name *names, uint32_t count, uint32_t *first);
/* Takes a row of a ring for writing; its sequence is then stored last, with release.  False: another thread is still
 * writing it, or a later entry has it. */
bool registry_claim_row(uint64_t *sequence, uint64_t entry);
/* Records a launch before it happens (result pending); returns its entry number, UINT64_MAX when lost. */
uint64_t registry_launch_begin(const struct wsdbg_launch_row *row);
/* The entry that this thread's next launch will get if it is as far behind its last one as that was behind the one
 * before: other threads launch too. */
uint64_t registry_next_launch(void);
void registry_launch_end(uint64_t entry, int result);
/* Marks this thread as inside `call` (a string that lives for ever). */
void registry_thread_enter(const char *call, uint32_t context, uint64_t stream, uint64_t now_ns);
void registry_thread_leave(void);
/* True while some thread has been inside a launch since before `since_ns`: the context's queue is full. */
bool registry_launch_is_blocked(uint64_t since_ns);
/* One finished piece of GPU work. */
void registry_add_activity(const struct wsdbg_activity_row *row);
/* Row of the first function of that name, WSDBG_UNKNOWN32. */
uint32_t registry_find_function(const char *name);

#endif
