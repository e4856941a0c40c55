/* rule_outside.c - waits for something that no barrier of the CTA or cluster brings: a word in memory that is polled,
 * the grid before.  From the machine's state and from the record alike.
 *
 * Reads: what is polled and who may write it (poll_writers.c), all grids' warps, launches, blocked host threads.  Adds:
 * GLOBAL_SPIN, HOST_WAIT, NOT_RESIDENT, GRID_DEPENDENCY, and through poll_split.c LANE_SPLIT.
 *
 * Plain stores are not followed, so that nobody writes the word is known only where nothing on the GPU runs and nobody
 * outside of it may have it written.  The record does not show
 * kernels without probes: where one may run nothing is more than possible.
 */
#include "wsdbg/session.h"

#include "diagnose/code_graph.h"
#include "diagnose/code_say.h"
#include "diagnose/grid_barrier.h"
#include "diagnose/host_waits.h"
#include "diagnose/later_ctas.h"
#include "diagnose/poll_beside.h"
#include "diagnose/poll_say.h"
#include "diagnose/poll_split.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"
#include "diagnose/wait_graph.h"

static struct wsdbg_warp_set warps_in(const struct wsdbg_case *c, enum wsdbg_warp_state state)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == state)
            wsdbg_set_add(&set, w);
    return set;
}

static struct wsdbg_warp_set warps_that_poll(const struct wsdbg_case *c)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const enum wsdbg_warp_state state = wsdbg_case_warp(c, w)->state;
        if (wsdbg_warp_state_polls(state) || (wsdbg_warp_state_waits(state) && wsdbg_polling_part(c, w)))
            wsdbg_set_add(&set, w);
    }
    return set;
}

static const char *plural_s(const struct wsdbg_warp_set *warps)
{
    return wsdbg_set_count(warps) == 1 ? "s" : "";
}

/* ---- who could still run ---- */

static bool has_probes(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch *launch)
{
    const uint32_t module =
        launch->function < snapshot->function_count ? snapshot->functions[launch->function].module : WSDBG_NONE;
    return module < snapshot->module_count && snapshot->modules[module].probed;
}

/* Handles of default streams are the same in every thread, the streams may not be. */
static bool same_stream(const struct wsdbg_launch *a, const struct wsdbg_launch *b)
{
    const uint64_t last_default = 2; /* CU_STREAM_PER_THREAD */
    return a->context == b->context && a->stream == b->stream &&
           (a->stream > last_default || a->thread_id == b->thread_id);
}

static bool is_over(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch *launch)
{
    const bool refused = (launch->result != 0 && launch->result != WSDBG_RESULT_PENDING) ||
                         (launch->flags & (WSDBG_LAUNCH_REFUSED | WSDBG_LAUNCH_CAPTURED));
    const struct wsdbg_context *context =
        launch->context < snapshot->context_count ? &snapshot->contexts[launch->context] : NULL;
    return refused || (context && (!context->alive ||
                                   (context->done_launches.known && launch->sequence < context->done_launches.value)));
}

/* A launch without probes, of which the record would show nothing, that may be under way while `self` is.  The order of
 * a stream tells of those in the same one. */
static bool may_run_unseen(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch *launch,
                           const struct wsdbg_launch *self)
{
    if (has_probes(snapshot, launch) || is_over(snapshot, launch))
        return false;
    if (!self || !same_stream(launch, self))
        return true;
    const struct wsdbg_launch *later = launch->sequence < self->sequence ? self : launch;
    return later->flags & WSDBG_LAUNCH_PROGRAMMATIC;
}

static bool somebody_runs_unseen(const struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const struct wsdbg_launch *self = wsdbg_launch_of(snapshot, c->grid);
    for (size_t i = 0; i < snapshot->launch_count; i++)
        if (may_run_unseen(snapshot, &snapshot->launches[i], self))
            return true;
    return false;
}

