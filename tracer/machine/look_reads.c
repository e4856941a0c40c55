/* look_reads.c - which warps' registers are read: one of each state that can be told apart without them, then the rest
 * of those CTAs, then what the time allows; a warp that was not read is taken to be as one in the same state.
 *
 * Reads: registers; the mbarrier words of every CTA tell states apart.  Writes: operands of the parts, excerpts of
 * words.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "machine/look.h"

/* A warp on the way to being read. */
struct turn_of_warp {
    bool needs_registers, asked;
    bool leads; /* the first one of its state */
};

struct reading {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    const struct wsdbg_words *words;
    struct wsdbg_look_tables *tables;
    struct wsdbg_snapshot *out;
    struct wsdbg_look_operands *operands;
    struct turn_of_warp *warps;
    bool *is_cta_read; /* some warp of it was */
    struct wsdbg_look_loops loops;
};

uint64_t wsdbg_look_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What is no mbarrier between them may differ from CTA to CTA without a reason that matters. */
static uint64_t hash_of_words(const struct wsdbg_words *words)
{
    uint64_t hash = words->count;
    for (size_t i = 0; i < words->count; i++)
        if (words->rows[i].known && wsdbg_mbarrier_word(words->rows[i].value).is_valid)
            hash = wsdbg_mix(wsdbg_mix(hash, words->rows[i].offset), words->rows[i].value);
    return hash;
}

/* Equal for warps of one group of four in CTAs that cannot be told apart without registers. */
static void compare_states(struct reading *reading)
{
    const struct wsdbg_look_warp *warps = reading->seen->warps;
    for (uint32_t i = 0; i < reading->out->cta_count; i++) {
        const struct wsdbg_cta *row = &reading->out->ctas[i];
        const uint32_t end = row->warp_first + row->warp_count;
        uint64_t alike = wsdbg_mix(wsdbg_mix(hash_of_words(&reading->words[i]), row->grid), row->cluster_rank);
        for (uint32_t w = row->warp_first; w < end; w++)
            alike = wsdbg_mix(alike, warps[w].stands);
        for (uint32_t w = row->warp_first; w < end; w++)
            reading->operands->warps[w].alike =
                wsdbg_mix(wsdbg_mix(alike, warps[w].stands), reading->out->warps[w].warp / 4);
    }
}

/* A file may hold the registers of some warps only: one without them was asked for, but not read. */
static struct wsdbg_error *read_warp(struct reading *reading, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &reading->out->warps[warp];
    const struct wsdbg_look_part *parts = reading->seen->parts;
    bool *read = &reading->operands->warps[warp].read;
    struct wsdbg_error *error = NULL;
    reading->warps[warp].asked = *read = true;
    for (uint32_t i = row->part_first; !error && i < row->part_first + row->part_count; i++) {
        error = wsdbg_look_part_operands(reading->source, reading->seen, i, &reading->loops, reading->tables,
                                         &reading->operands->parts[i]);
        *read &= reading->out->parts[i].seen || !parts[i].place.function;
    }
    const bool is_told = row->part_count && parts[row->part_first].wait;
    if ((reading->warps[warp].needs_registers || is_told) && *read) {
        reading->is_cta_read[row->cta] = true;
        reading->operands->warps_read++;
    }
    return error;
}

/* The first warp of each state, by its `alike`. */
struct leader {
    uint64_t alike;
    uint32_t warp;
};

static int by_alike(const void *left, const void *right)
{
    const struct leader *a = left, *b = right;
    if (a->alike != b->alike)
        return a->alike < b->alike ? -1 : 1;
    return (a->warp > b->warp) - (a->warp < b->warp);
}

static int to_alike(const void *key, const void *element)
{
    const uint64_t a = *(const uint64_t *)key, b = ((const struct leader *)element)->alike;
    return (a > b) - (a < b);
}

