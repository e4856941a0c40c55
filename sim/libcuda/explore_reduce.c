/* explore_reduce.c - a schedule that hangs, or faults, is cut down: to the shortest beginning that still does, then
 * switch by switch.
 *
 * Every trial is a run of its own: the switches that are left, and where they say nothing a warp runs until it waits.
 * Reads and writes a list of turns; stops in time with the shortest list so far.
 */
#include <stdlib.h>
#include <string.h>

#include "libcuda/explore.h"

/* So many turns are tried in all subsets. */
enum { FEW = 10 };

struct reduction {
    struct explore_launch *launch;
    const struct explore_record *wanted;
    uint64_t until_ns;
};

static bool is_over(const struct reduction *reduction)
{
    return explore_now_ns() >= reduction->until_ns || explore_must_end(reduction->launch);
}

static bool leads_there(const struct reduction *reduction, const struct wsdbg_schedule_switch *rows, size_t count,
                        const uint32_t *engine, size_t engine_count)
{
    const struct wsdbg_schedule_options schedule = {.kind = WSDBG_SCHEDULE_SWITCHES,
                                                    .switches = rows,
                                                    .switch_count = count,
                                                    .replay = engine,
                                                    .replay_count = engine_count};
    struct explore_record record;
    explore_say_progress(reduction->launch, "reduces %zu\n", count);
    return explore_try(reduction->launch, &schedule, reduction->until_ns, &record) &&
           record.outcome == reduction->wanted->outcome && record.driver_error == reduction->wanted->driver_error;
}

static bool turns_lead_there(const struct reduction *reduction, const struct explore_turns *turns, size_t count)
{
    return leads_there(reduction, turns->rows, count, turns->engine, turns->engine_count);
}

/* What engines did is part of a schedule too; mostly the usual does. */
static void drop_engine(const struct reduction *reduction, struct explore_turns *turns)
{
    if (leads_there(reduction, turns->rows, turns->count, NULL, 0))
        turns->engine_count = 0;
}

/* A beginning that leads there, while the one shorter by one does not. */
static void find_beginning(const struct reduction *reduction, struct explore_turns *turns)
{
    size_t low = 0, high = turns->count;
    if (turns_lead_there(reduction, turns, 0))
        high = 0;
    while (low + 1 < high && !is_over(reduction)) {
        const size_t middle = low + (high - low) / 2;
        if (turns_lead_there(reduction, turns, middle))
            high = middle;
        else
            low = middle;
    }
    turns->count = high;
}

/* Turns of the warp that had the one before are no switches. */
static void drop_own_turns(const struct reduction *reduction, struct explore_turns *turns)
{
    struct wsdbg_schedule_switch *rows = calloc(turns->count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; rows && i < turns->count; i++)
        if (turns->rows[i].from != turns->rows[i].to)
            rows[count++] = turns->rows[i];
    if (!rows || !leads_there(reduction, rows, count, turns->engine, turns->engine_count)) {
        free(rows);
        return;
    }
    free(turns->rows);
    turns->rows = rows;
    turns->count = count;
}

/* Drops [at, +count) if the rest leads there too. */
static bool drop(const struct reduction *reduction, struct explore_turns *turns, size_t at, size_t count)
{
    struct wsdbg_schedule_switch *rows = malloc((turns->count + 1) * sizeof *rows);
    if (!rows)
        return false;
    memcpy(rows, turns->rows, at * sizeof *rows);
    memcpy(rows + at, turns->rows + at + count, (turns->count - at - count) * sizeof *rows);
    const bool is_dropped = leads_there(reduction, rows, turns->count - count, turns->engine, turns->engine_count);
    if (is_dropped) {
        memcpy(turns->rows, rows, (turns->count - count) * sizeof *rows);
        turns->count -= count;
    }
    free(rows);
    return is_dropped;
}

/* From the end: what comes later mostly goes with what is dropped there.  True when any was. */
static bool drop_pieces(const struct reduction *reduction, struct explore_turns *turns, size_t piece)
{
    bool any = false;
    for (size_t end = turns->count; end > 0 && !is_over(reduction);) {
        const size_t count = piece < end ? piece : end;
        any |= drop(reduction, turns, end - count, count);
        end -= count;
    }
    return any;
}

/* The fewest of few turns: subsets, small ones first. */
static void choose_fewest(const struct reduction *reduction, struct explore_turns *turns)
{
    const unsigned sets = 1u << turns->count;
    for (unsigned size = 0; size < turns->count; size++)
        for (unsigned set = 0; set < sets && !is_over(reduction); set++) {
            struct wsdbg_schedule_switch rows[FEW];
            size_t count = 0;
            if ((unsigned)__builtin_popcount(set) != size)
                continue;
            for (unsigned i = 0; i < turns->count; i++)
                if (set >> i & 1)
                    rows[count++] = turns->rows[i];
            if (!leads_there(reduction, rows, count, turns->engine, turns->engine_count))
                continue;
            memcpy(turns->rows, rows, count * sizeof *rows);
            turns->count = count;
            return;
        }
}

/* What engines decide is usual in pieces of the list, then one by one. */
static void make_engine_usual(const struct reduction *reduction, struct explore_turns *turns)
{
    uint32_t *engine = malloc((turns->engine_count + 1) * sizeof *engine);
    for (size_t piece = turns->engine_count; engine && piece > 0; piece /= 2)
        for (size_t at = 0; at < turns->engine_count && !is_over(reduction); at += piece) {
            const size_t count = turns->engine_count - at < piece ? turns->engine_count - at : piece;
            memcpy(engine, turns->engine, turns->engine_count * sizeof *engine);
            memset(engine + at, 0, count * sizeof *engine);
            if (memcmp(engine, turns->engine, turns->engine_count * sizeof *engine) != 0 &&
                leads_there(reduction, turns->rows, turns->count, engine, turns->engine_count))
                memcpy(turns->engine, engine, turns->engine_count * sizeof *engine);
        }
    free(engine);
    while (turns->engine_count && !turns->engine[turns->engine_count - 1])
        turns->engine_count--;
}

bool explore_reduce(struct explore_launch *launch, struct explore_turns *turns, const struct explore_record *wanted,
                    uint64_t until_ns)
{
    const struct reduction reduction = {launch, wanted, until_ns};
    if (!turns_lead_there(&reduction, turns, turns->count))
        return false;
    drop_engine(&reduction, turns);
    find_beginning(&reduction, turns);
    drop_own_turns(&reduction, turns);
    for (size_t piece = turns->count / 2; piece > 1 && !is_over(&reduction); piece /= 2)
        drop_pieces(&reduction, turns, piece);
    while (turns->count && !is_over(&reduction) &&
           (drop_pieces(&reduction, turns, 1) || drop_pieces(&reduction, turns, 2)))
        continue;
    if (turns->count <= FEW)
        choose_fewest(&reduction, turns);
    make_engine_usual(&reduction, turns);
    return true;
}
