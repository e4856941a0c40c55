/* look_reads.c - which warps' registers are read: one of each state that can be told apart without them, then the rest
 * of those CTAs, then what the time allows; a warp that was not read is taken to be as one in the same state.
 *
 * Reads: mbarrier words of every CTA (they are cheap), registers.  Writes: operands of the parts, excerpts of words.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "machine/look.h"

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

struct wsdbg_error *wsdbg_look_words(struct wsdbg_looking *looking)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < looking->out->cta_count; i++) {
        const struct wsdbg_look_grid *grid = &looking->grids[looking->out->ctas[i].grid];
        for (size_t s = 0; !error && s < grid->span_count; s++)
            error =
                wsdbg_words_read(&looking->ctas[i].words, looking->machine, looking->ctas[i].machine, grid->spans[s]);
    }
    return error;
}

uint32_t wsdbg_look_target(const struct wsdbg_looking *looking, uint32_t cta, uint32_t address)
{
    const struct wsdbg_cta *self = &looking->out->ctas[cta];
    const uint32_t rank = address >> WSDBG_RANK_SHIFT;
    if (self->cluster_size <= 1 || rank == self->cluster_rank)
        return cta;
    const struct wsdbg_grid *grid = &looking->out->grids[self->grid];
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count; i++)
        if (looking->out->ctas[i].cluster_id == self->cluster_id && looking->out->ctas[i].cluster_rank == rank)
            return i;
    return WSDBG_NONE;
}

struct wsdbg_error *wsdbg_look_word(struct wsdbg_looking *looking, uint32_t cta, uint32_t offset, uint64_t *word,
                                    bool *known)
{
    struct wsdbg_words *words = &looking->ctas[cta].words;
    struct wsdbg_error *error = NULL;
    *known = false;
    if (!wsdbg_words_find(words, offset))
        error = wsdbg_words_read(words, looking->machine, looking->ctas[cta].machine,
                                 (struct wsdbg_span){offset, sizeof *word});
    const struct wsdbg_word *found = error ? NULL : wsdbg_words_find(words, offset);
    if (found && found->known) {
        *word = found->value;
        *known = true;
    }
    return error;
}

/* Equal for warps of one group of four in CTAs that cannot be told apart without registers. */
static void compare_states(struct wsdbg_looking *looking)
{
    for (uint32_t i = 0; i < looking->out->cta_count; i++) {
        const struct wsdbg_cta *row = &looking->out->ctas[i];
        struct wsdbg_look_cta *cta = &looking->ctas[i];
        cta->alike = wsdbg_mix(wsdbg_mix(hash_of_words(&cta->words), row->grid), row->cluster_rank);
        for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++)
            cta->alike = wsdbg_mix(cta->alike, looking->warps[w].stands);
        for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++)
            looking->warps[w].alike =
                wsdbg_mix(wsdbg_mix(cta->alike, looking->warps[w].stands), looking->out->warps[w].warp / 4);
    }
}

/* A file may hold the registers of some warps only: one without them was asked for, but not read. */
static struct wsdbg_error *read_warp(struct wsdbg_looking *looking, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    struct wsdbg_error *error = NULL;
    looking->warps[warp].asked = looking->warps[warp].read = true;
    for (uint32_t i = row->part_first; !error && i < row->part_first + row->part_count; i++) {
        error = wsdbg_look_operands(looking, i);
        looking->warps[warp].read &= looking->out->parts[i].seen || !looking->parts[i].place.function;
    }
    const bool is_told = row->part_count && looking->parts[row->part_first].wait;
    if ((looking->warps[warp].needs_registers || is_told) && looking->warps[warp].read) {
        looking->ctas[row->cta].read = true;
        looking->warps_read++;
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

static size_t find_leaders(struct wsdbg_looking *looking, struct leader *leaders)
{
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < looking->out->warp_count; i++)
        if (looking->warps[i].needs_registers)
            leaders[count++] = (struct leader){looking->warps[i].alike, i};
    if (count)
        qsort(leaders, count, sizeof *leaders, by_alike);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || leaders[kept - 1].alike != leaders[i].alike)
            leaders[kept++] = leaders[i];
    for (size_t i = 0; i < kept; i++)
        looking->warps[leaders[i].warp].leads = true;
    return kept;
}

static void take_over(struct wsdbg_looking *looking, uint32_t from, uint32_t to)
{
    const struct wsdbg_warp_row *source = &looking->out->warps[from], *target = &looking->out->warps[to];
    for (uint32_t i = 0; i < target->part_count; i++) {
        struct wsdbg_look_part *part = &looking->parts[target->part_first + i];
        struct wsdbg_part *row = &looking->out->parts[target->part_first + i];
        if (row->seen)
            continue;
        for (uint32_t s = source->part_first; s < source->part_first + source->part_count; s++) {
            const struct wsdbg_look_part *other = &looking->parts[s];
            if (other->place.function != part->place.function || other->site.home != part->site.home ||
                other->site.instruction != part->site.instruction || !(looking->out->parts[s].lanes & row->lanes) ||
                other->site.barrier_before != part->site.barrier_before)
                continue;
            part->resolved = other->resolved;
            part->bar_known = other->bar_known;
            part->bar_skipped = other->bar_skipped;
            part->operand = other->operand;
            part->bar_id = other->bar_id;
            part->bar_threads = other->bar_threads;
            row->parity = looking->out->parts[s].parity;
            row->count = looking->out->parts[s].count;
            row->address = looking->out->parts[s].address;
            row->width_bytes = looking->out->parts[s].width_bytes;
            row->value = looking->out->parts[s].value;
        }
    }
}

