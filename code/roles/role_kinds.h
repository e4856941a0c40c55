/* role_kinds.h - which role a warp has by what it does, and the names of roles and mbarriers in kernels whose author
 * gave none.  The rules are the same whatever shows what a warp does: its machine code, its PTX or its events.
 *
 * A warp that issues bulk copies into shared memory is a producer, one that issues wgmma a consumer; one that does both
 * is neither.  A warp that only issues copies out of shared memory is an epilogue.  Four warps in a row are a group
 * with one role, unless it is known that some of them load and others compute.  Where some group loads, a
 * group that waits for the loaded data computes, with or without wgmma.
 */
#ifndef WSDBG_ROLES_ROLE_KINDS_H
#define WSDBG_ROLES_ROLE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wsdbg/ring.h"

/* Warps that do what belongs to different roles: behind the values of enum wsdbg_role_kind. */
#define WSDBG_ROLE_KIND_UNCLEAR ((enum wsdbg_role_kind)(WSDBG_ROLE_KIND_STORES + 1))

enum {
    WSDBG_ROLE_GROUP_WARPS = 4,
    WSDBG_ROLES_MAX = 32 /* of a module: masks of struct wsdbg_name have a bit for each */
};

/* Operations of a warp, see enum wsdbg_role_kind. */
struct wsdbg_role_operations {
    bool loads, computes, stores;
};

enum wsdbg_role_kind wsdbg_role_kind_of(struct wsdbg_role_operations operations);
/* What one warp shows of its group. */
void wsdbg_role_kind_add(enum wsdbg_role_kind *group, enum wsdbg_role_kind shown);

/* The groups of a kernel's warps, `count` of them, 64 at most.  A mask has a bit for each group. */
uint64_t wsdbg_role_groups_with(const enum wsdbg_role_kind *groups, size_t count, enum wsdbg_role_kind role_kind);
/* Makes the groups in `waiting`, which wait for loaded data, groups that compute: if some group loads, and nothing else
 * is known of them. */
void wsdbg_role_groups_compute(enum wsdbg_role_kind *groups, size_t count, uint64_t waiting);
/* The name of one group, with its number where several have its role; `first` to `last` are its warps in a CTA. */
void wsdbg_role_group_name(const enum wsdbg_role_kind *groups, size_t count, size_t group, uint32_t first,
                           uint32_t last, char *out, size_t room);
/* The last warp of a group of four, in a CTA of `warps` warps. */
static inline uint32_t wsdbg_role_group_last(size_t group, uint32_t warps)
{
    const uint32_t end = ((uint32_t)group + 1) * WSDBG_ROLE_GROUP_WARPS;
    return (end < warps ? end : warps > end - WSDBG_ROLE_GROUP_WARPS ? warps : end - WSDBG_ROLE_GROUP_WARPS + 1) - 1;
}

enum wsdbg_barrier_use { WSDBG_USE_OTHER, WSDBG_USE_FULL, WSDBG_USE_EMPTY, WSDBG_USE_COUNT };

/* The use of an mbarrier.  `brings`: bytes are expected or arrive on it.  `frees`: a loading group waits for it, and
 * others arrive on it. */
enum wsdbg_barrier_use wsdbg_barrier_use_of(bool brings, bool frees);
/* Of FULL and EMPTY: number `number` of `alike`. */
void wsdbg_use_name(enum wsdbg_barrier_use use, unsigned number, unsigned alike, char *out, size_t room);

#endif