static bool nobody_runs(const struct wsdbg_case *c)
{
    return wsdbg_code_nobody_runs(c) && (c->of_machine || !somebody_runs_unseen(c));
}

/* Of what only the GPU can bring. */
static enum wsdbg_confidence confidence_on_gpu(const struct wsdbg_case *c)
{
    const bool still = c->of_machine ? c->still : c->quiet;
    return still && nobody_runs(c) ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE;
}

/* The warp waits, and all live warps that could wake it poll. */
static bool is_behind(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_warp_set *pollers)
{
    const struct wsdbg_warp_set wakers = wsdbg_live_wakers(c, warp);
    bool behind =
        c->of_machine && c->graph->nodes[warp].waits && !wsdbg_set_has(pollers, warp) && wsdbg_set_count(&wakers) > 0;
    for (uint32_t v = 0; v < c->warp_count && behind; v++)
        behind = !wsdbg_set_has(&wakers, v) || wsdbg_set_has(pollers, v);
    return behind;
}

static bool some_may_time_out(const struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(pollers, w) && wsdbg_poll_of(c, w).may_time_out)
            return true;
    return false;
}

/* The least sure of what is polled. */
static enum wsdbg_confidence confidence_of_polls(const struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    if (wsdbg_hangs_beside(c, pollers) != WSDBG_BESIDE_NOBODY || some_may_time_out(c, pollers))
        return WSDBG_CONFIDENCE_POSSIBLE;
    if (wsdbg_grid_barrier_of(c).counted) /* a word that counts CTAs is for CTAs to change, however it is read */
        return confidence_on_gpu(c);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(pollers, w) && wsdbg_poll_of(c, w).writer != WSDBG_WRITER_NOBODY)
            return WSDBG_CONFIDENCE_POSSIBLE;
    return confidence_on_gpu(c);
}

/* ---- a grid and its dependent ---- */

/* What the warp's row says is polled this GPU alone should write. */
static bool polls_for_gpu(const struct wsdbg_case *c, const struct wsdbg_warp_row *warp)
{
    return c->of_machine ? !wsdbg_code_polls_system(c->snapshot, warp->site) : !wsdbg_event_polls_system(warp);
}

/* Nothing that is known says that it came through a poll before. */
static bool never_polled(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp)
{
    if (warp->history_first > snapshot->history_count ||
        warp->history_count > snapshot->history_count - warp->history_first)
        return false;
    for (uint32_t i = 0; i < warp->history_count; i++)
        if (snapshot->history[warp->history_first + i].kind == WSDBG_EVENT_POLL_END)
            return false;
    return warp->history_whole;
}

/* Its live warps all wait and one of them polls; one that has left never did: what is polled was not there before. */
static bool cta_stands_at_poll(const struct wsdbg_case *c, const struct wsdbg_cta *cta)
{
    bool polls = false, left = true, never = true;
    if (cta->warp_first > c->snapshot->warp_count || cta->warp_count > c->snapshot->warp_count - cta->warp_first)
        return false;
    for (uint32_t k = 0; k < cta->warp_count; k++) {
        const struct wsdbg_warp_row *warp = &c->snapshot->warps[cta->warp_first + k];
        const bool exited = warp->state == WSDBG_WARP_EXITED, spins = wsdbg_warp_state_polls(warp->state);
        if ((!exited && !wsdbg_warp_state_waits(warp->state)) || (spins && !polls_for_gpu(c, warp)))
            return false;
        polls = polls || spins;
        left = left && exited;
        never = never && never_polled(c->snapshot, warp);
    }
    return left ? never : polls;
}

/* The whole grid is seen and stands at a poll of memory that this GPU should write. */
static bool grid_stands_at_poll(const struct wsdbg_case *c, const struct wsdbg_grid *grid)
{
    for (uint32_t i = 0; i < grid->cta_count; i++)
        if (!cta_stands_at_poll(c, &c->snapshot->ctas[grid->cta_first + i]))
            return false;
    return grid->cta_count > 0 && grid->cta_count >= grid->cta_total;
}