/* Whose registers are read first: CTA by CTA, so that what the time allows is whole. */
enum turn { TURN_LEADERS, TURN_THEIR_CTAS, TURN_REST, TURN_COUNT };

static bool is_its_turn(const struct wsdbg_looking *looking, uint32_t warp, enum turn turn)
{
    if (!looking->warps[warp].needs_registers || looking->warps[warp].asked)
        return false;
    return turn == TURN_REST ||
           (turn == TURN_LEADERS ? looking->warps[warp].leads : looking->ctas[looking->out->warps[warp].cta].read);
}

static struct wsdbg_error *read_turn(struct wsdbg_looking *looking, enum turn turn, uint64_t deadline_ns)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < looking->out->warp_count && wsdbg_look_now_ns() < deadline_ns; i++)
        if (is_its_turn(looking, i, turn))
            error = read_warp(looking, i);
    return error;
}

static struct leader *leader_of(const struct wsdbg_looking *looking, uint32_t warp, struct leader *leaders,
                                size_t count)
{
    const struct wsdbg_look_warp *beside = &looking->warps[warp];
    return count && beside->needs_registers ? bsearch(&beside->alike, leaders, count, sizeof *leaders, to_alike) : NULL;
}

static void lend_operands(struct wsdbg_looking *looking, struct leader *leaders, size_t count)
{
    /* Where the first one of a state could not be read, another one stands for it. */
    for (uint32_t i = 0; i < looking->out->warp_count; i++) {
        struct leader *leader = looking->warps[i].read ? leader_of(looking, i, leaders, count) : NULL;
        if (leader && !looking->warps[leader->warp].read)
            leader->warp = i;
    }
    for (uint32_t i = 0; i < looking->out->warp_count; i++) {
        const struct leader *leader = looking->warps[i].read ? NULL : leader_of(looking, i, leaders, count);
        if (leader && looking->warps[leader->warp].read)
            take_over(looking, leader->warp, i);
    }
}

/* A state of which no warp was read has nobody to take operands from: then a cause may not be told. */
static void note_unread_states(struct wsdbg_looking *looking, const struct leader *leaders, size_t count)
{
    size_t late = 0, lacking = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wsdbg_look_warp *leader = &looking->warps[leaders[i].warp];
        late += !leader->asked;
        lacking += leader->asked && !leader->read;
    }
    if (late)
        wsdbg_machine_note(looking->machine,
                           "the time to read registers was over before %zu of %zu groups of like warps were reached: "
                           "what those wait for may not be known",
                           late, count);
    if (lacking && looking->warps_read)
        wsdbg_machine_note(looking->machine,
                           "the registers of %zu of %zu groups of like warps are not there: what those wait for may "
                           "not be known",
                           lacking, count);
}

static struct wsdbg_error *read_all(struct wsdbg_looking *looking, struct leader *leaders)
{
    const uint64_t start_ns = wsdbg_look_now_ns();
    const size_t count = find_leaders(looking, leaders);
    struct wsdbg_error *error = read_turn(looking, TURN_LEADERS, start_ns + looking->budget.states_ns);
    for (enum turn turn = TURN_THEIR_CTAS; !error && turn < TURN_COUNT; turn++)
        error = read_turn(looking, turn, start_ns + looking->budget.rest_ns);
    if (error)
        return error;
    lend_operands(looking, leaders, count);
    note_unread_states(looking, leaders, count);
    return NULL;
}

/* What is said by the code alone takes no time. */
static struct wsdbg_error *read_from_code(struct wsdbg_looking *looking)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < looking->out->warp_count; i++) {
        const struct wsdbg_warp_row *row = &looking->out->warps[i];
        for (uint32_t p = row->part_first; p < row->part_first + row->part_count; p++)
            looking->warps[i].needs_registers |= wsdbg_look_needs_registers(&looking->parts[p]);
        if (!looking->warps[i].needs_registers)
            error = read_warp(looking, i);
    }
    return error;
}

/* The words as they were, 32 at a time of what lies behind each other. */
static struct wsdbg_error *keep_words(struct wsdbg_looking *looking, uint32_t cta)
{
    const struct wsdbg_words *words = &looking->ctas[cta].words;
    struct wsdbg_snapshot *out = looking->out;
    struct wsdbg_excerpt *row = NULL;
    for (size_t i = 0; i < words->count; i++) {
        if (!words->rows[i].known)
            continue;
        if (!row || row->count == WSDBG_EXCERPT_WORDS || row->first + 4u * row->count != words->rows[i].offset) {
            if (!wsdbg_grow((void **)&out->excerpts, &looking->capacity.excerpts, out->excerpt_count + 1,
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

struct wsdbg_error *wsdbg_look_reads(struct wsdbg_looking *looking)
{
    struct leader *leaders = calloc(looking->out->warp_count + 1, sizeof *leaders);
    if (!leaders)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = read_from_code(looking);
    compare_states(looking);
    if (!error)
        error = read_all(looking, leaders);
    free(leaders);
    for (uint32_t i = 0; !error && i < looking->out->cta_count; i++)
        if (looking->ctas[i].read)
            error = keep_words(looking, i);
    return error;
}
