/* switches.c - schedules as lists of switches: the turns that warps had are noted, and a given list is followed.
 *
 * Where the list says nothing a warp runs until it waits, and the next one by number goes on: so the switches that a
 * hang needs are all that a list has to hold.  A switch is known by the warp that gives way and how many instructions
 * that one had executed: taking others out of the list leaves it where it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "hopper/gpu.h"
#include "hopper/split.h"

/* As long as the longest turn of the schedules that are noted. */
enum { QUANTUM = 32 };
enum { STREAK_MOST = 1 << 20, KEPT_MOST = 1 << 22 };

/* The given switches of one warp: [next, end) are still to come. */
struct row {
    uint32_t from;
    size_t next, end;
};

struct hopper_switches {
    bool keeps;
    struct wsdbg_schedule_switch *given; /* by the warp that gives way, then in their order */
    struct row *rows;                    /* by warp */
    size_t row_count;
    struct wsdbg_schedule_switch *kept;
    size_t kept_count, kept_capacity;
    uint32_t *engine;
    size_t engine_count, engine_capacity;
    struct wsdbg_schedule_switch last; /* the warp that had the last turn, as `from` of the next switch */
    uint64_t begins;                   /* where the warp was before this turn */
    uint64_t streak;                   /* instructions since another warp ran */
};

/* ---- a given list ---- */

struct numbered {
    struct wsdbg_schedule_switch row;
    size_t number;
};