/* Another running grid of the context, unless it is known to be in another stream or to come later. */
static uint32_t grid_before(const struct wsdbg_snapshot *snapshot, uint32_t dependent)
{
    const struct wsdbg_launch *self = wsdbg_launch_of(snapshot, dependent);
    for (uint32_t g = 0; g < snapshot->grid_count; g++) {
        const struct wsdbg_grid *grid = &snapshot->grids[g];
        const struct wsdbg_launch *launch = wsdbg_launch_of(snapshot, g);
        const bool elsewhere = self && launch && (!same_stream(self, launch) || launch->sequence > self->sequence);
        if (g != dependent && grid->running && !elsewhere && grid->context == snapshot->grids[dependent].context &&
            grid->cta_first <= snapshot->cta_count && grid->cta_count <= snapshot->cta_count - grid->cta_first)
            return g;
    }
    return WSDBG_NONE;
}

static bool grid_waits_for_one(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid)
{
    for (size_t w = 0; w < snapshot->warp_count; w++)
        if (snapshot->warps[w].state == WSDBG_WARP_WAIT_GRID_DEPENDENCY &&
            snapshot->warps[w].cta - grid->cta_first < grid->cta_count)
            return true;
    return false;
}

/* The grid that waits for the end of the case's one, which stands at a poll. */
static uint32_t dependent_of(const struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    for (uint32_t g = 0; g < snapshot->grid_count; g++)
        if (g != c->grid && snapshot->grids[g].running && grid_waits_for_one(snapshot, &snapshot->grids[g]) &&
            grid_before(snapshot, g) == c->grid)
            return grid_stands_at_poll(c, &snapshot->grids[c->grid]) ? g : WSDBG_NONE;
    return WSDBG_NONE;
}

/* ---- words that are polled ---- */

static void say_not_resident(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    const uint32_t first = wsdbg_first_of(pollers);
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_NOT_RESIDENT, confidence_of_polls(c, pollers),
                                                    wsdbg_case_warp(c, first)->cta, wsdbg_poll_of(c, first).barrier);
    if (!finding)
        return;
    if (wsdbg_grid_barrier_of(c).counted)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s poll%s %s%s, a grid barrier. By the word's count, all %u CTAs on the GPU have reached it. The "
                    "other %u of the grid's %u cannot start before one of these exits, and none of these can exit.",
                    wsdbg_say_warps(c, pollers).text, plural_s(pollers), wsdbg_say_polled(c, first).text,
                    wsdbg_say_at_poll(c, first).text, grid->cta_count, grid->cta_total - grid->cta_count,
                    grid->cta_total);
    else
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s poll%s %s%s while only %u of the grid's %u CTAs are on the GPU: if one of the others should "
                    "write it, that CTA cannot start before one of these exits.",
                    wsdbg_say_warps(c, pollers).text, plural_s(pollers), wsdbg_say_polled(c, first).text,
                    wsdbg_say_at_poll(c, first).text, grid->cta_count, grid->cta_total);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Launch no more CTAs than can be resident at once (a cooperative launch checks this), or let no CTA "
                "wait for a later one.");
    wsdbg_tell_waits(c, finding, pollers);
}

#define NO_WARP ", and no warp seen on the GPU can still write it: all wait or have exited; "