static size_t find_leaders(struct reading *reading, struct leader *leaders)
{
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < reading->out->warp_count; i++)
        if (reading->warps[i].needs_registers)
            leaders[count++] = (struct leader){reading->operands->warps[i].alike, i};
    if (count)
        qsort(leaders, count, sizeof *leaders, by_alike);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || leaders[kept - 1].alike != leaders[i].alike)
            leaders[kept++] = leaders[i];
    for (size_t i = 0; i < kept; i++)
        reading->warps[leaders[i].warp].leads = true;
    return kept;
}

static bool is_same_wait(const struct wsdbg_look_part *a, const struct wsdbg_look_part *b)
{
    return a->place.function == b->place.function && a->site.home == b->site.home &&
           a->site.instruction == b->site.instruction && a->site.barrier_before == b->site.barrier_before;
}

static void take_over(struct reading *reading, uint32_t from, uint32_t to)
{
    const struct wsdbg_warp_row *source = &reading->out->warps[from], *target = &reading->out->warps[to];
    for (uint32_t t = target->part_first; t < target->part_first + target->part_count; t++) {
        struct wsdbg_part *row = &reading->out->parts[t];
        if (row->seen)
            continue;
        for (uint32_t s = source->part_first; s < source->part_first + source->part_count; s++) {
            const struct wsdbg_part *other = &reading->out->parts[s];
            if (!is_same_wait(&reading->seen->parts[s], &reading->seen->parts[t]) || !(other->lanes & row->lanes))
                continue;
            reading->operands->parts[t] = reading->operands->parts[s];
            row->parity = other->parity;
            row->count = other->count;
            row->address = other->address;
            row->width_bytes = other->width_bytes;
            row->value = other->value;
        }
    }
}

/* Whose registers are read first: CTA by CTA, so that what the time allows is whole. */
enum turn { TURN_LEADERS, TURN_THEIR_CTAS, TURN_REST, TURN_COUNT };

static bool is_its_turn(const struct reading *reading, uint32_t warp, enum turn turn)
{
    if (!reading->warps[warp].needs_registers || reading->warps[warp].asked)
        return false;
    return turn == TURN_REST ||
           (turn == TURN_LEADERS ? reading->warps[warp].leads : reading->is_cta_read[reading->out->warps[warp].cta]);
}

static struct wsdbg_error *read_turn(struct reading *reading, enum turn turn, uint64_t deadline_ns)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < reading->out->warp_count && wsdbg_look_now_ns() < deadline_ns; i++)
        if (is_its_turn(reading, i, turn))
            error = read_warp(reading, i);
    return error;
}

static struct leader *leader_of(const struct reading *reading, uint32_t warp, struct leader *leaders, size_t count)
{
    const uint64_t *alike = &reading->operands->warps[warp].alike;
    return count && reading->warps[warp].needs_registers ? bsearch(alike, leaders, count, sizeof *leaders, to_alike)
                                                         : NULL;
}

static void lend_operands(struct reading *reading, struct leader *leaders, size_t count)
{
    /* Where the first one of a state could not be read, another one stands for it. */
    for (uint32_t i = 0; i < reading->out->warp_count; i++) {
        struct leader *leader = reading->operands->warps[i].read ? leader_of(reading, i, leaders, count) : NULL;
        if (leader && !reading->operands->warps[leader->warp].read)
            leader->warp = i;
    }
    for (uint32_t i = 0; i < reading->out->warp_count; i++) {
        const struct leader *leader = reading->operands->warps[i].read ? NULL : leader_of(reading, i, leaders, count);
        if (leader && reading->operands->warps[leader->warp].read)
            take_over(reading, leader->warp, i);
    }
}

/* A state of which no warp was read has nobody to take operands from: then a cause may not be told. */
static void note_unread_states(struct reading *reading, const struct leader *leaders, size_t count)
{
    size_t late = 0, lacking = 0;
    for (size_t i = 0; i < count; i++) {
        const bool asked = reading->warps[leaders[i].warp].asked;
        late += !asked;
        lacking += asked && !reading->operands->warps[leaders[i].warp].read;
    }
    if (late)
        wsdbg_machine_note(reading->source->machine,
                           "the time to read registers was over before %zu of %zu groups of like warps were reached: "
                           "what those wait for may not be known",
                           late, count);
    if (lacking && reading->operands->warps_read)
        wsdbg_machine_note(reading->source->machine,
                           "the registers of %zu of %zu groups of like warps are not there: what those wait for may "
                           "not be known",
                           lacking, count);
}

