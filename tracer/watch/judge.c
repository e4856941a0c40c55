/* judge.c - decides whether a stall that was looked at is a hang, and reports it.
 *
 * Reads: the newest look, the diagnosis.  Writes: the report, the listener, the database, the outcome of the watch.
 *
 * A stall is not yet a hang.  It is one if the diagnosis says so, or if three looks find the same standstill and
 * nothing outside of the kernel can end it.  What the record of probes leaves open is looked at on the GPU too.
 */
#include "watch/loop.h"

#include "base/memory.h"
#include "diagnose/call_sites.h"
#include "diagnose/missing_ranks.h"
#include "watch/program_stacks.h"

#include <stdio.h>
#include <string.h>

/* standstill: that made it a hang, NULL = the diagnosis did. */
static void report_hang(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall,
                        const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_standstill *standstill,
                        uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    const uint64_t stall_ns = stall->watchdog.stall_ns;
    const char *cause = diagnosis->finding_count ? wsdbg_cause_name(diagnosis->findings[0].cause) : "UNKNOWN";
    if (watch->hang && strcmp(watch->cause, cause) == 0) {
        wsdbg_watch_say(watch, "still hanging after %.1f s: %s", (double)wsdbg_stall_age_ns(stall, now_ns) / 1e9,
                        cause);
        return;
    }
    watch->stall_proven = watch->stands_proven && !standstill;
    struct wsdbg_error *error = wsdbg_watch_say_verdict(watch, &loop->last, diagnosis, stall_ns);
    if (error) {
        wsdbg_watch_say(watch, "hang: %s (the report could not be made: %s)", cause, wsdbg_error_message(error));
        wsdbg_error_destroy(error);
    }
    watch->hang = true;
    watch->stalled_ns = standstill ? now_ns : stall->watchdog.progress_ns + stall->held_ns + stall_ns;
    watch->threshold_ns = stall_ns;
    snprintf(watch->cause, sizeof watch->cause, "%s", cause);
    wsdbg_watch_say_delay(watch, stall_ns, standstill);
    watch->stands_proven = false;
}

/* How long nothing has moved; of work that moves, or was not seen, how long it has gone on. */
static uint64_t quiet_ns(const struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall,
                         enum wsdbg_movement movement, uint64_t now_ns)
{
    if (stall == &loop->hidden.stall)
        return loop->hidden.between_ns;
    const uint64_t began_ns = wsdbg_watched_work(&loop->last, 0).progress_ns;
    if (stall == &loop->work && movement != WSDBG_STOOD_STILL && began_ns && now_ns > began_ns)
        return now_ns - began_ns;
    return wsdbg_stall_age_ns(stall, now_ns);
}

static struct wsdbg_stall_looks *looks_of(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall)
{
    if (stall == &loop->slots)
        return &loop->slots_looks;
    if (stall == &loop->calls)
        return &loop->calls_looks;
    return stall == &loop->work ? &loop->work_looks : &loop->hidden_looks;
}

static bool says_the_same(const struct wsdbg_stall_said *said, const struct wsdbg_stall_said *now)
{
    if (!said->any || said->movement != now->movement)
        return false;
    return now->movement == WSDBG_MOVED || (said->cause == now->cause && said->confidence == now->confidence &&
                                            said->stands == now->stands && said->outside == now->outside);
}

/* Of this stall, or of another one, which is one of the same kernel seen in another way. */
static bool is_said(const struct wsdbg_watch_loop *loop, const struct wsdbg_stall_said *now)
{
    return says_the_same(&loop->slots_looks.said, now) || says_the_same(&loop->work_looks.said, now) ||
           says_the_same(&loop->hidden_looks.said, now) || says_the_same(&loop->calls_looks.said, now);
}

