/* event_arrays.c - see event_arrays.h.
 *
 * Reads: snapshot.barriers, which are all of a look.  Writes: the last event and the history of each warp.
 *
 * The device numbers arrays in the order of their first use, a look numbers them in the order of their addresses.  A
 * look may also find that more mbarriers belong to one array.  Then the iterations change, too: they count stages.
 */
#include "evidence/event_arrays.h"

#include <stdlib.h>

#include "base/error.h"
#include "wsdbg/ring.h"

enum { IDS = 256, STAGES = WSDBG_STAGE_MASK + 1 };

/* What a stage of the device's is in the look. */
struct place {
    bool known;
    uint8_t id, stage;
    uint32_t stages_before, stages; /* of its array, as the device and as the look see it */
};

static bool is_mbarrier_event(uint8_t kind)
{
    return kind >= WSDBG_EVENT_MBARRIER_INIT && kind <= WSDBG_EVENT_TMA_ISSUE;
}

static void note_barrier(const struct wsdbg_barrier *barrier, struct place *places)
{
    if (barrier->kind != WSDBG_BARRIER_MBARRIER || !barrier->device_id.known || barrier->device_id.value >= IDS ||
        barrier->device_stage >= STAGES || barrier->id >= IDS || barrier->stage >= STAGES)
        return;
    places[barrier->device_id.value * STAGES + barrier->device_stage] =
        (struct place){.known = true,
                       .id = (uint8_t)barrier->id,
                       .stage = (uint8_t)barrier->stage,
                       .stages_before = barrier->device_stages,
                       .stages = barrier->name && barrier->name->stages ? barrier->name->stages : 1};
}

static void take(struct wsdbg_history_event *event, const struct place *places)
{
    const struct place *place = &places[event->barrier * STAGES + (event->stage & WSDBG_STAGE_MASK)];
    if (!is_mbarrier_event(event->kind) || !place->known)
        return;
    if (event->iteration != WSDBG_NO_ITERATION && place->stages_before && event->iteration >= event->stage)
        event->iteration = (event->iteration - event->stage) / place->stages_before * place->stages + place->stage;
    event->barrier = place->id;
    event->stage = place->stage;
}

struct wsdbg_error *wsdbg_events_take_arrays(struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const struct wsdbg_grid *row = &snapshot->grids[grid];
    struct place *places = calloc(IDS * STAGES, sizeof *places);
    if (!places)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < snapshot->barrier_count; i++)
        if (snapshot->ctas[snapshot->barriers[i].cta].grid == grid)
            note_barrier(&snapshot->barriers[i], places);
    for (uint32_t c = row->cta_first; c < row->cta_first + row->cta_count; c++)
        for (uint32_t w = snapshot->ctas[c].warp_first; w < snapshot->ctas[c].warp_first + snapshot->ctas[c].warp_count;
             w++) {
            struct wsdbg_warp_row *warp = &snapshot->warps[w];
            take(&warp->last, places);
            for (uint32_t i = 0; i < warp->history_count; i++)
                take(&snapshot->history[warp->history_first + i], places);
        }
    free(places);
    return NULL;
}
