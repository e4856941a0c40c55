/* cluster_barrier.c - barrier.cluster.arrive and .wait: a generation ends when every live thread of the cluster
 * arrived.
 *
 * Reads and writes: which lanes arrived (in the warps), the cluster's generation.  A thread that exited counts as
 * arrived.
 */
#include "hopper/device.h"
#include "hopper/execute.h"
#include "hopper/race.h"

/* Live lanes of the warp that have not arrived in this generation. */
static uint32_t missing_lanes(const struct hopper_warp *warp, uint64_t generation)
{
    const uint32_t of_this = generation & 1 ? warp->cluster_parity : ~warp->cluster_parity;
    return warp->live & ~(warp->cluster_arrived & of_this);
}

static bool everybody_arrived(const struct hopper_cluster *cluster)
{
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++) {
        const struct hopper_cta *const cta = cluster->ctas[rank];
        for (uint32_t i = 0; cta->live_warps && i < cta->warp_count; i++)
            if (missing_lanes(&cta->warps[i], cluster->generation))
                return false;
    }
    return true;
}

static void end_generation_if_due(struct hopper_cluster *cluster)
{
    if (!everybody_arrived(cluster))
        return;
    cluster->generation++;
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++)
        hopper_changed_barrier(cluster->ctas[rank]);
}

enum hopper_outcome hopper_do_barrier_cluster_arrive(struct hopper_step *step)
{
    struct hopper_warp *const warp = step->warp;
    struct hopper_cluster *const cluster = warp->cta->cluster;
    if (step->gpu->races)
        hopper_race_cluster_arrive(step);
    warp->writes++;
    warp->cluster_arrived |= step->lanes;
    warp->cluster_parity = (warp->cluster_parity & ~step->lanes) | (cluster->generation & 1 ? step->lanes : 0);
    end_generation_if_due(cluster);
    return HOPPER_NEXT;
}

/* A lane that waits without having arrived waits for ever: the generation needs its arrival. */
enum hopper_outcome hopper_do_barrier_cluster_wait(struct hopper_step *step)
{
    struct hopper_warp *const warp = step->warp;
    const uint32_t current = warp->cta->cluster->generation & 1 ? warp->cluster_parity : ~warp->cluster_parity;
    const uint32_t over = warp->cluster_arrived & ~current;
    if (step->lanes & ~over) {
        step->split->wait = (struct hopper_wait){.kind = HOPPER_WAITS_CLUSTER};
        return HOPPER_BLOCKED;
    }
    if (step->gpu->races)
        hopper_race_cluster_wait(step, warp->cluster_parity >> __builtin_ctz(step->lanes) & 1);
    warp->cluster_arrived &= ~step->lanes;
    warp->writes++;
    step->split->wait = (struct hopper_wait){.kind = HOPPER_RUNS};
    return HOPPER_NEXT;
}

/* Generations cannot end by an exit while nobody has arrived: there would be nobody to see it. */
void hopper_lanes_exited(struct hopper_warp *warp, uint32_t lanes)
{
    struct hopper_cluster *const cluster = warp->cta->cluster;
    (void)lanes;
    bool somebody_waits = false;
    for (uint32_t rank = 0; rank < cluster->cta_count && !somebody_waits; rank++) {
        const struct hopper_cta *const cta = cluster->ctas[rank];
        for (uint32_t i = 0; i < cta->warp_count && !somebody_waits; i++)
            somebody_waits = cta->warps[i].live && cta->warps[i].cluster_arrived;
    }
    if (somebody_waits)
        end_generation_if_due(cluster);
}
