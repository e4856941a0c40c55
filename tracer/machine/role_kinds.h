/* kinds of role.h - names of roles and mbarriers in kernels whose author gave none, from what warps do: the same words
 * whatever the evidence is.
 */
#ifndef WSDBG_MACHINE_ROLE_KINDS_H
#define WSDBG_MACHINE_ROLE_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "wsdbg/ring.h"

/* Warps of a group that show different ones: behind the values of enum wsdbg_role_kind. */
#define WSDBG_ROLE_KIND_UNCLEAR ((enum wsdbg_role_kind)(WSDBG_ROLE_KIND_STORES + 1))

enum wsdbg_barrier_use { WSDBG_USE_OTHER, WSDBG_USE_FULL, WSDBG_USE_EMPTY, WSDBG_USE_COUNT };

/* What one warp shows of its group. */
void wsdbg_role_kind_add(enum wsdbg_role_kind *group, enum wsdbg_role_kind shown);
/* Number `number` of `alike` groups with the kind of role; warps [first, first + count). */
void wsdbg_role_kind_name(enum wsdbg_role_kind role_kind, unsigned number, unsigned alike, unsigned first,
                          unsigned count, char *out, size_t room);
/* Of FULL and EMPTY. */
void wsdbg_use_name(enum wsdbg_barrier_use use, unsigned number, unsigned alike, char *out, size_t room);

#endif
