/* fake_kernel.c - what the kernels of the fake libcuda do, by name.
 *
 *   slow     keeps its stream busy for 1.5 s
 *   hang     keeps it busy for ever
 *   fault    ends the context with error 719; in a probed module after one right round of an mbarrier
 *   overrun  the same after a round with more arrivals than the mbarrier takes
 *
 * The kernels of the observer's by which it brings an error again (debug_fault.c) end the context with that error.
 * While a debugger is attached an error is its alone.
 *
 * Every other function of a probed module writes one event into the slot and the history of warp slot 0.
 */
#include <string.h>

#include "evidence/slot_identity.h"
#include "fake_internal.h"

enum { PRODUCER, CONSUMER, CTAS = 6, WARPS = 4, FULL = 0, BYTES = 1024 };

/* A warp of the first CTA: the others have not begun. */
struct warp {
    struct wsdbg_slot *slot;
    struct wsdbg_event *history;
    uint32_t mask, count;
};

static void write_event(struct warp *warp, struct wsdbg_event event)
{
    event.sequence = (uint8_t)warp->count;
    event.time = (uint32_t)(fake_now_ns() >> WSDBG_TIME_SHIFT);
    warp->history[warp->count++ & warp->mask] = event;
    if (wsdbg_event_is_milestone(event.kind))
        warp->slot->state = event;
}

static struct warp begin(const struct wsdbg_config *config, uint32_t index, uint32_t role)
{
    const uintptr_t history = (uintptr_t)config->history_address + (uintptr_t)index * config->history_stride;
    struct warp warp = {.slot = (struct wsdbg_slot *)(uintptr_t)config->slots_address + index,
                        .history = (struct wsdbg_event *)history,
                        .mask = config->history_mask};
    *warp.slot = (struct wsdbg_slot){.grid_id = 1,
                                     .warp_in_cta = index | WARPS << 8 | 1u << 24,
                                     .placement = index << 16,
                                     .module_id = config->module_id,
                                     .role = role + 1,
                                     .grid_ctas = CTAS};
    warp.slot->check = slot_identity_check(warp.slot);
    write_event(&warp, (struct wsdbg_event){.kind = WSDBG_EVENT_BEGIN});
    write_event(&warp,
                (struct wsdbg_event){.kind = WSDBG_EVENT_ROLE_BEGIN, .iteration = WSDBG_NO_ITERATION, .value = role});
    return warp;
}

/* Two producers and two consumers on a full barrier that is made for one arrival. */
static void run_pipeline(const struct wsdbg_config *config, uint32_t arrivals)
{
    struct warp warps[WARPS];
    for (uint32_t i = 0; i < WARPS; i++)
        warps[i] = begin(config, i, i < 2 ? PRODUCER : CONSUMER);
    write_event(&warps[0],
                (struct wsdbg_event){
                    .kind = WSDBG_EVENT_MBARRIER_INIT, .barrier = FULL, .iteration = WSDBG_NO_ITERATION, .value = 1});
    for (uint32_t i = 2; i < WARPS; i++)
        write_event(&warps[i],
                    (struct wsdbg_event){.kind = WSDBG_EVENT_MBARRIER_WAIT_BEGIN, .barrier = FULL, .value = 32u << 21});
    for (uint32_t i = 0; i < arrivals; i++)
        write_event(&warps[i], (struct wsdbg_event){
                                   .kind = WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX, .barrier = FULL, .value = BYTES});
}

static void write_one_event(const struct wsdbg_config *config, uint32_t number)
{
    struct wsdbg_slot *slot = (void *)(uintptr_t)config->slots_address;
    struct warp warp = {.slot = slot,
                        .history = (void *)(uintptr_t)config->history_address,
                        .mask = config->history_mask,
                        .count = number};
    slot->module_id = config->module_id;
    write_event(&warp, (struct wsdbg_event){.kind = WSDBG_EVENT_TILE_BEGIN, .value = number});
}

/* The error that the kernel of that name ends its context with, 0 = none. */
static int error_of(const char *name)
{
    static const struct {
        const char *name;
        int error;
    } kernels[] = {{"failed", 719}, {"address", 700}, {"misaligned", 716}, {"space", 717}, {"asserted", 710}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(name, kernels[i].name) == 0)
            return kernels[i].error;
    return 0;
}

static void bring_error(int error)
{
    if (fake_debug_takes_fault())
        return;
    fake_current()->error = error;
    fake_debug_brought();
}

void fake_kernel_run(struct function *function, struct stream *stream)
{
    const struct wsdbg_config *config = &function->module->config;
    const int probed = function->module->probed && config->slot_count;
    const int overruns = strcmp(function->name, "overrun") == 0;
    const int faults = overruns || strcmp(function->name, "fault") == 0;
    if (strcmp(function->name, "slow") == 0)
        stream->busy_until_ns = fake_now_ns() + 1500000000u;
    if (strcmp(function->name, "hang") == 0)
        stream->busy_until_ns = UINT64_MAX;
    if (stream->busy_until_ns > fake_current()->busy_until_ns)
        fake_current()->busy_until_ns = stream->busy_until_ns;
    if (probed && faults)
        run_pipeline(config, overruns ? 2 : 1);
    else if (probed)
        write_one_event(config, function->count++);
    if (faults && !fake_debug_takes_fault())
        fake_current()->error = 719;
    else if (faults)
        stream->busy_until_ns = fake_now_ns() + fake_debug_handled_ns();
    fake_events_tell(faults ? FAKE_KERNEL_FAILED : FAKE_WORK_ENDED);
    if (function->module->is_ptx && error_of(function->name))
        bring_error(error_of(function->name));
}
