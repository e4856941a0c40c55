/* rule_fault_peer.c - the kernel died: a warp arrived on an mbarrier of another CTA of its cluster that had left the
 * kernel.
 *
 * Reads: the ledger of a case whose context an error ended.  Adds: PEER_EXITED.
 *
 * Shared memory of a CTA that has left is nobody's, and an access to it ends the context (error 719 on an H200).  The
 * driver does not say which instruction it was, so this is likely at most.
 */
#include "diagnose/rules.h"

/* An arrival that came after the last warp of its CTA had left. */
struct late {
    const struct wsdbg_stage *stage;
    const struct wsdbg_use *use;
    uint64_t left_ns;
};

/* When the last warp of the CTA left, by the GPU's clock; 0 where some warp did not, or was not seen. */
static uint64_t left_ns(const struct wsdbg_case *c, uint32_t cta)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const struct wsdbg_cta *row = &snapshot->ctas[cta];
    uint64_t last_ns = 0;
    if (row->warp_count == 0 || row->warp_count < snapshot->grids[c->grid].warps_per_cta)
        return 0;
    for (uint32_t i = row->warp_first; i < row->warp_first + row->warp_count; i++) {
        const struct wsdbg_history_event *event = &snapshot->warps[i].last;
        if (event->kind != WSDBG_EVENT_EXIT)
            return 0;
        last_ns = event->gpu_time_ns > last_ns ? event->gpu_time_ns : last_ns;
    }
    return last_ns;
}

static struct late find_late(const struct wsdbg_case *c)
{
    struct late first = {0};
    for (uint32_t i = 0; i < c->ledger->stage_count; i++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[i];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        const uint64_t gone_ns = left_ns(c, stage->cta);
        for (uint32_t k = 0; k < stage->use_count && gone_ns; k++) {
            const uint64_t time_ns = uses[k].event->gpu_time_ns;
            if (wsdbg_event_is_arrival(uses[k].event) && wsdbg_case_warp(c, uses[k].warp)->cta != stage->cta &&
                time_ns > gone_ns && (!first.use || time_ns < first.use->event->gpu_time_ns))
                first = (struct late){stage, &uses[k], gone_ns};
        }
    }
    return first;
}

void wsdbg_rule_fault_peer(struct wsdbg_case *c)
{
    const struct late late = find_late(c);
    struct wsdbg_finding *finding = late.use ? wsdbg_case_find(c, WSDBG_CAUSE_PEER_EXITED, WSDBG_CONFIDENCE_LIKELY,
                                                               late.stage->cta, late.stage->barrier)
                                             : NULL;
    if (!finding)
        return;
    const uint64_t after_ns = late.use->event->gpu_time_ns - late.left_ns;
    const uint32_t rank = c->snapshot->ctas[late.stage->cta].cluster_rank;
    finding->role = wsdbg_case_warp(c, late.use->warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on %s of cluster rank %u%s %.1f us after that CTA had exited. Its shared memory is then no "
                "longer valid, and an access to it is a fault.",
                wsdbg_say_warp(c, late.use->warp).text, wsdbg_say_stage(late.stage).text, rank,
                wsdbg_say_line(c, late.use->event).text, (double)after_ns / 1e3);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let no CTA exit while another may still access its shared memory: end the kernel with a cluster "
                "barrier on which all threads of the cluster arrive and wait.");
    wsdbg_evidence_event(c, finding, late.use->warp, late.use->event, "%s arrived here",
                         wsdbg_say_warp(c, late.use->warp).text);
    wsdbg_evidence_text(c, finding, "all warps of rank %u had exited before", rank);
    wsdbg_evidence_text(c, finding, "CUDA error %d ended the context",
                        c->snapshot->contexts[c->snapshot->grids[c->grid].context].error);
}
