/* look_words.c - the mbarrier words of each CTA: those that the kernel's code names first, as they are cheap and tell
 * states apart; then those that only a register names.
 *
 * Reads: shared memory.  Writes: the words beside the CTAs.
 */
#include "machine/look.h"

struct wsdbg_error *wsdbg_look_words(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     const struct wsdbg_snapshot *rows, struct wsdbg_words *words)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < rows->cta_count; i++) {
        const struct wsdbg_look_grid *grid = &seen->grids[rows->ctas[i].grid];
        for (size_t s = 0; !error && s < grid->span_count && seen->ctas[i].machine != WSDBG_NONE; s++)
            error = wsdbg_words_read(&words[i], source->machine, seen->ctas[i].machine, grid->spans[s]);
    }
    return error;
}

uint32_t wsdbg_look_target(const struct wsdbg_snapshot *rows, uint32_t cta, uint32_t address)
{
    const struct wsdbg_cta *self = &rows->ctas[cta];
    const uint32_t rank = address >> WSDBG_RANK_SHIFT;
    if (self->cluster_size <= 1 || rank == self->cluster_rank)
        return cta;
    const struct wsdbg_grid *grid = &rows->grids[self->grid];
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count; i++)
        if (rows->ctas[i].cluster_id == self->cluster_id && rows->ctas[i].cluster_rank == rank)
            return i;
    return WSDBG_NONE;
}

struct wsdbg_error *wsdbg_look_word(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                    uint32_t cta, uint32_t offset, struct wsdbg_words *words, uint64_t *word,
                                    bool *known)
{
    struct wsdbg_error *error = NULL;
    *known = false;
    if (seen->ctas[cta].machine == WSDBG_NONE)
        return NULL;
    if (!wsdbg_words_find(&words[cta], offset))
        error = wsdbg_words_read(&words[cta], source->machine, seen->ctas[cta].machine,
                                 (struct wsdbg_span){offset, sizeof *word});
    const struct wsdbg_word *found = error ? NULL : wsdbg_words_find(&words[cta], offset);
    if (found && found->known) {
        *word = found->value;
        *known = true;
    }
    return error;
}

/* Lanes that have come apart and gather are no test of a barrier. */
static bool tests_mbarrier(const struct wsdbg_look_part *part, const struct wsdbg_part_operands *operands,
                           const struct wsdbg_snapshot *rows, const struct wsdbg_part *row)
{
    const bool is_split = rows->warps[row->warp].part_count > 1;
    return part->site.state == WSDBG_WARP_WAIT_MBARRIER && !(is_split && part->site.gathers) && operands->resolved &&
           row->parity.known;
}

struct wsdbg_error *wsdbg_look_waited_words(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                            const struct wsdbg_look_operands *operands,
                                            const struct wsdbg_snapshot *rows, struct wsdbg_words *words)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < rows->part_count; i++) {
        const uint32_t address = operands->parts[i].mbarrier;
        uint64_t word;
        bool known;
        if (!tests_mbarrier(&seen->parts[i], &operands->parts[i], rows, &rows->parts[i]))
            continue;
        const uint32_t cta = wsdbg_look_target(rows, rows->warps[rows->parts[i].warp].cta, address);
        if (cta != WSDBG_NONE)
            error = wsdbg_look_word(source, seen, cta, address & WSDBG_OFFSET_MASK, words, &word, &known);
    }
    return error;
}