static struct wsdbg_error *read_all(struct reading *reading, struct leader *leaders)
{
    const uint64_t start_ns = wsdbg_look_now_ns();
    const size_t count = find_leaders(reading, leaders);
    struct wsdbg_error *error = read_turn(reading, TURN_LEADERS, start_ns + reading->source->budget.states_ns);
    for (enum turn turn = TURN_THEIR_CTAS; !error && turn < TURN_COUNT; turn++)
        error = read_turn(reading, turn, start_ns + reading->source->budget.rest_ns);
    if (error)
        return error;
    lend_operands(reading, leaders, count);
    note_unread_states(reading, leaders, count);
    return NULL;
}

/* What the code alone tells takes no time to read. */
static struct wsdbg_error *read_from_code(struct reading *reading)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < reading->out->warp_count; i++) {
        const struct wsdbg_warp_row *row = &reading->out->warps[i];
        for (uint32_t p = row->part_first; p < row->part_first + row->part_count; p++)
            reading->warps[i].needs_registers |= wsdbg_look_needs_registers(&reading->seen->parts[p]);
        if (!reading->warps[i].needs_registers)
            error = read_warp(reading, i);
    }
    return error;
}

/* The words as they were, 32 at a time of what lies behind each other. */
static struct wsdbg_error *keep_words(struct reading *reading, uint32_t cta)
{
    const struct wsdbg_words *words = &reading->words[cta];
    struct wsdbg_snapshot *out = reading->out;
    struct wsdbg_excerpt *row = NULL;
    for (size_t i = 0; i < words->count; i++) {
        if (!words->rows[i].known)
            continue;
        if (!row || row->count == WSDBG_EXCERPT_WORDS || row->first + 4u * row->count != words->rows[i].offset) {
            if (!wsdbg_grow((void **)&out->excerpts, &reading->tables->capacity.excerpts, out->excerpt_count + 1,
                            sizeof *out->excerpts))
                return &wsdbg_error_no_memory;
            row = &out->excerpts[out->excerpt_count++];
            *row = (struct wsdbg_excerpt){.kind = WSDBG_EXCERPT_SHARED,
                                          .cta = cta,
                                          .warp = WSDBG_NONE,
                                          .lane = WSDBG_NONE,
                                          .first = words->rows[i].offset};
        }
        memcpy(&row->words[row->count], &words->rows[i].value, sizeof words->rows[i].value);
        row->count += 2;
    }
    return NULL;
}

static struct wsdbg_error *read_and_keep(struct reading *reading, struct leader *leaders)
{
    struct wsdbg_error *error = read_from_code(reading);
    compare_states(reading);
    if (!error)
        error = read_all(reading, leaders);
    for (uint32_t i = 0; !error && i < reading->out->cta_count; i++)
        if (reading->is_cta_read[i])
            error = keep_words(reading, i);
    return error;
}

struct wsdbg_error *wsdbg_look_reads(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     const struct wsdbg_words *words, struct wsdbg_look_tables *tables,
                                     struct wsdbg_look_operands *operands)
{
    struct reading reading = {.source = source,
                              .seen = seen,
                              .words = words,
                              .tables = tables,
                              .out = tables->out,
                              .operands = operands,
                              .warps = calloc(tables->out->warp_count + 1, sizeof *reading.warps),
                              .is_cta_read = calloc(tables->out->cta_count + 1, sizeof *reading.is_cta_read)};
    struct leader *leaders = calloc(tables->out->warp_count + 1, sizeof *leaders);
    struct wsdbg_error *error =
        leaders && reading.warps && reading.is_cta_read ? read_and_keep(&reading, leaders) : &wsdbg_error_no_memory;
    wsdbg_look_forget_loops(&reading.loops);
    free(leaders);
    free(reading.warps);
    free(reading.is_cta_read);
    return error;
}
