/* overlap.c - see overlap.h.  Reads one warp's events, writes its stages. */
#include "store/overlap.h"

enum { ROUNDS_LEAST = 8 }; /* without the issue: the mbarrier wait comes up to a round later than it */

/* A wait whose iteration is that of the next round continues a row of them; another one begins a row. */
static void note_round(struct wsdbg_overlap *o, const struct wsdbg_history_event *event)
{
    const bool goes_on = o->entered && event->iteration != WSDBG_NO_ITERATION && event->barrier == o->entered_barrier &&
                         event->iteration == o->last_iteration + 1;
    if (o->issued)
        return;
    if (!goes_on)
        *o = (struct wsdbg_overlap){.entered = event->iteration != WSDBG_NO_ITERATION,
                                    .entered_barrier = event->barrier,
                                    .entered_ns = event->gpu_time_ns,
                                    .entered_iteration = event->iteration};
    o->last_iteration = event->iteration;
}

/* Where the history begins within a stage, the stage begins with the first round that is known. */
static void take_entered(struct wsdbg_overlap *o, const struct wsdbg_history_event *end)
{
    if (o->issued || !o->entered || end->iteration != o->last_iteration ||
        end->iteration - o->entered_iteration < ROUNDS_LEAST)
        return;
    o->issued = true;
    o->first_iteration = o->entered_iteration;
    o->stage.issued_ns = o->entered_ns;
}

static uint32_t rounds_of(const struct wsdbg_overlap *o, const struct wsdbg_history_event *end)
{
    const bool numbered = o->first_iteration != WSDBG_NO_ITERATION && end->iteration != WSDBG_NO_ITERATION;
    return numbered && end->iteration >= o->first_iteration ? end->iteration - o->first_iteration + 1 : o->commits;
}

/* The end of a wait whose begin was seen. */
static bool end_wait(struct wsdbg_overlap *o, const struct wsdbg_history_event *end, struct wsdbg_overlap_stage *out)
{
    /* Histories are checked to go forward; a database from elsewhere may not. */
    if (end->gpu_time_ns < o->wait_begin_ns)
        return false;
    if (o->left_groups > 0) {
        o->stage.earlier_waits++;
        o->stage.earlier_wait_ns += end->gpu_time_ns - o->wait_begin_ns;
        return false;
    }
    take_entered(o, end);
    o->stage.wait_begin_ns = o->wait_begin_ns;
    o->stage.wait_end_ns = end->gpu_time_ns;
    o->stage.rounds = rounds_of(o, end);
    if (!o->issued || o->stage.issued_ns > o->stage.wait_begin_ns || o->stage.issued_ns == o->stage.wait_end_ns)
        return false;
    *out = o->stage;
    return true;
}

bool wsdbg_overlap_add(struct wsdbg_overlap *o, const struct wsdbg_history_event *event,
                       struct wsdbg_overlap_stage *out)
{
    bool ended = false;
    switch (event->kind) {
    case WSDBG_EVENT_WGMMA_ISSUE:
        if (!o->issued)
            *o = (struct wsdbg_overlap){
                .stage = {.issued_ns = event->gpu_time_ns}, .issued = true, .first_iteration = event->iteration};
        break;
    case WSDBG_EVENT_WGMMA_COMMIT:
        o->commits += o->issued;
        break;
    case WSDBG_EVENT_WGMMA_WAIT_BEGIN:
        o->waits = true;
        o->left_groups = event->value;
        o->wait_begin_ns = event->gpu_time_ns;
        break;
    case WSDBG_EVENT_WGMMA_WAIT_END:
        ended = o->waits && end_wait(o, event, out);
        /* An end without its begin may be that of a wait for all. */
        o->issued = o->issued && o->waits && o->left_groups > 0;
        o->entered = o->entered && o->waits && o->left_groups > 0;
        o->waits = false;
        break;
    case WSDBG_EVENT_MBARRIER_WAIT_END:
        note_round(o, event);
        break;
    default:
        break;
    }
    return ended;
}
