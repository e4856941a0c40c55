/* threads.h - the control flow that some threads of a CTA can take: branches and guards that depend on the thread's
 * index, or on what the launch says, are decided.
 */
#ifndef WSDBG_SASS_THREADS_H
#define WSDBG_SASS_THREADS_H

#include "sass/access.h"

/* The graph of the same instructions for the `count` threads whose index in x begins at `first`: with 32 what a warp may
 * execute, with 1 what this thread must.  What is not decided stays as it was; what is never executed has the guard !PT.
 * y and z are not told apart.  The caller destroys *out; `graph` is not needed by it. */
struct wsdbg_error *wsdbg_graph_create_for_threads(const struct wsdbg_graph *graph,
                                                   const struct wsdbg_launch_values *launch, uint32_t first,
                                                   uint32_t count, struct wsdbg_graph **out);

#endif