static int compare(const void *a, const void *b)
{
    const struct numbered *left = a, *right = b;
    if (left->row.from != right->row.from)
        return left->row.from < right->row.from ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

static struct wsdbg_error *sort(struct hopper_switches *switches, const struct wsdbg_schedule_switch *given,
                                size_t count)
{
    struct numbered *numbered = calloc(count + 1, sizeof *numbered);
    switches->given = calloc(count + 1, sizeof *switches->given);
    switches->rows = calloc(count + 1, sizeof *switches->rows);
    if (!numbered || !switches->given || !switches->rows) {
        free(numbered);
        return &wsdbg_error_no_memory;
    }
    for (size_t i = 0; i < count; i++)
        numbered[i] = (struct numbered){given[i], i};
    qsort(numbered, count, sizeof *numbered, compare);
    for (size_t i = 0; i < count; i++) {
        switches->given[i] = numbered[i].row;
        if (!i || numbered[i].row.from != numbered[i - 1].row.from)
            switches->rows[switches->row_count++] = (struct row){numbered[i].row.from, i, i};
        switches->rows[switches->row_count - 1].end = i + 1;
    }
    free(numbered);
    return NULL;
}

struct wsdbg_error *hopper_switches_create(const struct wsdbg_schedule_options *options, struct hopper_switches **out)
{
    struct hopper_switches *switches = calloc(1, sizeof *switches);
    if (!switches)
        return &wsdbg_error_no_memory;
    switches->keeps = options->keeps_switches;
    switches->last =
        (struct wsdbg_schedule_switch){.from = WSDBG_SCHEDULE_NOBODY, .instruction = WSDBG_PTX_NONE, .waits = true};
    struct wsdbg_error *error = sort(switches, options->switches, options->switch_count);
    if (error)
        hopper_switches_destroy(switches);
    else
        *out = switches;
    return error;
}

void hopper_switches_destroy(struct hopper_switches *switches)
{
    if (!switches)
        return;
    free(switches->given);
    free(switches->rows);
    free(switches->kept);
    free(switches->engine);
    free(switches);
}

static int compare_row(const void *key, const void *row)
{
    const uint32_t from = *(const uint32_t *)key, other = ((const struct row *)row)->from;
    return from < other ? -1 : from > other;
}

static struct row *find_row(const struct hopper_switches *switches, uint32_t from)
{
    struct row *row = bsearch(&from, switches->rows, switches->row_count, sizeof *row, compare_row);
    return row && row->next < row->end ? row : NULL;
}

/* ---- the next turn ---- */

static uint32_t number_of(const struct hopper_warp *warp)
{
    const struct hopper_cta *cta = warp->cta;
    const uint32_t *grid = cta->grid->launch.grid;
    const uint32_t at = cta->index[0] + grid[0] * (cta->index[1] + grid[1] * cta->index[2]);
    return at * cta->warp_count + warp->index;
}

/* Instructions that are behind it: how often it had to wait does not count. */
static uint64_t place_of(const struct hopper_warp *warp)
{
    return warp->instructions - warp->waits;
}

/* By number: the ready warp `from`, else the next behind it, else the first. */
static struct hopper_warp *find_ready(const struct wsdbg_gpu *gpu, uint32_t from)
{
    struct hopper_warp *next = NULL, *first = NULL;
    uint32_t next_number = 0, first_number = 0;
    for (size_t i = 0; i < gpu->ready_count; i++) {
        const uint32_t number = number_of(gpu->ready[i]);
        if (number >= from && (!next || number < next_number)) {
            next = gpu->ready[i];
            next_number = number;
        }
        if (!first || number < first_number) {
            first = gpu->ready[i];
            first_number = number;
        }
    }
    return next ? next : first;
}

/* The switch that is due now: the given one of the warp that had the last turn, if its place has come. */
static struct hopper_warp *take_switch(struct wsdbg_gpu *gpu)
{
    const struct hopper_switches *switches = gpu->switches;
    struct row *row = find_row(switches, switches->last.from);
    const struct wsdbg_schedule_switch *given = row ? &switches->given[row->next] : NULL;
    if (!row || given->at > switches->last.at || (given->waits && !switches->last.waits))
        return NULL;
    row->next++;
    struct hopper_warp *warp = find_ready(gpu, given->to);
    return number_of(warp) == given->to ? warp : NULL;
}

/* Up to its next switch. */
static uint32_t quantum_of(const struct hopper_switches *switches, const struct hopper_warp *warp)
{
    const struct row *row = find_row(switches, number_of(warp));
    const struct wsdbg_schedule_switch *given = row ? &switches->given[row->next] : NULL;
    const uint64_t place = place_of(warp);
    /* As it was noted: what waits may still have arrived somewhere.  That a warp waits is seen behind its last one. */
    if (given && given->begins == place && given->length)
        return given->length + given->waits;
    if (!given || given->waits || given->at >= place + QUANTUM)
        return QUANTUM;
    return given->at > place ? (uint32_t)(given->at - place) : 1;
}

struct hopper_warp *hopper_choose_by_switches(struct wsdbg_gpu *gpu, uint32_t *quantum)
{
    struct hopper_switches *switches = gpu->switches;
    struct hopper_warp *warp = take_switch(gpu);
    /* One that runs very long gives way, for it may wait for another in a loop that looks like work. */
    if (!warp && switches->streak < STREAK_MOST)
        warp = find_ready(gpu, switches->last.from == WSDBG_SCHEDULE_NOBODY ? 0 : switches->last.from);
    if (!warp)
        warp = find_ready(gpu, switches->last.from + 1);
    *quantum = quantum_of(switches, warp);
    return warp;
}

/* ---- what is noted ---- */

void hopper_turn_begins(struct wsdbg_gpu *gpu, const struct hopper_warp *warp)
{
    struct hopper_switches *switches = gpu->switches;
    struct wsdbg_schedule_switch turn = switches->last;
    turn.to = number_of(warp);
    switches->begins = place_of(warp);
    if (turn.to != turn.from)
        switches->streak = 0;
    if (switches->keeps && switches->kept_count < KEPT_MOST &&
        wsdbg_grow((void **)&switches->kept, &switches->kept_capacity, switches->kept_count + 1, sizeof turn))
        switches->kept[switches->kept_count++] = turn;
}

/* The warp's memory is still there. */
void hopper_turn_ends(struct wsdbg_gpu *gpu, const struct hopper_warp *warp, uint32_t executed)
{
    struct hopper_switches *switches = gpu->switches;
    switches->streak += executed;
    switches->last = (struct wsdbg_schedule_switch){.from = number_of(warp),
                                                    .at = place_of(warp),
                                                    .begins = switches->begins,
                                                    .length = executed,
                                                    .instruction = warp->stands,
                                                    .waits = warp->ready_at == WSDBG_PTX_NONE};
}

void hopper_keep_engine_decision(struct hopper_switches *switches, uint32_t decision)
{
    if (switches->keeps && switches->engine_count < KEPT_MOST &&
        wsdbg_grow((void **)&switches->engine, &switches->engine_capacity, switches->engine_count + 1, sizeof decision))
        switches->engine[switches->engine_count++] = decision;
}

const struct wsdbg_schedule_switch *wsdbg_gpu_switches(const struct wsdbg_gpu *gpu, size_t *count)
{
    *count = gpu->switches ? gpu->switches->kept_count : 0;
    return gpu->switches ? gpu->switches->kept : NULL;
}

const uint32_t *wsdbg_gpu_engine_decisions(const struct wsdbg_gpu *gpu, size_t *count)
{
    *count = gpu->switches ? gpu->switches->engine_count : 0;
    return gpu->switches ? gpu->switches->engine : NULL;
}