/* Who but the warps that were seen could write it. */
static const char *say_others(const struct wsdbg_poll *poll)
{
    switch (poll->writer) {
    case WSDBG_WRITER_WARP:
        return "; another warp polls a word that the host or another device may write, and may write this one once it "
               "continues";
    case WSDBG_WRITER_HELD_BACK:
        return NO_WARP "but since an earlier look the driver holds back the program's new GPU work until this kernel "
                       "ends, so the look itself may hold back the work that would end it";
    case WSDBG_WRITER_HOST_WORK:
        return NO_WARP
            "the host still can, with a copy or a kernel that it has not submitted yet, so this may be intended";
    case WSDBG_WRITER_HOST_STORE:
        return NO_WARP "a host thread still can, so this may be intended";
    case WSDBG_WRITER_SYSTEM:
        return ", which no warp seen on the GPU can still write; it is read with system scope, so the host or another "
               "GPU may write it and this may be intended";
    case WSDBG_WRITER_PEER:
        return NO_WARP "another GPU of the program still may: its work is not known to be complete";
    case WSDBG_WRITER_PROCESS:
        return NO_WARP "another process or device still can, so this may be intended";
    case WSDBG_WRITER_CLOCK:
    case WSDBG_WRITER_NOBODY:
        break;
    }
    if (poll->others_ended)
        return NO_WARP "as far as seen, neither the host, which waits for this kernel, nor another process can: ";
    return poll->memory && poll->memory->row.peer_devices
               ? NO_WARP "as far as seen, neither the other GPU, whose work is complete, nor the host, which waits for "
                         "this kernel, can"
               : NO_WARP "as far as seen, the host cannot either: it waits for this kernel";
}

static const char *const say_beside[] = {
    [WSDBG_BESIDE_MBARRIER] = "; warps that wait at mbarriers may be the ones that should write it",
    [WSDBG_BESIDE_WARPS] =
        "; other warps wait for one another, not for those that poll, and may be the ones that should write it",
    [WSDBG_BESIDE_CTA] = "; another CTA hangs without polling memory, and may be the one that should write it",
};

/* Who could still write the word that a warp polls, as a part of a sentence. */
static const char *say_writers(const struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    const uint32_t warp = wsdbg_first_of(pollers);
    if (!wsdbg_code_nobody_runs(c))
        return "; a running warp may still write it";
    if (!nobody_runs(c))
        return "; a kernel without probes, which the record does not show, may still write it";
    const struct wsdbg_poll poll = wsdbg_poll_of(c, warp);
    const enum wsdbg_beside beside = wsdbg_hangs_beside(c, pollers);
    if (beside != WSDBG_BESIDE_NOBODY)
        return say_beside[beside];
    return poll.shared && (poll.writer == WSDBG_WRITER_NOBODY || poll.writer == WSDBG_WRITER_CLOCK)
               ? ", and no warp that was seen can still write it: all wait or have exited"
               : say_others(&poll);
}

/* CTAs that are not there: those of a cooperative launch began with the others, and have left. */
static void say_grid_barrier(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers,
                             const struct wsdbg_grid_barrier *barrier, struct wsdbg_finding *finding)
{
    const uint32_t first = wsdbg_first_of(pollers), missing = wsdbg_code_ctas_unseen(c);
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    char others[160] = "";
    if (barrier->gone)
        wsdbg_print(others, sizeof others,
                    ": %u CTAs were launched, %u are on the GPU, and %u have exited without reaching it",
                    grid->cta_total, wsdbg_code_ctas_there(c), barrier->gone);
    else if (missing)
        wsdbg_print(others, sizeof others,
                    ": %u of the grid's %u CTAs have reached it, and the other %u are not on the GPU",
                    wsdbg_code_ctas_there(c), grid->cta_total, missing);
    wsdbg_print(finding->sentence, sizeof finding->sentence, "%s poll%s %s%s, a grid barrier%s.",
                wsdbg_say_warps(c, pollers).text, plural_s(pollers), wsdbg_say_polled(c, first).text,
                wsdbg_say_at_poll(c, first).text, others);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every CTA of the grid reach the barrier the same number of times: none may return before it.");
}

/* Lanes of a polling warp that wait for those that poll: what these would do comes after it. */
static void tell_gathered(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count && wsdbg_polling_part(c, warp); i++)
        if (parts[i].state == WSDBG_WARP_RECONVERGE)
            wsdbg_evidence_warp(c, finding, warp,
                                "lanes 0x%08x of %s wait at %s for the polling lanes, and write nothing before that",
                                parts[i].lanes, wsdbg_say_warp(c, warp).text, wsdbg_say_place(c, parts[i].site).text);
}

