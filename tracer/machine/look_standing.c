/* look_standing.c - how each warp stands, so that a second look can tell who moved: where its lanes stand, what they
 * wait for, and registers of warps that stand where the code shows no wait, or one that the hardware ends: such a warp
 * may have come round its loop to the same place.
 *
 * Reads: places and operands of parts; general and uniform registers, predicates.  Writes: the standing of each warp.
 *
 * One warp is read for all that stand at the same places of one grid: a second look finds the same one first, where
 * nothing moved.  Who was not read, or could not be read whole, is not known to stand.
 */
#include <string.h>

#include "machine/look.h"

enum { SAMPLES_MAX = 8, GENERAL_MAX = 256, UNIFORM_MAX = 63 };

struct standing {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    const struct wsdbg_look_operands *operands;
    const struct wsdbg_snapshot *rows;
    struct wsdbg_look_standing *warps;
};

/* ---- what lanes want ---- */

/* A name for what is waited for that is never 0, whatever the numbers are. */
static uint64_t name_of(uint64_t kind, uint64_t what)
{
    return wsdbg_mix(kind, what) | 1;
}

/* What a part waits for, 0 for nothing that has a name.  A warp that polls stays in its loop, also where it waits for
 * others of its CTA to come round; lanes that gather wait for those that poll. */
static uint64_t want_of(const struct standing *standing, uint32_t number)
{
    const struct wsdbg_look_part *part = &standing->seen->parts[number];
    const struct wsdbg_part *shown = &standing->rows->parts[number];
    if (part->site.gathers)
        return 0;
    if (wsdbg_warp_state_polls(part->site.state))
        return name_of(1, shown->address.value);
    if (part->site.state == WSDBG_WARP_WAIT_MBARRIER)
        return name_of(name_of(2, standing->operands->parts[number].mbarrier), shown->parity.value);
    if (part->site.state == WSDBG_WARP_RUNNING && wsdbg_look_may_be_in_bar(part, &standing->operands->parts[number]))
        return name_of(3, standing->operands->parts[number].bar_id);
    return 0;
}

static bool is_want_known(const struct standing *standing, uint32_t number)
{
    const struct wsdbg_look_part *part = &standing->seen->parts[number];
    const struct wsdbg_part *shown = &standing->rows->parts[number];
    if (wsdbg_warp_state_polls(part->site.state))
        return shown->seen && shown->address.known;
    if (part->site.state == WSDBG_WARP_WAIT_MBARRIER)
        return shown->seen && standing->operands->parts[number].resolved;
    return shown->seen;
}

static bool is_wanted_before(const struct standing *standing, uint32_t first, uint32_t number, uint64_t want)
{
    for (uint32_t i = first; i < number; i++)
        if (want_of(standing, i) == want)
            return true;
    return false;
}

/* Each thing once: in how many parts its lanes go round one loop differs from look to look.  What lanes want that all
 * gather is not known, nor what those want that may be in one of several loops. */
static void note_wants(struct standing *standing, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &standing->rows->warps[warp];
    struct wsdbg_look_standing *beside = &standing->warps[warp];
    bool all_gather = row->part_count > 0;
    beside->wants_known = true;
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++) {
        const uint64_t want = want_of(standing, i);
        all_gather &= standing->seen->parts[i].site.gathers;
        beside->wants_known &= !want || is_want_known(standing, i);
        if (!is_wanted_before(standing, row->part_first, i, want))
            beside->wants += want;
    }
    beside->wants_known &= !all_gather && standing->seen->warps[warp].may_be_count <= 1;
}

/* ---- registers ---- */

/* The source names the waits of its warps itself.  A wait that other warps end needs no registers to be told:
 * they are looked at too.  Polling changes registers. */
static bool is_unexplained(const struct wsdbg_look_part *part)
{
    const enum wsdbg_warp_state state = part->site.state;
    return !part->wait && (!part->place.function || state == WSDBG_WARP_RUNNING || state == WSDBG_WARP_WAIT_WGMMA ||
                           state == WSDBG_WARP_WAIT_BULK);
}

static bool is_explained(const struct standing *standing, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &standing->rows->warps[warp];
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++)
        if (is_unexplained(&standing->seen->parts[i]))
            return false;
    return row->part_count > 0;
}

