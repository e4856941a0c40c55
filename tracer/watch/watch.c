/* watch.c - see watch.h: look, tick the watchdogs, and on a stall inspect, judge, say, store.
 *
 * What is not a hang is looked at again after twice the time; the program goes on undisturbed.  The parts of the loop
 * are in loop.h.
 */
#include <string.h>

#include "evidence/sim_stands.h"
#include "watch/refusals.h"
#include "watch/loop.h"

enum {
    STANDS_NS = 2 * WSDBG_WATCH_COMPARE_NS, /* without progress, where it is known that there will be none */
    REFRESH_NS = 100000000, /* the program gets at least this long between two looks that are asked for */
};

/* For so long it is expected; a loaded machine may need more than a moment to judge it. */
#define STANDS_LAST_NS 10000000000ull

/* A simulated device that executed instructions so short a time ago works. */
#define SIMULATOR_WORKS_NS 1000000000ull

static void count_what_was_seen(struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot)
{
    watch->launches = snapshot->launches_total;
    watch->cuda_seen |= snapshot->context_count > 0 || snapshot->launches_total > 0;
    watch->probes_seen |= snapshot->grid_count > 0;
    for (size_t i = 0; i < snapshot->module_count; i++)
        watch->probes_seen |= snapshot->modules[i].probed;
    if (snapshot->unread_segments > watch->unread_segments) {
        watch->unread_segments = snapshot->unread_segments;
        memcpy(watch->unread_reason, snapshot->unread_reason, sizeof watch->unread_reason);
    }
    watch->outlived_by = 0;
    for (size_t i = 0; i < snapshot->context_count; i++)
        if (snapshot->contexts[i].alive && snapshot->contexts[i].process_id != watch->program_id)
            watch->outlived_by = snapshot->contexts[i].process_id;
    for (size_t i = snapshot->context_count; i-- > 0;)
        if (snapshot->contexts[i].error != 0 && (!watch->fault_explained || snapshot->contexts[i].error_words[0])) {
            watch->fault_explained = snapshot->contexts[i].error_words[0];
            wsdbg_fault_sentence(snapshot, i, watch->fault);
            wsdbg_fault_launches(snapshot, i, watch->fault_launches);
        }
}

/* Lets the evidence come to the GPU or leave it while the program goes on. */
static void attend(struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot, uint64_t now_ns, bool over)
{
    char line[256] = "";
    if (!watch->evidence->ops->attend)
        return;
    do {
        watch->evidence->ops->attend(watch->evidence, snapshot, now_ns, over, line, sizeof line);
        if (line[0])
            wsdbg_watch_say(watch, "%s", line);
    } while (over && line[0]);
}

enum { GAPS_SAID = 3 }; /* what comes and goes is not said for ever; the closing line has the sum */

/* What is wrong now may be right in a moment: too many files open, no memory.  A recording stays as it is. */
static void lose_sight(struct wsdbg_watch_loop *loop, struct wsdbg_error *error, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    if (!watch->blind && loop->gaps++ < GAPS_SAID)
        wsdbg_watch_say(watch, "not watching%s: %s%s", watch->clock->is_live ? "" : " from here on",
                        wsdbg_error_message(error), watch->clock->is_live ? "; trying again" : "");
    if (!watch->blind)
        loop->blind_since_ns = now_ns;
    watch->blind = true;
    wsdbg_error_destroy(error);
}

static void see_again(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    const uint64_t gap_ns = now_ns - loop->blind_since_ns;
    if (loop->gaps <= GAPS_SAID)
        wsdbg_watch_say(watch, "watching again, after %.1f s", (double)gap_ns / 1e9);
    watch->blind_ns += gap_ns;
    watch->blind = false;
}

