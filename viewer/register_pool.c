/* register_pool.c - see register_pool.h.  An amount that one warp leaves open is unknown for its whole file. */
#include "viewer/register_pool.h"

#define WARP_THREADS 32u
#define GRANULE 8u /* registers a thread are given out in eights */

static struct wsdbg_optional_u32 rounded(struct wsdbg_optional_u32 a_thread)
{
    a_thread.value = (a_thread.value + GRANULE - 1) / GRANULE * GRANULE;
    return a_thread;
}

static struct wsdbg_optional_u32 at_launch(const struct wsdbg_snapshot *s, uint32_t cta)
{
    const uint32_t function = s->grids[s->ctas[cta].grid].function;
    return function < s->function_count ? rounded(s->functions[function].registers) : (struct wsdbg_optional_u32){0};
}

static void add(struct wsdbg_optional_u32 *sum, struct wsdbg_optional_u32 a_thread)
{
    sum->known = sum->known && a_thread.known;
    sum->value += a_thread.value * WARP_THREADS;
}

/* What a warp lacks to be served; 0 for one that does not ask. */
static struct wsdbg_optional_u32 lacking(const struct wsdbg_warp_row *warp)
{
    if (warp->state != WSDBG_WARP_WAIT_REGISTERS)
        return wsdbg_known_u32(0);
    if (!warp->registers_asked.known || !warp->registers_held.known)
        return (struct wsdbg_optional_u32){0};
    const uint32_t asked = warp->registers_asked.value, held = warp->registers_held.value;
    return wsdbg_known_u32(asked > held ? asked - held : 0);
}

struct viewer_register_pool viewer_register_pool_read(const struct wsdbg_snapshot *s, uint32_t cta)
{
    const struct wsdbg_cta *c = &s->ctas[cta];
    struct viewer_register_pool pool = {.launch = at_launch(s, cta)};
    const bool whole = c->warp_count == s->grids[c->grid].warps_per_cta;
    for (uint32_t f = 0; f < VIEWER_REGISTER_FILES; f++) {
        pool.files[f].total = pool.files[f].held = pool.files[f].asked = wsdbg_known_u32(0);
        pool.files[f].total.known = pool.files[f].held.known = whole;
    }
    for (uint32_t w = c->warp_first; w < c->warp_first + c->warp_count; w++) {
        const struct wsdbg_warp_row *warp = &s->warps[w];
        struct viewer_register_file *file = &pool.files[warp->warp % VIEWER_REGISTER_FILES];
        file->warps++;
        add(&file->total, pool.launch);
        add(&file->held, rounded(warp->registers_held));
        add(&file->asked, lacking(warp));
    }
    return pool;
}