static struct wsdbg_stall_shown to_show(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                        const struct wsdbg_standstill *standstill)
{
    struct wsdbg_stall_shown shown = {.any = true, .cause = WSDBG_CAUSE_UNKNOWN};
    uint32_t grid = standstill->grid;
    if (diagnosis->finding_count > 0) {
        shown.cause = diagnosis->findings[0].cause;
        grid = diagnosis->findings[0].grid;
    }
    const char *name = grid < snapshot->grid_count ? wsdbg_snapshot_grid_name(snapshot, &snapshot->grids[grid]) : NULL;
    snprintf(shown.kernel, sizeof shown.kernel, "%s", name ? name : "");
    return shown;
}

/* The whole picture once a stall, and not again for the next kernel that stands for the same reason. */
static void say_possible(struct wsdbg_watch_loop *loop, const struct wsdbg_diagnosis *diagnosis,
                         const struct wsdbg_standstill *standstill, bool first, uint64_t age_ns)
{
    const struct wsdbg_stall_shown shown = to_show(&loop->last, diagnosis, standstill);
    const bool again =
        loop->shown.any && loop->shown.cause == shown.cause && strcmp(loop->shown.kernel, shown.kernel) == 0;
    if (!first || again) {
        wsdbg_watch_say_possible(loop->watch, diagnosis, standstill, age_ns);
        return;
    }
    loop->shown = shown;
    wsdbg_watch_show_possible(loop->watch, &loop->last, diagnosis, standstill, age_ns);
}

/* Said once, and again when it changes, however often it is looked at. */
static void say_no_hang(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall,
                        const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_standstill *standstill,
                        enum wsdbg_movement movement, uint64_t age_ns)
{
    struct wsdbg_stall_looks *looks = looks_of(loop, stall);
    struct wsdbg_stall_said now = {
        .any = true, .movement = movement, .stands = standstill->grid != WSDBG_NONE, .outside = standstill->outside};
    if (diagnosis->finding_count > 0) {
        now.cause = diagnosis->findings[0].cause;
        now.confidence = diagnosis->findings[0].confidence;
    }
    const bool first = !looks->said.any, again = is_said(loop, &now);
    looks->said = now;
    if (again)
        return;
    if (movement == WSDBG_STOOD_STILL)
        say_possible(loop, diagnosis, standstill, first, age_ns);
    else
        wsdbg_watch_say_no_hang(loop->watch, diagnosis, age_ns, movement);
}

void wsdbg_watch_keep_look(struct wsdbg_watch_loop *loop, const struct wsdbg_snapshot *snapshot)
{
    wsdbg_watch_say_notes(loop->watch, &loop->last, snapshot, &loop->noted);
    wsdbg_snapshot_deinit(&loop->last);
    loop->last = *snapshot;
    if (snapshot->look_count > 0)
        loop->watch->looked_by = snapshot->source;
}

