/* work.c - when a context was last given something to do, and how often what.
 *
 * Writes: the segment's given rows.  No lock: a launch costs a look at one word and a store.
 */
#include "work.h"

#include "segment.h"

/* Two threads at the same moment: either's time stays. */
void work_launched(uint32_t context, uint64_t began_ns)
{
    if (context >= WSDBG_CONTEXT_ROWS)
        return;
    uint64_t *given_ns = &atomic_load_explicit(&shim_segment, memory_order_acquire)->given[context].given_ns;
    if (__atomic_load_n(given_ns, __ATOMIC_RELAXED) < began_ns)
        __atomic_store_n(given_ns, began_ns, __ATOMIC_RELAXED);
}

void work_given(uint32_t context, enum work_kind kind, uint64_t began_ns)
{
    if (context >= WSDBG_CONTEXT_ROWS)
        return;
    struct wsdbg_given_row *row = &atomic_load_explicit(&shim_segment, memory_order_acquire)->given[context];
    uint64_t *counters[] = {[WORK_COPY] = &row->copies, [WORK_MEMSET] = &row->memsets, [WORK_OTHER] = &row->others};
    __atomic_fetch_add(counters[kind], 1, __ATOMIC_RELAXED);
    work_launched(context, began_ns);
}
