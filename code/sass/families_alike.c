/* families_alike.c - see families_alike.h.
 *
 * A loop that is unrolled four times over a ring of six takes every second stage at each of its places.  Or an access
 * begins in the middle of a ring, since nobody knows how far down another one goes.  The variable of the source then
 * says that the parts may be one ring, and who uses them that they are: full and empty barriers of one variable have
 * other users.  Single barriers are not joined: two that follow each other may each be used once.
 */
#include "sass/families_alike.h"

#include <string.h>

enum { MBARRIER_BYTES = 8, STAGES_MAX = 64 };

/* Who comes to mbarriers, a bit for each warp; nobody where that is not known. */
struct users {
    uint64_t waiting, signalling;
};

#define BRINGING                                                                      \
    ((uint64_t)1 << WSDBG_ACCESS_ARRIVE_EXPECT | (uint64_t)1 << WSDBG_ACCESS_EXPECT | \
     (uint64_t)1 << WSDBG_ACCESS_COMPLETE | (uint64_t)1 << WSDBG_ACCESS_COPY)

struct joining {
    const struct wsdbg_families_source *source;
    uint32_t (*expected)(void *context, uint32_t offset);
    void *context;
    struct wsdbg_families *families;
};

/* Whether an access begins in the row. */
static bool begins_in(const struct wsdbg_access *access, uint32_t first, uint32_t stride, uint32_t places)
{
    const uint32_t base = (uint32_t)access->address.base & WSDBG_OFFSET_MASK;
    return access->address.known && base >= first && (base - first) % stride == 0 && (base - first) / stride < places;
}

static struct users users_of(const struct wsdbg_families_source *source, uint32_t first, uint32_t stride,
                             uint32_t places)
{
    struct users users = {0};
    for (size_t i = 0; source->comers && i < source->access_count; i++) {
        const struct wsdbg_access *access = &source->accesses[i];
        if (!begins_in(access, first, stride, places))
            continue;
        if (access->kind == WSDBG_ACCESS_WAIT)
            users.waiting |= source->comers[i];
        else if (access->kind > WSDBG_ACCESS_WAIT && access->kind < WSDBG_ACCESS_INVALIDATE)
            users.signalling |= source->comers[i];
    }
    return users;
}

static bool are_same(struct users one, struct users other)
{
    return one.waiting == other.waiting && one.signalling == other.signalling;
}

/* Other warps signal than wait. */
static bool have_direction(struct users users)
{
    return users.waiting && users.signalling && users.waiting != users.signalling;
}

bool wsdbg_family_turns_round(const struct wsdbg_families_source *source, const struct wsdbg_family *family,
                              uint32_t offset)
{
    if (!source->comers || family->places < 2)
        return false;
    const uint32_t last = offset - MBARRIER_BYTES;
    const struct users before = users_of(source, last, MBARRIER_BYTES, 1),
                       from = users_of(source, offset, MBARRIER_BYTES, 1);
    return have_direction(before) && before.waiting == from.signalling && before.signalling == from.waiting &&
           are_same(before, users_of(source, last - MBARRIER_BYTES, MBARRIER_BYTES, 1)) &&
           are_same(from, users_of(source, offset + MBARRIER_BYTES, MBARRIER_BYTES, 1));
}

static const struct wsdbg_shared_variable *variable_of(const struct joining *joining, uint32_t offset)
{
    for (size_t i = 0; i < joining->source->variable_count; i++) {
        const struct wsdbg_shared_variable *variable = &joining->source->variables[i];
        if (offset >= variable->first && offset - variable->first < variable->byte_count)
            return variable;
    }
    return NULL;
}

/* Both are walked, lie in one variable and expect the same number of arrivals; the same warps wait for them, and the
 * same, but others, signal them. */
static bool are_alike(const struct joining *joining, const struct wsdbg_family *one, const struct wsdbg_family *other)
{
    const struct users a = users_of(joining->source, one->first, one->stride, one->places),
                       b = users_of(joining->source, other->first, other->stride, other->places);
    const struct wsdbg_shared_variable *variable = variable_of(joining, one->first);
    const uint32_t expected = joining->expected(joining->context, one->first);
    return one->walked && other->walked && variable && variable == variable_of(joining, other->first) && expected &&
           joining->expected(joining->context, other->first) == expected && have_direction(a) && are_same(a, b) &&
           !(one->uses & BRINGING) == !(other->uses & BRINGING);
}

static void drop(struct wsdbg_families *families, size_t at)
{
    memmove(&families->rows[at], &families->rows[at + 1], (families->count - at - 1) * sizeof *families->rows);
    families->count--;
}

/* The `lines` families from `at` on take turns: each has the same stride, and begins one mbarrier behind the last. */
static bool take_turns(const struct joining *joining, size_t at, uint32_t lines)
{
    const struct wsdbg_family *first = &joining->families->rows[at];
    if (lines < 2 || lines > joining->families->count - at || first->places < 2 || first->places * lines > STAGES_MAX)
        return false;
    for (uint32_t i = 1; i < lines; i++) {
        const struct wsdbg_family *row = &first[i];
        if (row->stride != first->stride || row->first != first->first + i * MBARRIER_BYTES ||
            row->places != first->places || !are_alike(joining, first, row))
            return false;
    }
    return true;
}

static void join_turns(const struct joining *joining, size_t at)
{
    struct wsdbg_family *first = &joining->families->rows[at];
    const uint32_t lines = first->stride / MBARRIER_BYTES;
    if (first->stride % MBARRIER_BYTES || !take_turns(joining, at, lines))
        return;
    for (uint32_t i = 1; i < lines; i++)
        first->uses |= first[i].uses;
    first->stride = MBARRIER_BYTES;
    first->places *= lines;
    for (uint32_t i = 1; i < lines; i++)
        drop(joining->families, at + 1);
}

/* The next family goes on where this one ends. */
static bool goes_on(const struct joining *joining, size_t at)
{
    const struct wsdbg_family *family = &joining->families->rows[at];
    return at + 1 < joining->families->count && family->stride == family[1].stride &&
           family->first + family->places * family->stride == family[1].first &&
           family->places + family[1].places <= STAGES_MAX && are_alike(joining, family, &family[1]);
}

void wsdbg_families_join_alike(const struct wsdbg_families_source *source,
                               uint32_t (*expected)(void *context, uint32_t offset), void *context,
                               struct wsdbg_families *families)
{
    const struct joining joining = {source, expected, context, families};
    for (size_t i = 0; i < families->count; i++)
        join_turns(&joining, i);
    for (size_t i = 0; i < families->count; i++)
        while (goes_on(&joining, i)) {
            families->rows[i].uses |= families->rows[i + 1].uses;
            families->rows[i].places += families->rows[i + 1].places;
            drop(families, i + 1);
        }
}
