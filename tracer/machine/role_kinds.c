/* kinds of role.c - see kinds of role.h. */
#include "machine/role_kinds.h"

#include <stdio.h>

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

static void write_number(const char *word, unsigned number, unsigned alike, char *out, size_t room)
{
    if (alike > 1)
        snprintf(out, room, "%s %u", word, number);
    else
        snprintf(out, room, "%s", word);
}

void wsdbg_role_kind_name(enum wsdbg_role_kind role_kind, unsigned number, unsigned alike, unsigned first,
                          unsigned count, char *out, size_t room)
{
    static const char *const words[] = {[WSDBG_ROLE_KIND_LOADS] = "producer",
                                        [WSDBG_ROLE_KIND_COMPUTES] = "consumer",
                                        [WSDBG_ROLE_KIND_STORES] = "epilogue"};
    if (role_kind != WSDBG_ROLE_KIND_NONE && role_kind != WSDBG_ROLE_KIND_UNCLEAR)
        write_number(words[role_kind], number, alike, out, room);
    else if (count == 1)
        snprintf(out, room, "warp %u", first);
    else
        snprintf(out, room, "warps %u-%u", first, first + count - 1);
}

void wsdbg_use_name(enum wsdbg_barrier_use use, unsigned number, unsigned alike, char *out, size_t room)
{
    write_number(use == WSDBG_USE_FULL ? "full" : "empty", number, alike, out, room);
}
