/* look_named.c - which named barrier a part waits at, where its registers do not tell: the index of the warp's threads
 * may.
 *
 * Reads: code, the places of parts.  Writes: id and thread count of a part's BAR.
 *
 * A build without optimisation computes both from variables that it has overwritten, or keeps in registers that a look
 * has no time to read.
 */
#include <stdlib.h>

#include "machine/look.h"

enum { WARPS_MOST = 32, WARP_THREADS = 32, NAMED_BARRIERS = 16 };

struct named {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    const struct wsdbg_snapshot *rows;
    uint32_t grid;                             /* of `accesses` */
    struct wsdbg_access *accesses[WARPS_MOST]; /* the kernel's, for the threads of each warp; NULL = not asked for */
};

static void forget(struct named *named)
{
    for (uint32_t i = 0; i < WARPS_MOST; i++) {
        free(named->accesses[i]);
        named->accesses[i] = NULL;
    }
}

/* False: the threads of the CTA are not counted in x alone, or there is no code. */
static bool can_ask(const struct named *named, uint32_t grid, uint32_t warp)
{
    const struct wsdbg_look_grid *of = &named->seen->grids[grid];
    if (!of->kernel || of->machine == WSDBG_NONE || warp >= WARPS_MOST)
        return false;
    const uint32_t *block = named->source->machine->grids[of->machine].block;
    return block[1] == 1 && block[2] == 1;
}

/* *out: the access of the kernel for the threads of the warp; NULL = the kernel has none there. */
static struct wsdbg_error *access_of(struct named *named, uint32_t grid, uint32_t warp, uint32_t instruction,
                                     const struct wsdbg_access **out)
{
    const struct wsdbg_look_grid *of = &named->seen->grids[grid];
    struct wsdbg_error *error = NULL;
    *out = NULL;
    if (grid != named->grid)
        forget(named);
    named->grid = grid;
    if (!named->accesses[warp])
        error = wsdbg_code_accesses_of_threads(named->source->machine, of->machine, of->kernel, warp * WARP_THREADS,
                                               WARP_THREADS, &named->accesses[warp]);
    for (size_t i = 0; !error && i < of->kernel->access_count; i++)
        if (named->accesses[warp][i].instruction == instruction)
            *out = &named->accesses[warp][i];
    return error;
}

static bool is_one(const struct wsdbg_value_set *values)
{
    return values->known && values->count == 1;
}

static bool is_asked(const struct named *named, const struct wsdbg_part_operands *operands, uint32_t part)
{
    const struct wsdbg_look_part *place = &named->seen->parts[part];
    const uint32_t grid = named->rows->ctas[named->rows->warps[named->rows->parts[part].warp].cta].grid;
    return !place->wait && place->place.function && place->site.barrier_before != WSDBG_NO_INSTRUCTION &&
           !operands->bar_known && can_ask(named, grid, named->rows->warps[named->rows->parts[part].warp].warp) &&
           place->place.function == named->seen->grids[grid].kernel->function;
}

static struct wsdbg_error *name_part(struct named *named, uint32_t part, struct wsdbg_part_operands *operands)
{
    const struct wsdbg_warp_row *warp = &named->rows->warps[named->rows->parts[part].warp];
    const struct wsdbg_access *access;
    if (!is_asked(named, operands, part))
        return NULL;
    struct wsdbg_error *error = access_of(named, named->rows->ctas[warp->cta].grid, warp->warp,
                                          named->seen->parts[part].site.barrier_before, &access);
    if (error || !access || access->kind != WSDBG_ACCESS_NAMED_SYNC || !is_one(&access->address) ||
        !is_one(&access->count) || access->address.base >= NAMED_BARRIERS)
        return error;
    operands->bar_known = true;
    operands->bar_id = (uint32_t)access->address.base;
    operands->bar_threads = (uint32_t)access->count.base;
    return NULL;
}

struct wsdbg_error *wsdbg_look_named(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     const struct wsdbg_snapshot *rows, struct wsdbg_look_operands *operands)
{
    struct named named = {.source = source, .seen = seen, .rows = rows, .grid = WSDBG_NONE};
    struct wsdbg_error *error = NULL;
    for (uint32_t part = 0; !error && part < rows->part_count; part++)
        error = name_part(&named, part, &operands->parts[part]);
    forget(&named);
    return error;
}
