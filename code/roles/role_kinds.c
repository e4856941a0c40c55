/* role_kinds.c - see role_kinds.h.
 *
 * Reads: what warps do.  Writes: kinds of roles, names.
 */
#include "roles/role_kinds.h"

#include <stdio.h>

enum wsdbg_role_kind wsdbg_role_kind_of(struct wsdbg_role_operations operations)
{
    if (operations.loads && operations.computes)
        return WSDBG_ROLE_KIND_UNCLEAR;
    return operations.loads      ? WSDBG_ROLE_KIND_LOADS
           : operations.computes ? WSDBG_ROLE_KIND_COMPUTES
           : operations.stores   ? WSDBG_ROLE_KIND_STORES
                                 : WSDBG_ROLE_KIND_NONE;
}

void wsdbg_role_kind_add(enum wsdbg_role_kind *group, enum wsdbg_role_kind shown)
{
    if (shown == WSDBG_ROLE_KIND_NONE || shown == *group ||
        (shown == WSDBG_ROLE_KIND_UNCLEAR && *group != WSDBG_ROLE_KIND_NONE))
        return;
    const bool first = *group == WSDBG_ROLE_KIND_NONE || *group == WSDBG_ROLE_KIND_UNCLEAR;
    /* A group that loads or computes stores in passing. */
    if (first || *group == WSDBG_ROLE_KIND_STORES)
        *group = shown;
    else if (shown != WSDBG_ROLE_KIND_STORES)
        *group = WSDBG_ROLE_KIND_UNCLEAR;
}

uint64_t wsdbg_role_groups_with(const enum wsdbg_role_kind *groups, size_t count, enum wsdbg_role_kind role_kind)
{
    uint64_t with = 0;
    for (size_t g = 0; g < count; g++)
        with |= (uint64_t)(groups[g] == role_kind) << g;
    return with;
}

void wsdbg_role_groups_compute(enum wsdbg_role_kind *groups, size_t count, uint64_t waiting)
{
    if (!wsdbg_role_groups_with(groups, count, WSDBG_ROLE_KIND_LOADS))
        return;
    for (size_t g = 0; g < count; g++)
        if (groups[g] == WSDBG_ROLE_KIND_NONE && waiting >> g & 1)
            groups[g] = WSDBG_ROLE_KIND_COMPUTES;
}

static void write_number(const char *word, unsigned number, unsigned alike, char *out, size_t room)
{
    if (alike > 1)
        snprintf(out, room, "%s %u", word, number);
    else
        snprintf(out, room, "%s", word);
}

void wsdbg_role_group_name(const enum wsdbg_role_kind *groups, size_t count, size_t group, uint32_t first,
                           uint32_t last, char *out, size_t room)
{
    static const char *const words[] = {[WSDBG_ROLE_KIND_LOADS] = "producer",
                                        [WSDBG_ROLE_KIND_COMPUTES] = "consumer",
                                        [WSDBG_ROLE_KIND_STORES] = "epilogue"};
    const enum wsdbg_role_kind role_kind = groups[group];
    const uint64_t alike = wsdbg_role_groups_with(groups, count, role_kind);
    const uint64_t before = alike & (((uint64_t)1 << group) - 1);
    if (role_kind != WSDBG_ROLE_KIND_NONE && role_kind != WSDBG_ROLE_KIND_UNCLEAR)
        write_number(words[role_kind], (unsigned)__builtin_popcountll(before), (unsigned)__builtin_popcountll(alike),
                     out, room);
    else if (first == last)
        snprintf(out, room, "warp %u", first);
    else
        snprintf(out, room, "warps %u-%u", first, last);
}

enum wsdbg_barrier_use wsdbg_barrier_use_of(bool brings, bool frees)
{
    return brings ? WSDBG_USE_FULL : frees ? WSDBG_USE_EMPTY : WSDBG_USE_OTHER;
}

void wsdbg_use_name(enum wsdbg_barrier_use use, unsigned number, unsigned alike, char *out, size_t room)
{
    write_number(use == WSDBG_USE_FULL ? "full" : "empty", number, alike, out, room);
}
