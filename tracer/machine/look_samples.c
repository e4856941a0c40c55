/* look_samples.c - registers of warps that stand where the code shows no wait, or one that the hardware ends, so that a
 * second look can tell a warp that stands there from one that has come round its loop to the same place.
 *
 * Reads: general and uniform registers, predicates.  Writes: each such warp's sample.
 *
 * One warp is read for all that stand at the same places of one grid: a second look finds the same one first, where
 * nothing moved.  Who was not read, or could not be read whole, is not known to stand.
 */
#include "machine/look.h"

enum { SAMPLES_MAX = 8, GENERAL_MAX = 256, UNIFORM_MAX = 63 };

/* The source names the waits of its warps itself.  A wait that other warps end needs no registers to be told:
 * they are looked at too.  Polling changes registers. */
static bool is_unexplained(const struct wsdbg_look_part *part)
{
    const enum wsdbg_warp_state state = part->site.state;
    return !part->wait && (!part->place.function || state == WSDBG_WARP_RUNNING || state == WSDBG_WARP_WAIT_WGMMA ||
                           state == WSDBG_WARP_WAIT_BULK);
}

bool wsdbg_look_explains(const struct wsdbg_looking *looking, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++)
        if (is_unexplained(&looking->parts[i]))
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
static struct wsdbg_error *read_part(struct wsdbg_looking *looking, uint32_t warp, const struct wsdbg_look_part *part,
                                     uint64_t *hash, bool *known)
{
    uint32_t general[GENERAL_MAX], uniform[UNIFORM_MAX], general_count = 0, uniform_count = 0, predicates = 0;
    bool has_predicates = false;
    struct wsdbg_machine *machine = looking->machine;
    const uint32_t row = looking->warps[warp].machine;
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

static struct wsdbg_error *read_sample(struct wsdbg_looking *looking, uint32_t warp)
{
    struct wsdbg_look_warp *beside = &looking->warps[warp];
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    struct wsdbg_error *error = NULL;
    bool known = true;
    beside->registers = 1;
    for (uint32_t i = row->part_first; !error && known && i < row->part_first + row->part_count; i++)
        if (is_unexplained(&looking->parts[i]))
            error = read_part(looking, warp, &looking->parts[i], &beside->registers, &known);
    beside->registers_known = !error && known;
    return error;
}

static uint32_t grid_of(const struct wsdbg_looking *looking, uint32_t warp)
{
    return looking->out->ctas[looking->out->warps[warp].cta].grid;
}

/* The sample that was taken of warps at the same places, WSDBG_NONE. */
static uint32_t sample_for(const struct wsdbg_looking *looking, const uint32_t *samples, size_t count, uint32_t warp)
{
    for (size_t i = 0; i < count; i++)
        if (looking->warps[samples[i]].stands == looking->warps[warp].stands &&
            grid_of(looking, samples[i]) == grid_of(looking, warp))
            return samples[i];
    return WSDBG_NONE;
}

struct wsdbg_error *wsdbg_look_samples(struct wsdbg_looking *looking)
{
    const uint64_t start_ns = wsdbg_look_now_ns();
    uint32_t samples[SAMPLES_MAX];
    size_t count = 0;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < looking->out->warp_count; i++) {
        if (looking->warps[i].machine == WSDBG_NONE || wsdbg_look_explains(looking, i))
            continue;
        looking->warps[i].sample = sample_for(looking, samples, count, i);
        if (looking->warps[i].sample != WSDBG_NONE || count == SAMPLES_MAX ||
            wsdbg_look_now_ns() - start_ns >= looking->budget.states_ns)
            continue;
        looking->warps[i].sample = samples[count++] = i;
        error = read_sample(looking, i);
    }
    return error;
}