static uint64_t mix_words(uint64_t hash, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        hash = wsdbg_mix(hash, words[i]);
    return wsdbg_mix(hash, count);
}

/* Half of the registers would hide a counter in the other half: the predicates, which every warp has, must be there
 * too, and a warp without uniform registers is one of a source that does not give them. */
static struct wsdbg_error *read_part(struct wsdbg_machine *machine, uint32_t row, const struct wsdbg_look_part *part,
                                     uint64_t *hash, bool *known)
{
    uint32_t general[GENERAL_MAX], uniform[UNIFORM_MAX], general_count = 0, uniform_count = 0, predicates = 0;
    bool has_predicates = false;
    struct wsdbg_error *error =
        machine->ops->registers(machine, row, part->lane, 0, GENERAL_MAX, general, &general_count);
    if (!error)
        error = machine->ops->uniform_registers(machine, row, 0, UNIFORM_MAX, uniform, &uniform_count);
    if (!error)
        error = machine->ops->predicates(machine, row, part->lane, &predicates, &has_predicates);
    *known = !error && general_count && uniform_count && has_predicates;
    *hash = mix_words(mix_words(wsdbg_mix(*hash, predicates), general, general_count), uniform, uniform_count);
    return error;
}

static struct wsdbg_error *read_sample(struct standing *standing, uint32_t warp)
{
    struct wsdbg_look_standing *beside = &standing->warps[warp];
    const struct wsdbg_warp_row *row = &standing->rows->warps[warp];
    struct wsdbg_error *error = NULL;
    bool known = true;
    beside->registers = 1;
    for (uint32_t i = row->part_first; !error && known && i < row->part_first + row->part_count; i++)
        if (is_unexplained(&standing->seen->parts[i]))
            error = read_part(standing->source->machine, standing->seen->warps[warp].machine, &standing->seen->parts[i],
                              &beside->registers, &known);
    beside->registers_known = !error && known;
    return error;
}

static uint32_t grid_of(const struct standing *standing, uint32_t warp)
{
    return standing->rows->ctas[standing->rows->warps[warp].cta].grid;
}

/* The sample that was taken of warps at the same places, WSDBG_NONE. */
static uint32_t sample_for(const struct standing *standing, const uint32_t *samples, size_t count, uint32_t warp)
{
    for (size_t i = 0; i < count; i++)
        if (standing->warps[samples[i]].stands == standing->warps[warp].stands &&
            grid_of(standing, samples[i]) == grid_of(standing, warp))
            return samples[i];
    return WSDBG_NONE;
}

static struct wsdbg_error *take_samples(struct standing *standing)
{
    const uint64_t start_ns = wsdbg_look_now_ns();
    uint32_t samples[SAMPLES_MAX];
    size_t count = 0;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < standing->rows->warp_count; i++) {
        uint32_t *sample = &standing->warps[i].sample;
        if (standing->seen->warps[i].machine == WSDBG_NONE || standing->warps[i].explained)
            continue;
        *sample = sample_for(standing, samples, count, i);
        if (*sample != WSDBG_NONE || count == SAMPLES_MAX ||
            wsdbg_look_now_ns() - start_ns >= standing->source->budget.states_ns)
            continue;
        *sample = samples[count++] = i;
        error = read_sample(standing, i);
    }
    return error;
}

struct wsdbg_error *wsdbg_look_standing(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                        const struct wsdbg_look_operands *operands, const struct wsdbg_snapshot *rows,
                                        struct wsdbg_look_standing *warps)
{
    struct standing standing = {source, seen, operands, rows, warps};
    for (uint32_t i = 0; i < rows->warp_count; i++) {
        warps[i] = (struct wsdbg_look_standing){.stands = seen->warps[i].stands,
                                                .places = seen->warps[i].places,
                                                .is_copy_open = seen->warps[i].is_copy_open,
                                                .may_be_count = seen->warps[i].may_be_count,
                                                .sample = WSDBG_NONE};
        memcpy(warps[i].may_be, seen->warps[i].may_be, sizeof warps[i].may_be);
        warps[i].explained = is_explained(&standing, i);
        note_wants(&standing, i);
    }
    return take_samples(&standing);
}
