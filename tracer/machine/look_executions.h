/* look_executions.h - how often a warp has executed the accesses of its kernel, by the indices of its threads; private
 * to this room.
 */
#ifndef WSDBG_MACHINE_LOOK_EXECUTIONS_H
#define WSDBG_MACHINE_LOOK_EXECUTIONS_H

#include "machine/look.h"

struct wsdbg_look_executions;

/* Keeps what it is given; the caller destroys it before that. */
struct wsdbg_error *wsdbg_look_executions_create(const struct wsdbg_look_source *source,
                                                 const struct wsdbg_look_seen *seen, const uint32_t *deciding,
                                                 const uint32_t *access_first, struct wsdbg_look_tables *tables,
                                                 struct wsdbg_look_executions **out);
/* Corrects the warp's rows of snapshot.reaches, which are the last ones, from `first` on; adds those of a warp that has
 * left.  Nothing where no barrier of its CTA needs it. */
struct wsdbg_error *wsdbg_look_count_executions(struct wsdbg_look_executions *executions, uint32_t warp, size_t first);
void wsdbg_look_executions_destroy(struct wsdbg_look_executions *executions); /* NULL is fine */

#endif
