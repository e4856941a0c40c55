/* threads.h - the control flow that some threads of a CTA can take: branches and guards that depend on the thread's
 * index, or on what the launch says, are decided.
 */
#ifndef WSDBG_SASS_THREADS_H
#define WSDBG_SASS_THREADS_H

#include "sass/trace.h"

/* The graph of the same instructions for the `count` threads whose index in x begins at `first`: with 32 what a warp
 * may execute, with 1 what this thread must.  What is not decided stays as it was; what is never executed has the guard
 * !PT. y and z are not told apart.  The caller destroys *out; `graph` is not needed by it. */
struct wsdbg_error *wsdbg_graph_create_for_threads(const struct wsdbg_graph *graph,
                                                   const struct wsdbg_launch_values *launch, uint32_t first,
                                                   uint32_t count, struct wsdbg_graph **out);

/* The same for the threads that a trace is turned to: cheaper where several are asked for. */
struct wsdbg_error *wsdbg_graph_create_traced(struct wsdbg_trace *trace, struct wsdbg_graph **out);

/* May some of the threads that a trace is turned to execute instructions[i]?  Fills may[i], by the conditions that must
 * have held on the way there: false is certain, true is not.  Cheaper than the graph of the threads. */
struct wsdbg_error *wsdbg_threads_may_execute(struct wsdbg_trace *trace, const uint32_t *instructions,
                                              size_t instruction_count, bool *may);

/* The same for each warp of a CTA, at the instructions of accesses: comers[i] gets a bit for each of the first
 * `warp_count` warps, 64 at most, that may come to access i.  launch->guards may be NULL, and is not used. */
struct wsdbg_error *wsdbg_threads_comers(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                         const struct wsdbg_access *accesses, size_t access_count, uint32_t warp_count,
                                         uint64_t *comers);

/* The instructions whose guard may come out differently for other threads, or for another size of the CTA: the others
 * need not be asked of every warp (launch->guards).  The caller frees *out. */
struct wsdbg_error *wsdbg_threads_guards(const struct wsdbg_graph *graph, uint64_t **out);

#endif
