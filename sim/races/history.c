/* history.c - see history.h: two tables with open addressing over rows that only grow.
 *
 * An instruction touches many places with the same history, and loops touch them again.  So the last answers are kept,
 * in two small hash tables.
 */
#include "races/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { SLOTS_FIRST = 1024, RECENT = 256, ANSWERS = 4096 };

struct reads {
    uint32_t first, count; /* in members */
};
struct slots {
    uint32_t *numbers; /* 0 = free */
    size_t capacity;   /* a power of 2 */
};
/* What race_history_add_read answered for `set` and such a read, when the reader's clock had this version. */
struct answer {
    uint32_t set, component, time, flags, version, result; /* component 0: none */
};
struct race_history {
    struct race_access *accesses; /* row 0 is none */
    size_t access_count, access_capacity;
    struct reads *sets; /* row 0 is empty */
    size_t set_count, set_capacity;
    uint32_t *members;
    size_t member_count, member_capacity;
    struct slots access_slots, set_slots;
    uint32_t recent[RECENT]; /* accesses */
    struct answer *answers;
};

static size_t mix(size_t hash, uint32_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static size_t hash_access(const struct race_access *access)
{
    return mix(mix(mix(mix(mix(0, access->component), access->time), access->site), access->agent), access->flags);
}

static size_t hash_set(const uint32_t *members, uint32_t count)
{
    size_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = mix(hash, members[i]);
    return hash;
}

static size_t hash_row(const struct race_history *history, bool is_set, uint32_t number)
{
    if (!is_set)
        return hash_access(&history->accesses[number]);
    return hash_set(history->members + history->sets[number].first, history->sets[number].count);
}

/* Room for one more of `count`. */
static bool grow_slots(struct race_history *history, struct slots *slots, bool is_set, size_t count)
{
    if (2 * (count + 1) < slots->capacity)
        return true;
    struct slots larger = {.capacity = slots->capacity ? 2 * slots->capacity : SLOTS_FIRST};
    larger.numbers = calloc(larger.capacity, sizeof *larger.numbers);
    if (!larger.numbers)
        return false;
    for (uint32_t number = 1; number < count; number++) {
        size_t i = hash_row(history, is_set, number) & (larger.capacity - 1);
        while (larger.numbers[i])
            i = (i + 1) & (larger.capacity - 1);
        larger.numbers[i] = number;
    }
    free(slots->numbers);
    *slots = larger;
    return true;
}

struct race_history *race_history_create(void)
{
    struct race_history *const history = calloc(1, sizeof *history);
    if (!history)
        return NULL;
    history->access_count = history->set_count = 1;
    history->answers = calloc(ANSWERS, sizeof *history->answers);
    if (history->answers &&
        wsdbg_grow((void **)&history->accesses, &history->access_capacity, 1, sizeof *history->accesses) &&
        wsdbg_grow((void **)&history->sets, &history->set_capacity, 1, sizeof *history->sets)) {
        history->accesses[0] = (struct race_access){0};
        history->sets[0] = (struct reads){0};
        return history;
    }
    race_history_destroy(history);
    return NULL;
}

void race_history_destroy(struct race_history *history)
{
    if (!history)
        return;
    free(history->accesses);
    free(history->sets);
    free(history->members);
    free(history->access_slots.numbers);
    free(history->set_slots.numbers);
    free(history->answers);
    free(history);
}

const struct race_access *race_history_access(const struct race_history *history, uint32_t number)
{
    return &history->accesses[number];
}

size_t race_history_size(const struct race_history *history)
{
    return history->access_count;
}

static bool is_same(const struct race_access *a, const struct race_access *b)
{
    return a->component == b->component && a->time == b->time && a->site == b->site && a->agent == b->agent &&
           a->flags == b->flags;
}

static uint32_t find_or_add_access(struct race_history *history, const struct race_access *access)
{
    struct slots *const slots = &history->access_slots;
    if (!grow_slots(history, slots, false, history->access_count) ||
        !wsdbg_grow((void **)&history->accesses, &history->access_capacity, history->access_count + 1,
                    sizeof *history->accesses))
        return 0;
    size_t i = hash_access(access) & (slots->capacity - 1);
    for (; slots->numbers[i]; i = (i + 1) & (slots->capacity - 1))
        if (is_same(&history->accesses[slots->numbers[i]], access))
            return slots->numbers[i];
    slots->numbers[i] = (uint32_t)history->access_count;
    history->accesses[history->access_count] = *access;
    return (uint32_t)history->access_count++;
}

uint32_t race_history_add(struct race_history *history, const struct race_access *access)
{
    uint32_t *const recent = &history->recent[(access->site ^ access->component * 31) % RECENT];
    if (!*recent || !is_same(&history->accesses[*recent], access))
        *recent = find_or_add_access(history, access);
    return *recent;
}

const uint32_t *race_history_reads(const struct race_history *history, uint32_t set, uint32_t *count)
{
    *count = history->sets[set].count;
    return history->members + history->sets[set].first;
}

static uint32_t find_or_add_set(struct race_history *history, const uint32_t *members, uint32_t count)
{
    struct slots *const slots = &history->set_slots;
    if (!grow_slots(history, slots, true, history->set_count) ||
        !wsdbg_grow((void **)&history->sets, &history->set_capacity, history->set_count + 1, sizeof *history->sets) ||
        !wsdbg_grow((void **)&history->members, &history->member_capacity, history->member_count + count,
                    sizeof *history->members))
        return 0;
    size_t i = hash_set(members, count) & (slots->capacity - 1);
    for (; slots->numbers[i]; i = (i + 1) & (slots->capacity - 1)) {
        const struct reads *const known = &history->sets[slots->numbers[i]];
        if (known->count == count && memcmp(history->members + known->first, members, count * sizeof *members) == 0)
            return slots->numbers[i];
    }
    slots->numbers[i] = (uint32_t)history->set_count;
    history->sets[history->set_count] = (struct reads){(uint32_t)history->member_count, count};
    memcpy(history->members + history->member_count, members, count * sizeof *members);
    history->member_count += count;
    return (uint32_t)history->set_count++;
}

/* Whether an access that is ordered behind `own` is ordered behind `other`, too.  Behind a read by threads it is ordered
 * behind all that their warp knew then; behind an asynchronous read only behind earlier ones of the same component. */
static bool follows(const struct race_access *own, const struct race_access *other, const struct race_clock *seen)
{
    return (other->component == own->component && other->time <= own->time) ||
           (!(own->component >> RACE_BLOCK_SHIFT & 1) && other->time <= race_clock_time(seen, other->component));
}

static uint32_t with_read(struct race_history *history, uint32_t set, const struct race_access *own,
                          const struct race_clock *seen)
{
    uint32_t members[RACE_READS_MOST], count = 0, known;
    const uint32_t *const before = race_history_reads(history, set, &known);
    for (uint32_t i = 0; i < known; i++) {
        const struct race_access *const other = &history->accesses[before[i]];
        if (other->component == own->component && other->time == own->time && other->flags == own->flags)
            return set; /* no later access can tell the two apart */
        if (!follows(own, other, seen))
            members[count++] = before[i];
    }
    if (count == RACE_READS_MOST || !(members[count++] = race_history_add(history, own)))
        return set;
    return find_or_add_set(history, members, count);
}

uint32_t race_history_add_read(struct race_history *history, uint32_t set, const struct race_access *read,
                               const struct race_clock *seen)
{
    struct answer *const answer = &history->answers[mix(mix(0, set), read->component) % ANSWERS];
    if (answer->component != read->component || answer->set != set || answer->version != seen->version ||
        answer->time != read->time || answer->flags != read->flags)
        *answer = (struct answer){set,         read->component, read->time,
                                  read->flags, seen->version,   with_read(history, set, read, seen)};
    return answer->result;
}
