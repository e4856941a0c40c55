/* link_size.c - which functions are copied to the places that call them.
 *
 * A build without optimisation calls a function for each access to a barrier, and passes addresses and parities through
 * memory.  With the function's code in place of the call, an instruction belongs to one call, and a loop around the
 * call is a loop like others.  The kernel may grow only so much: the more it would grow, the smaller the functions that
 * are copied.  Reads the calls of the functions; writes which of them are inlined.
 */
#include "ptx/linking.h"

enum { GROWTH_MOST = 1 << 16, SIZE_MOST = 1 << 12, SIZE_SHRINKS = 8, HEIGHT_MOST = 32, EXPANDED_MOST = 1 << 24 };

static uint32_t own_size(const struct ptx_linking *link, const struct ptx_placed *placed)
{
    const struct wsdbg_ptx_function *function = ptx_function_at(link, placed->copy.function);
    return ptx_note_at(link, placed->copy.function)->has_body ? function->end - function->first : 0;
}

/* What it calls was measured before. */
static void measure(const struct ptx_linking *link, struct ptx_placed *placed, uint32_t size_most)
{
    const struct ptx_function_note *note = ptx_note_at(link, placed->copy.function);
    placed->expanded = own_size(link, placed);
    placed->height = 0;
    for (size_t i = note->calls.first; i < note->calls.end; i++) {
        const struct ptx_placed *callee = ptx_placed_of(link, *PTX_ITEM(link->parser->calls, uint32_t, i));
        if (!callee->is_inlined)
            continue;
        placed->expanded += placed->expanded < EXPANDED_MOST ? callee->expanded : 0;
        placed->height = callee->height >= placed->height ? callee->height + 1 : placed->height;
    }
    placed->is_inlined = note->has_body && placed->expanded <= size_most && placed->height < HEIGHT_MOST &&
                         !ptx_function_at(link, placed->copy.function)->is_kernel;
}

static uint64_t growth_of(const struct ptx_linking *link)
{
    uint64_t growth = 0;
    for (size_t i = 0; i < link->placed.count; i++) {
        const struct ptx_placed *placed = PTX_ITEM(link->placed, struct ptx_placed, i);
        growth += placed->is_inlined ? 0 : placed->expanded - own_size(link, placed);
    }
    return growth;
}

void ptx_find_inlined(struct ptx_linking *link)
{
    uint32_t size_most = SIZE_MOST;
    for (;;) {
        for (size_t i = 0; i < link->order.count; i++)
            measure(link, PTX_ITEM(link->placed, struct ptx_placed, *PTX_ITEM(link->order, uint32_t, i)), size_most);
        if (!size_most || growth_of(link) <= GROWTH_MOST)
            return;
        size_most /= SIZE_SHRINKS;
    }
}