static void tell_those_behind(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_warp_set *pollers)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (is_behind(c, w, pollers))
            wsdbg_evidence_warp(c, finding, w, "%s %s%s, for those that poll", wsdbg_say_warp(c, w).text,
                                wsdbg_say_wait(c, w).text, wsdbg_say_at(c, w).text);
}

static void say_spin(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    const struct wsdbg_grid_barrier barrier = wsdbg_grid_barrier_of(c);
    const uint32_t first = wsdbg_first_of(pollers);
    const struct wsdbg_poll poll = wsdbg_poll_of(c, first);
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_GLOBAL_SPIN, confidence_of_polls(c, pollers),
                                                    wsdbg_case_warp(c, first)->cta, poll.barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence, "%s poll%s %s%s%s%s.%s", wsdbg_say_warps(c, pollers).text,
                plural_s(pollers), wsdbg_say_polled(c, first).text, wsdbg_say_at_poll(c, first).text,
                say_writers(c, pollers), nobody_runs(c) ? wsdbg_say_ended(c, &poll).text : "",
                some_may_time_out(c, pollers)
                    ? " The loop may also end by itself: by a time limit or a count, for example."
                    : "");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Find the code that should write that word. Look for a path that skips the write, a lock that is never "
                "released, or %s.",
                poll.shared ? "warps that update it concurrently without an atomic"
                            : "a kernel or host thread that waits for this kernel itself");
    if (barrier.counted || barrier.gone)
        say_grid_barrier(c, pollers, &barrier, finding);
    wsdbg_tell_polled_memory(c, finding, first);
    wsdbg_tell_waits(c, finding, pollers);
    tell_gathered(c, finding, first);
    tell_those_behind(c, finding, pollers);
    wsdbg_tell_host(c, finding, poll.shared ? NULL : wsdbg_host_waits(c));
}

#define NEVER_FOR_DEPENDENT \
    "A grid must never wait for its dependent grid: let the previous grid end, or signal before griddepcontrol.wait."

/* The other end of say_dependency. */
static void say_spin_for_dependent(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers, uint32_t dependent)
{
    const uint32_t first = wsdbg_first_of(pollers);
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_GRID_DEPENDENCY, confidence_of_polls(c, pollers),
                                                    wsdbg_case_warp(c, first)->cta, wsdbg_poll_of(c, first).barrier);
    if (!finding)
        return;
    const char *name = wsdbg_snapshot_grid_name(c->snapshot, &c->snapshot->grids[dependent]);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s poll%s %s%s, perhaps for a write by the next grid%s%.200s, which waits for this one to end "
                "(griddepcontrol.wait).",
                wsdbg_say_warps(c, pollers).text, plural_s(pollers), wsdbg_say_polled(c, first).text,
                wsdbg_say_at_poll(c, first).text, name ? " " : "", name ? name : "");
    wsdbg_print(finding->fix, sizeof finding->fix, NEVER_FOR_DEPENDENT);
    wsdbg_tell_waits(c, finding, pollers);
}

/* Where it is not known whose memory that is, another thread or process may be the one that writes. */
static void say_host_wait(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers,
                          const struct wsdbg_host_thread *thread)
{
    const uint32_t first = wsdbg_first_of(pollers);
    const enum wsdbg_confidence confidence = confidence_of_polls(c, pollers);
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_HOST_WAIT, confidence,
                                                    wsdbg_case_warp(c, first)->cta, wsdbg_poll_of(c, first).barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s poll%s %s%s, which the host may write, while host thread %u waits in %s for the GPU%s.",
                wsdbg_say_warps(c, pollers).text, plural_s(pollers), wsdbg_say_polled(c, first).text,
                wsdbg_say_at_poll(c, first).text, thread->thread_id, thread->call,
                confidence == WSDBG_CONFIDENCE_POSSIBLE
                    ? ": if that thread should write it, neither can continue"
                    : ", and no other thread of the program can continue on its own, so neither side continues");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Write the word before waiting for the kernel, or from a thread that does not wait for it.");
    wsdbg_tell_polled_memory(c, finding, first);
    wsdbg_tell_waits(c, finding, pollers);
    wsdbg_tell_host(c, finding, thread);
}