static void read_stacks_now(struct wsdbg_watch_loop *loop)
{
    struct wsdbg_error *error = loop->watch->read_stacks ? wsdbg_program_stacks_read(&loop->last) : NULL;
    if (error)
        wsdbg_watch_say(loop->watch, "the program's stacks were not read: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

void wsdbg_watch_read_stacks(struct wsdbg_watch_loop *loop)
{
    wsdbg_watch_await_leave(loop);
    read_stacks_now(loop);
}

void wsdbg_watch_mark_moving(struct wsdbg_watch_loop *loop)
{
    wsdbg_watchdog_mark_moving(&loop->last, loop->slots.watchdog.stall_ns);
}

/* What the record of probes leaves open the GPU's own state may tell: judges again with both.  What is in the way of
 * that look is a note of the snapshot, and the verdict stays. */
static struct wsdbg_error *judge_with_state(struct wsdbg_watch_loop *loop, struct wsdbg_diagnosis *diagnosis)
{
    struct wsdbg_watch *watch = loop->watch;
    struct wsdbg_snapshot both = {0};
    struct wsdbg_diagnosis better = {0};
    struct wsdbg_error *error = wsdbg_snapshot_copy(&loop->last, &both);
    if (!error)
        error = watch->evidence->ops->complete(watch->evidence, watch->look_ns, &both);
    if (error) {
        wsdbg_snapshot_deinit(&both);
        return error;
    }
    wsdbg_watch_keep_look(loop, &both);
    if (loop->last.look_count == 0)
        return NULL;
    wsdbg_watch_record(loop, loop->recorded_ns); /* the moment that was recorded before the look */
    wsdbg_watch_mark_moving(loop);
    error = wsdbg_diagnose(&loop->last, &better);
    if (error)
        return error;
    wsdbg_diagnosis_deinit(diagnosis);
    *diagnosis = better;
    return NULL;
}

bool wsdbg_watch_look_ended_work(const struct wsdbg_watch_loop *loop)
{
    const struct wsdbg_evidence *evidence = loop->watch->evidence;
    return evidence->ops->ended_work && evidence->ops->ended_work(evidence);
}

/* A proven cause needs no look.  A kernel that may wait for later work of the program gets none either: a look may hold
 * that work back (later_work.h). */
static bool says_enough(const struct wsdbg_diagnosis *diagnosis)
{
    if (diagnosis->finding_count == 0)
        return false;
    const struct wsdbg_finding *first = &diagnosis->findings[0];
    return first->confidence == WSDBG_CONFIDENCE_PROVEN ||
           (first->confidence == WSDBG_CONFIDENCE_POSSIBLE &&
            (first->cause == WSDBG_CAUSE_GLOBAL_SPIN || first->cause == WSDBG_CAUSE_GRID_DEPENDENCY ||
             first->cause == WSDBG_CAUSE_HOST_WAIT || first->cause == WSDBG_CAUSE_NOT_RESIDENT));
}

static struct wsdbg_error *diagnose(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall,
                                    struct wsdbg_diagnosis *diagnosis)
{
    if (loop->last.look_count == 0)
        wsdbg_watchdog_mark_moving(&loop->last, stall->watchdog.stall_ns / 2);
    else
        wsdbg_watch_mark_moving(loop);
    struct wsdbg_error *error = wsdbg_diagnose(&loop->last, diagnosis);
    if (!error && loop->asks_record_alone) /* whatever the program could still do, it could not do now */
        diagnosis->hang &= diagnosis->finding_count && diagnosis->findings[0].confidence == WSDBG_CONFIDENCE_PROVEN;
    else if (!error && !says_enough(diagnosis) && stall == &loop->slots && loop->last.look_count == 0 &&
             loop->watch->evidence->ops->complete)
        error = judge_with_state(loop, diagnosis);
    return error ? error : wsdbg_memory_error(); /* what is not known for want of memory makes another verdict */
}

/* Slots that do not change tell nothing of warps that a look then saw elsewhere. */
static bool look_saw_movement(const struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall)
{
    return stall == &loop->slots && loop->last.look_count > 0 && loop->last.progress_ns > stall->watchdog.progress_ns;
}

/* What the looks so far show together.  A look that ends the program's work shows nothing of the kind: none can follow
 * it. */
static struct wsdbg_standstill note_standstill(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall,
                                               enum wsdbg_movement movement, uint64_t now_ns)
{
    struct wsdbg_standstills *standstills = &looks_of(loop, stall)->standstills;
    if (movement == WSDBG_STOOD_STILL && !wsdbg_watch_look_ended_work(loop))
        return wsdbg_standstills_note(standstills, &loop->last, now_ns);
    wsdbg_standstills_deinit(standstills);
    return (struct wsdbg_standstill){.grid = WSDBG_NONE};
}

static void keep_verdict(struct wsdbg_watch_loop *loop, const struct wsdbg_diagnosis *diagnosis, uint64_t now_ns)
{
    if (loop->watch->listener)
        loop->watch->listener->judged(loop->watch->listener, &loop->last, diagnosis);
    wsdbg_watch_store_verdict(loop, &loop->last, diagnosis, now_ns);
}

/* True when the run is given up. */
static bool judge_no_hang(struct wsdbg_watch_loop *loop, struct wsdbg_stall *stall,
                          const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_standstill *standstill,
                          enum wsdbg_movement movement, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    const uint64_t age_ns = quiet_ns(loop, stall, movement, now_ns);
    if (wsdbg_watch_look_ended_work(loop)) {
        wsdbg_watch_say_cut(watch, &loop->last, diagnosis, wsdbg_stall_age_ns(stall, now_ns));
        return false;
    }
    if (watch->give_up_ns && movement == WSDBG_STOOD_STILL && age_ns >= watch->give_up_ns && !loop->asks_record_alone &&
        !(stall == &loop->work && loop->turn.is_awaited)) {
        wsdbg_watch_say_given_up(watch, &loop->last, diagnosis, standstill, age_ns);
        return true;
    }
    say_no_hang(loop, stall, diagnosis, standstill, movement, age_ns);
    if (standstill->grid != WSDBG_NONE && standstill->outside == WSDBG_OUTSIDE_NOBODY)
        wsdbg_stall_look_soon(stall, now_ns);
    return false;
}

/* What was seen before, and no look of now. */
static bool is_old(const struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall)
{
    return stall == &loop->work && loop->is_brought_back;
}

static void keep_whole(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall, enum wsdbg_movement movement)
{
    const struct wsdbg_evidence *evidence = loop->watch->evidence;
    const bool lacks_some = evidence->ops->was_taken && evidence->ops->was_taken(evidence);
    if (stall == &loop->work && movement == WSDBG_STOOD_STILL && loop->last.look_count > 0 && !is_old(loop, stall) &&
        !lacks_some)
        wsdbg_whole_keep(&loop->whole, &loop->last, stall->watchdog.progress_ns);
}

bool wsdbg_watch_judge(struct wsdbg_watch_loop *loop, struct wsdbg_stall *stall, enum wsdbg_movement movement,
                       uint64_t now_ns)
{
    struct wsdbg_diagnosis diagnosis = {0};
    struct wsdbg_standstill standstill = {.grid = WSDBG_NONE};
    struct wsdbg_error *error = diagnose(loop, stall, &diagnosis);
    bool stands = false, decided = true;
    if (!error) {
        movement = look_saw_movement(loop, stall) ? WSDBG_MOVED : movement;
        if (!loop->asks_record_alone && !is_old(loop, stall))
            standstill = note_standstill(loop, stall, movement, now_ns);
        stands = !diagnosis.hang && !loop->asks_record_alone &&
                 wsdbg_standstill_is_hang(&standstill, stall->watchdog.stall_ns);
    }
    if (stands)
        error = wsdbg_diagnosis_call_hang(&diagnosis, &loop->last, &standstill);
    if (error) {
        wsdbg_watch_say_failed_look(loop->watch, error, false, wsdbg_stall_age_ns(stall, now_ns));
        wsdbg_diagnosis_deinit(&diagnosis);
        return false;
    }
    if (diagnosis.hang) /* the threads that matter were inside their calls before the inspectors came */
        read_stacks_now(loop);
    else if (movement == WSDBG_STOOD_STILL)
        wsdbg_watch_read_stacks(loop);
    wsdbg_place_missing_ranks(&loop->last, &diagnosis);
    wsdbg_place_calls(&loop->last, &diagnosis);
    if (diagnosis.hang)
        report_hang(loop, stall, &diagnosis, stands ? &standstill : NULL, now_ns);
    else
        decided = judge_no_hang(loop, stall, &diagnosis, &standstill, movement, now_ns);
    keep_verdict(loop, &diagnosis, now_ns);
    keep_whole(loop, stall, movement);
    wsdbg_diagnosis_deinit(&diagnosis);
    return decided;
}
