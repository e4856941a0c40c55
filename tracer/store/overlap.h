/* overlap.h - how much wgmma work was still in flight when a warp began to wait for all of it, as its history shows.
 *
 * What is measured is a stage: from the first issue that a warp recorded after a wait for all that went before, to the
 * end of its next wait for all.  The time of an event is when the warp reached it.  So it is not known when the tensor
 * cores began, and only the end of a wait shows that work has ended.  Hence the measure: how long the last wait took,
 * in rounds of the stage.  With one group in flight that is about one round; with nothing in flight, because ptxas put
 * waits in or because data came late, it is none.  A history is a ring: where it begins within a stage of many rounds,
 * the stage counts from the first mbarrier wait in it that has an iteration, which is written behind that iteration's
 * issue.  Stages whose last wait is not in the history are left out, and so are short ones without their issue.
 *
 * A round is an iteration as the probes number them, else a commit; of what has neither only times are known.
 */
#ifndef WSDBG_STORE_OVERLAP_H
#define WSDBG_STORE_OVERLAP_H

#include "store/database.h"

struct wsdbg_overlap_stage {
    uint64_t
        issued_ns; /* GPU, as the others: the issue, or the first mbarrier wait that the history has of the stage */
    uint64_t wait_begin_ns, wait_end_ns; /* they do not go backward, and it ends after it began */
    uint32_t rounds;                     /* 0 = not known */
    uint32_t earlier_waits;              /* in the stage, that left groups in flight */
    uint64_t earlier_wait_ns;            /* of all of them */
};

/* Finds the stages in one warp's wgmma events, which come oldest first.  All zero before the first event. */
struct wsdbg_overlap {
    struct wsdbg_overlap_stage stage;
    bool issued, waits; /* the stage has begun; a wait has, and not ended */
    bool entered; /* no issue was seen, but waits for one mbarrier, iteration after iteration: the first and the last */
    uint8_t entered_barrier;
    uint64_t entered_ns;
    uint32_t entered_iteration, last_iteration;
    uint32_t first_iteration, commits, left_groups;
    uint64_t wait_begin_ns;
};

/* Takes the next event; true when it ends a stage, which is then in `out`. */
bool wsdbg_overlap_add(struct wsdbg_overlap *overlap, const struct wsdbg_history_event *event,
                       struct wsdbg_overlap_stage *out);

/* Gives the connection the table wgmma_stage: a row a stage of the shown picture.  What a simulated device writes of
 * kernels without probes is not in it: there a wait that passes at once has no begin. */
struct wsdbg_error *wsdbg_overlap_register(struct wsdbg_store *store);

/* The table `overlap` for the SELECT that follows: a row a grid, role and warpgroup. */
#define WSDBG_OVERLAP_SQL                                                                                            \
    "WITH measured AS (SELECT t.grid_id, w.role, w.warp / 4 AS warpgroup, t.rounds, t.earlier_waits, "               \
    "t.earlier_wait_ns, t.wait_end_gpu_ns - t.wait_begin_gpu_ns AS wait_ns, t.wait_end_gpu_ns - t.issued_gpu_ns AS " \
    "stage_ns FROM wgmma_stage t CROSS JOIN warp w WHERE w.id = t.warp_id), "                                        \
    "overlap AS (SELECT grid_id, role, warpgroup, count(*) AS stages, avg(rounds) AS rounds, "                       \
    "CAST(avg(1.0 * stage_ns / rounds) AS INTEGER) AS round_ns, CAST(avg(wait_ns) AS INTEGER) AS wait_ns, "          \
    "avg(1.0 * wait_ns * rounds / stage_ns) AS in_flight, min(1.0 * wait_ns * rounds / stage_ns) AS least, "         \
    "max(1.0 * wait_ns * rounds / stage_ns) AS most, sum(earlier_waits) AS earlier_waits, "                          \
    "CAST(total(earlier_wait_ns) / nullif(sum(earlier_waits), 0) AS INTEGER) AS earlier_wait_ns "                    \
    "FROM measured GROUP BY grid_id, role, warpgroup) "

#endif