/* Keeps the newest snapshot; false when there is none. */
static bool look(struct wsdbg_watch_loop *loop, uint64_t now_ns, bool over)
{
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_watch *watch = loop->watch;
    if (watch->blind && !watch->clock->is_live)
        return false;
    struct wsdbg_error *error = watch->evidence->ops->poll(watch->evidence, now_ns, &snapshot);
    if (error) {
        lose_sight(loop, error, now_ns);
        return false;
    }
    if (watch->blind)
        see_again(loop, now_ns);
    wsdbg_snapshot_deinit(&loop->last);
    loop->last = snapshot;
    count_what_was_seen(watch, &loop->last);
    if (watch->refusals)
        wsdbg_refusals_say(watch->refusals, watch, &loop->last, over);
    if (watch->listener)
        watch->listener->looked(watch->listener, &loop->last, over);
    attend(watch, &loop->last, now_ns, over);
    return true;
}

/* Every fault is looked at once, with everything that is left of its context: the first one of several need not be the
 * one that shows a cause.  The first cause is reported like a hang's; the program goes its own way. */
static void judge_fault(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    struct wsdbg_diagnosis diagnosis = {0};
    loop->faults_judged = wsdbg_fault_count(&loop->last);
    if (watch->evidence->ops->fetch)
        watch->evidence->ops->fetch(watch->evidence, &loop->last, watch->look_ns);
    struct wsdbg_error *error = wsdbg_watch_inspect_within(loop, now_ns, WSDBG_RING_NS);
    if (!error) {
        count_what_was_seen(watch, &loop->last);
        wsdbg_watch_record(loop, now_ns);
        error = wsdbg_diagnose_faults(&loop->last, &diagnosis);
    }
    if (!error && diagnosis.finding_count > 0 && !watch->fault_reported) {
        error = wsdbg_watch_say_verdict(watch, &loop->last, &diagnosis, watch->stall_ns);
        watch->fault_reported = !error;
        snprintf(watch->cause, sizeof watch->cause, "%s", wsdbg_cause_name(diagnosis.findings[0].cause));
    }
    if (!error && watch->listener)
        watch->listener->judged(watch->listener, &loop->last, &diagnosis);
    if (!error)
        wsdbg_watch_store_verdict(loop, &loop->last, &diagnosis, now_ns);
    if (error)
        wsdbg_watch_say(watch, "the look at the GPU fault failed: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* Somebody wants to know where every warp stands.  A picture of a program that runs is no verdict. */
static void look_now(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const struct wsdbg_watch *watch = loop->watch;
    struct wsdbg_error *error = wsdbg_watch_inspect(loop, now_ns);
    if (!error && loop->last.warp_count > 0)
        wsdbg_watch_read_stacks(loop);
    if (!error && loop->last.warp_count == 0)
        wsdbg_watch_say(watch, "looked, and saw no warp of a kernel");
    else if (!error)
        error = wsdbg_watch_say_picture(watch, &loop->last, "where every warp stands now; no verdict");
    if (error)
        wsdbg_watch_say(watch, "the look failed: %s", wsdbg_error_message(error));
    else
        wsdbg_watch_store(loop, now_ns, true);
    wsdbg_error_destroy(error);
}

/* Somebody looks on.  A kernel with probes shows itself, and a hang stays as it was judged. */
static void refresh(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    if (!watch->look_ns || watch->probes_seen || !watch->cuda_seen || wsdbg_stall_is_judged(&loop->work) ||
        now_ns - loop->refreshed_ns < REFRESH_NS)
        return;
    struct wsdbg_error *error = wsdbg_watch_inspect(loop, now_ns);
    if (error)
        wsdbg_watch_say(watch, "the look failed: %s", wsdbg_error_message(error));
    else
        wsdbg_watch_store(loop, now_ns, true);
    if (!error && watch->listener)
        watch->listener->looked(watch->listener, &loop->last, false);
    wsdbg_error_destroy(error);
    loop->refreshed_ns = watch->clock->now_ns(watch->clock);
}

static void begin_stalls(struct wsdbg_watch_loop *loop, uint64_t slots_ns, uint64_t work_ns)
{
    wsdbg_stall_init(&loop->slots, slots_ns);
    wsdbg_stall_init(&loop->work, work_ns);
    loop->slots.give_up_ns = loop->work.give_up_ns = loop->watch->give_up_ns;
}

/* The simulator knows that the work cannot go on: what would take a time-out to be believed is judged soon. */
static void expect_stall(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    if (wsdbg_stall_is_judged(&loop->slots) || wsdbg_stall_is_judged(&loop->work))
        return;
    loop->watch->stands_proven = true;
    loop->stands_until_ns = now_ns + STANDS_LAST_NS;
    begin_stalls(loop, STANDS_NS, STANDS_NS);
}

/* What was said of one device holds for no other for ever. */
static void expect_nothing(struct wsdbg_watch_loop *loop)
{
    if (loop->watch->hang)
        return;
    loop->watch->stands_proven = false;
    begin_stalls(loop, loop->watch->stall_ns, loop->watch->work_stall_ns);
}

/* The program is gone: what its kernels recorded last becomes the newest picture, histories and all. */
static void keep_last_histories(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    struct wsdbg_error *error = wsdbg_watch_inspect_within(loop, now_ns, WSDBG_RING_NS);
    if (error)
        wsdbg_watch_say(loop->watch, "the histories are not kept: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

/* Some warp is outside of any wait, as far as slots tell. */
static bool some_warp_runs(const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->warp_count; i++)
        if (snapshot->warps[i].state == WSDBG_WARP_RUNNING)
            return true;
    return false;
}

/* A simulated device may be slow, or a warp of it may loop without an end: nobody can tell, so it is only said, after
 * ten stall times and then each time it has become twice as long. */
static void say_works(struct wsdbg_watch_loop *loop)
{
    enum { STALLS = 10 };
    const uint64_t works_ns = loop->work.held_ns;
    if (works_ns < loop->works_said_ns)
        loop->works_said_ns = 0; /* something has moved */
    const uint64_t due_ns = loop->works_said_ns ? 2 * loop->works_said_ns : STALLS * loop->watch->work_stall_ns;
    if (works_ns < due_ns || !works_ns)
        return;
    loop->works_said_ns = works_ns;
    wsdbg_watch_say(loop->watch,
                    "the simulated GPU has executed instructions for %.1f s and no work was completed: no stall, but a "
                    "loop without an end would look the same",
                    (double)works_ns / 1e9);
}

/* The GPU goes on while signals hold the program, and a mapped ring shows what it does.  A debugger may hold the GPU
 * too, and a simulated one stops with the program. */
static bool is_seen_while_held(const struct wsdbg_watch_loop *loop)
{
    const struct wsdbg_snapshot *last = &loop->last;
    const char *device = loop->watch->info->device;
    bool any_runs = false;
    if (!device || strcmp(device, "gpu") != 0 || !wsdbg_held_by_signals(&loop->held))
        return false;
    for (size_t i = 0; i < last->grid_count; i++) {
        const uint32_t context = last->grids[i].context;
        if (!last->grids[i].running)
            continue;
        if (context >= last->context_count || last->contexts[context].ring != WSDBG_RING_IN_HOST)
            return false;
        any_runs = true;
    }
    return any_runs;
}

/* Whether the program is held now.  A simulated device that executes instructions is slow, not stalled; but warps that
 * all wait are judged by their slots, for they may poll for ever.  The time for which the program is held, or was until
 * this very moment, counts for no stall.  Only kernels that are seen all the same are judged. */
static bool is_held(struct wsdbg_watch_loop *loop, enum wsdbg_wait event, uint64_t now_ns)
{
    const uint64_t before_ns = loop->held.ticked_ns;
    if (!loop->watch->clock->is_live)
        return false;
    const bool resumed = event == WSDBG_WAIT_RESUMED && before_ns;
    uint64_t held_ns = wsdbg_held_tick(&loop->held, &loop->last, now_ns);
    if (resumed)
        held_ns = now_ns - before_ns;
    const bool works = loop->watch->spool && before_ns && wsdbg_sim_works(loop->watch->spool, SIMULATOR_WORKS_NS);
    const uint64_t work_held_ns = works ? now_ns - before_ns : held_ns;
    loop->asks_record_alone = held_ns > 0 && !resumed && is_seen_while_held(loop);
    if (loop->asks_record_alone) {
        loop->record_alone_ns += held_ns;
    } else {
        /* The host could not feed the kernels meanwhile.  So that time counts for no verdict but those of the record.
         */
        wsdbg_stall_hold(&loop->slots, loop->record_alone_ns + (some_warp_runs(&loop->last) ? work_held_ns : held_ns));
        loop->record_alone_ns = 0;
    }
    wsdbg_stall_hold(&loop->work, work_held_ns);
    wsdbg_stall_hold(&loop->hidden.stall, work_held_ns);
    wsdbg_stall_hold(&loop->calls, held_ns);
    if (works)
        say_works(loop);
    return held_ns > 0 && !resumed && !loop->asks_record_alone;
}

/* One look.  True when the watch is done. */
static bool step(struct wsdbg_watch_loop *loop, enum wsdbg_wait event)
{
    struct wsdbg_watch *watch = loop->watch;
    bool over = event == WSDBG_WAIT_OVER, done = false;
    uint64_t now_ns = watch->clock->now_ns(watch->clock);
    if (!look(loop, now_ns, over))
        return !watch->clock->is_live; /* no later look at a recording shows more */
    if (wsdbg_fault_count(&loop->last) > loop->faults_judged)
        judge_fault(loop, now_ns);
    loop->faults_judged = wsdbg_fault_count(&loop->last); /* fewer where an ended process is not shown any more */
    wsdbg_watch_record_progress(loop, now_ns, over);
    const bool held = is_held(loop, event, now_ns);
    if (event == WSDBG_WAIT_STANDS)
        expect_stall(loop, now_ns);
    else if (watch->stands_proven && now_ns > loop->stands_until_ns)
        expect_nothing(loop);
    if (over && watch->keep_history && !watch->hang && !watch->fault[0])
        keep_last_histories(loop, now_ns);
    if (event == WSDBG_WAIT_LOOK)
        look_now(loop, now_ns);
    else if (event == WSDBG_WAIT_MARKED || (!over && !held && wsdbg_watch_marked_is_due(loop, now_ns)))
        wsdbg_watch_take_marked(loop, now_ns);
    else if (event == WSDBG_WAIT_REFRESH)
        refresh(loop, now_ns);
    else if (over || held || !wsdbg_watch_judge_stalls(loop, now_ns, &done))
        wsdbg_watch_store(loop, now_ns, over && !watch->hang);
    return done;
}

void wsdbg_watch_run(struct wsdbg_watch *watch)
{
    struct wsdbg_watch_loop loop = {.watch = watch};
    if (watch->counts_from_now)
        loop.began_ns = loop.moved_ns = watch->clock->now_ns(watch->clock);
    wsdbg_stall_init(&loop.calls, watch->work_stall_ns);
    loop.calls.give_up_ns = watch->give_up_ns;
    begin_stalls(&loop, watch->stall_ns, watch->work_stall_ns);
    wsdbg_hidden_init(&loop.hidden, watch->work_stall_ns);
    for (bool done = false; !done;) {
        uint64_t next_ns = watch->clock->now_ns(watch->clock) + WSDBG_WATCH_TICK_NS;
        enum wsdbg_wait event = watch->clock->wait(watch->clock, next_ns);
        done = step(&loop, event) || event == WSDBG_WAIT_OVER;
        wsdbg_watch_await_leave(&loop);
    }
    wsdbg_snapshot_deinit(&loop.last);
    wsdbg_whole_deinit(&loop.whole);
    wsdbg_sources_deinit(&loop.sources);
    wsdbg_noted_deinit(&loop.noted);
    wsdbg_hidden_deinit(&loop.hidden);
    wsdbg_held_deinit(&loop.held);
    wsdbg_standstills_deinit(&loop.slots_looks.standstills);
    wsdbg_standstills_deinit(&loop.work_looks.standstills);
    wsdbg_standstills_deinit(&loop.hidden_looks.standstills);
    wsdbg_standstills_deinit(&loop.calls_looks.standstills);
}
