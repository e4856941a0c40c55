/* stack_rows.h - Python and native frames of threads, put together as one stack, in the snapshot's rows. */
#ifndef WSDBG_HOST_STACK_ROWS_H
#define WSDBG_HOST_STACK_ROWS_H

#include "host/native_names.h"
#include "host/thread_read.h"

/* Native frames that have no name yet. */
struct wsdbg_host_unnamed;

/* rows: gets stacks and frames; it outlives the result. */
struct wsdbg_error *wsdbg_host_unnamed_create(struct wsdbg_snapshot *rows, struct wsdbg_host_unnamed **out);
void wsdbg_host_unnamed_destroy(struct wsdbg_host_unnamed *unnamed);

/* Adds the thread's stack, which belongs to the last row of host_processes.  python: NULL = there is no interpreter. */
struct wsdbg_error *wsdbg_host_stack_add(struct wsdbg_host_unnamed *unnamed, const struct wsdbg_host_reader *reader,
                                         uint32_t thread_id, const struct wsdbg_host_thread_picture *picture);
/* Names the native frames that were added: each library's symbols are read once.  inlines: as in wsdbg_native_name().
 */
void wsdbg_host_stacks_name(struct wsdbg_host_unnamed *unnamed, const struct wsdbg_host_reader *reader,
                            struct wsdbg_native_inlines *inlines);

#endif