/* Nobody who is seen but lanes of the same warp could write what is polled. */
static bool is_split(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    return c->of_machine && nobody_runs(c) && wsdbg_find_poll_split(c, pollers, confidence_of_polls(c, pollers)) &&
           wsdbg_case_explained(c);
}

static void judge_polls(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    const struct wsdbg_host_thread *thread = wsdbg_host_blocked(c);
    const uint32_t dependent = dependent_of(c);
    if (wsdbg_replay_stands_at_polls(c))
        return; /* the end of the polls would not be the end of the kernel */
    if (wsdbg_later_ctas_wait(c))
        say_not_resident(c, pollers);
    else if (dependent != WSDBG_NONE)
        say_spin_for_dependent(c, pollers, dependent);
    else if (is_split(c, pollers))
        return; /* there is nobody else to look for */
    else if (thread && nobody_runs(c) && wsdbg_poll_of(c, wsdbg_first_of(pollers)).host_store &&
             !wsdbg_grid_barrier_of(c).counted)
        say_host_wait(c, pollers, thread);
    else
        say_spin(c, pollers);
}

/* ---- waits for the grid before ---- */

/* The grid before polls what the host will not bring. */
static enum wsdbg_confidence confidence_of_dependent(const struct wsdbg_case *c)
{
    return wsdbg_host_waits(c) ? confidence_on_gpu(c) : WSDBG_CONFIDENCE_POSSIBLE;
}

static void say_dependency(struct wsdbg_case *c, const struct wsdbg_warp_set *waiting)
{
    const uint32_t first = wsdbg_first_of(waiting);
    const uint32_t before = grid_before(c->snapshot, c->grid);
    const bool polls = before != WSDBG_NONE && grid_stands_at_poll(c, &c->snapshot->grids[before]);
    const char *name = before == WSDBG_NONE ? NULL : wsdbg_snapshot_grid_name(c->snapshot, &c->snapshot->grids[before]);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_GRID_DEPENDENCY, polls ? confidence_of_dependent(c) : WSDBG_CONFIDENCE_POSSIBLE,
                        wsdbg_case_warp(c, first)->cta, wsdbg_case_warp(c, first)->barrier);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s%s for the previous grid (griddepcontrol.wait)%s%.200s%s.", wsdbg_say_warps(c, waiting).text,
                plural_s(waiting), wsdbg_say_at(c, first).text, name ? ": " : "", name ? name : "",
                before == WSDBG_NONE ? ", which was not seen on the GPU"
                : polls              ? ", which polls memory, perhaps for a write by this grid"
                                     : ", which has not ended");
    wsdbg_print(finding->fix, sizeof finding->fix, NEVER_FOR_DEPENDENT);
    wsdbg_tell_waits(c, finding, waiting);
}

void wsdbg_rule_outside(struct wsdbg_case *c)
{
    const struct wsdbg_warp_set pollers = warps_that_poll(c);
    const struct wsdbg_warp_set dependent = warps_in(c, WSDBG_WARP_WAIT_GRID_DEPENDENCY);
    /* If a barrier of the CTA or cluster has a likely cause, these waits are its consequences. */
    if (wsdbg_case_explained(c))
        return;
    if (wsdbg_set_count(&dependent) > 0)
        say_dependency(c, &dependent);
    if (wsdbg_set_count(&pollers) > 0)
        judge_polls(c, &pollers);
}
