/* look_families.c - what a look knows of the mbarriers of each grid, for sass/families.h.
 *
 * Reads: the accesses of the kernel, the places at which warps were seen to wait, the words, the names of variables.
 * Writes: a grid's families.
 */
#include <stdlib.h>

#include "machine/look.h"

struct grid_words {
    const struct wsdbg_words *words; /* beside the CTAs */
    const struct wsdbg_grid *grid;
};

/* In the first CTA that has a valid word there. */
static uint32_t expected_in_memory(void *context, uint32_t offset)
{
    const struct grid_words *of = context;
    for (uint32_t i = of->grid->cta_first; i < of->grid->cta_first + of->grid->cta_count; i++) {
        const struct wsdbg_word *word = wsdbg_words_find(&of->words[i], offset);
        const struct wsdbg_mbarrier_word fields = wsdbg_mbarrier_word(word && word->known ? word->value : 1);
        if (fields.is_valid)
            return fields.expected;
    }
    return 0;
}

/* Where warps of the grid wait; the caller frees them. */
static uint32_t *find_waits(const struct wsdbg_look_operands *operands, const struct wsdbg_snapshot *rows,
                            uint32_t grid, size_t *count)
{
    uint32_t *waited = malloc((rows->part_count + 1) * sizeof *waited);
    *count = 0;
    for (size_t i = 0; waited && i < rows->part_count; i++) {
        const struct wsdbg_part *row = &rows->parts[i];
        if (rows->ctas[rows->warps[row->warp].cta].grid == grid && row->state == WSDBG_WARP_WAIT_MBARRIER)
            waited[(*count)++] = operands->parts[i].mbarrier;
    }
    return waited;
}

/* What the kernel's code says. */
static struct wsdbg_error *read_kernel(const struct wsdbg_look_source *source, uint32_t grid,
                                       struct wsdbg_code_kernel *kernel, struct wsdbg_families_source *out)
{
    out->accesses = kernel->accesses;
    out->access_count = kernel->access_count;
    out->variables = kernel->variables;
    out->variable_count = kernel->variable_count;
    return source ? wsdbg_code_comers(source->machine, grid, kernel, &out->comers) : NULL;
}

struct wsdbg_error *wsdbg_look_families(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                        const struct wsdbg_look_operands *operands, const struct wsdbg_words *words,
                                        const struct wsdbg_snapshot *rows, struct wsdbg_families *families)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < rows->grid_count; i++) {
        struct wsdbg_code_kernel *kernel = seen->grids[i].kernel;
        struct grid_words of = {words, &rows->grids[i]};
        struct wsdbg_families_source of_grid = {.expected = expected_in_memory, .context = &of};
        uint32_t *waited = find_waits(operands, rows, i, &of_grid.waited_count);
        of_grid.waited = waited;
        if (kernel)
            error = read_kernel(source, seen->grids[i].machine, kernel, &of_grid);
        if (!error)
            error = waited ? wsdbg_families_find(&of_grid, &families[i]) : &wsdbg_error_no_memory;
        free(waited);
    }
    return error;
}
