/* watch_judge.c - whether a stall that was looked at is a hang, and who is told.
 *
 * Reads: the newest look, the diagnosis.  Writes: the report, the listener, the database, what the watch came to.
 * A stall is not yet a hang: the diagnosis decides.  What the record of probes leaves open is looked at on the GPU too.
 */
#include "cmd/watch_loop.h"

#include <string.h>

static void report_hang(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall,
                        const struct wsdbg_diagnosis *diagnosis, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    const uint64_t stall_ns = stall->watchdog.stall_ns;
    const char *cause = diagnosis->finding_count ? wsdbg_cause_name(diagnosis->findings[0].cause) : "UNKNOWN";
    if (watch->hang && strcmp(watch->cause, cause) == 0) {
        wsdbg_watch_say(watch, "still hanging after %.1f s: %s", (double)wsdbg_stall_age_ns(stall, now_ns) / 1e9,
                        cause);
        return;
    }
    struct wsdbg_error *error = wsdbg_watch_say_verdict(watch, &loop->last, diagnosis, stall_ns);
    if (error) {
        wsdbg_watch_say(watch, "hang: %s (the report could not be made: %s)", cause, wsdbg_error_message(error));
        wsdbg_error_destroy(error);
    }
    watch->hang = true;
    watch->stalled_ns = stall->watchdog.progress_ns + stall->held_ns + stall_ns;
    watch->threshold_ns = stall_ns;
    snprintf(watch->cause, sizeof watch->cause, "%s", cause);
    wsdbg_watch_say_delay(watch, stall_ns);
    watch->stands_proven = false;
}

/* That a kernel is slow is said once, however often it is looked at. */
static void say_no_hang(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall,
                        const struct wsdbg_diagnosis *diagnosis, enum wsdbg_movement movement, uint64_t now_ns)
{
    uint64_t quiet_ns = wsdbg_stall_age_ns(stall, now_ns);
    if (movement == WSDBG_MOVED && loop->slow_said)
        return;
    if (stall == &loop->hidden.stall)
        quiet_ns = loop->hidden.between_ns;
    if (stall == &loop->work) {
        const uint64_t began_ns = wsdbg_watched_work(&loop->last, 0).progress_ns;
        quiet_ns = began_ns && now_ns > began_ns ? now_ns - began_ns : quiet_ns;
    }
    loop->slow_said |= movement == WSDBG_MOVED;
    wsdbg_watch_say_no_hang(loop->watch, diagnosis, quiet_ns, movement);
}

void wsdbg_watch_keep_look(struct wsdbg_watch_loop *loop, const struct wsdbg_snapshot *snapshot)
{
    wsdbg_watch_say_notes(loop->watch, &loop->last, snapshot, &loop->noted);
    wsdbg_snapshot_deinit(&loop->last);
    loop->last = *snapshot;
    if (snapshot->look_count > 0)
        loop->watch->looked_by = snapshot->source;
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

/* What is proven needs no look.  Nor does a kernel that may be fed: after the look it might not be (fed_work.h). */
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

bool wsdbg_watch_judge(struct wsdbg_watch_loop *loop, const struct wsdbg_stall *stall, enum wsdbg_movement movement,
                       uint64_t now_ns)
{
    struct wsdbg_diagnosis diagnosis = {0};
    if (loop->last.look_count == 0)
        wsdbg_watchdog_mark_moving(&loop->last, stall->watchdog.stall_ns / 2);
    else
        wsdbg_watch_mark_moving(loop);
    struct wsdbg_error *error = wsdbg_diagnose(&loop->last, &diagnosis);
    if (!error && !says_enough(&diagnosis) && stall == &loop->slots && loop->last.look_count == 0 &&
        loop->watch->evidence->ops->complete)
        error = judge_with_state(loop, &diagnosis);
    if (error) {
        wsdbg_watch_say_failed_look(loop->watch, error, wsdbg_stall_age_ns(stall, now_ns));
        wsdbg_diagnosis_deinit(&diagnosis);
        return false;
    }
    if (diagnosis.hang)
        report_hang(loop, stall, &diagnosis, now_ns);
    else if (wsdbg_watch_look_ended_work(loop))
        wsdbg_watch_say_cut(loop->watch, &loop->last, &diagnosis, wsdbg_stall_age_ns(stall, now_ns));
    else
        say_no_hang(loop, stall, &diagnosis, movement, now_ns);
    if (loop->watch->listener)
        loop->watch->listener->judged(loop->watch->listener, &loop->last, &diagnosis);
    wsdbg_watch_store_verdict(loop, &loop->last, &diagnosis, now_ns);
    bool hang = diagnosis.hang;
    wsdbg_diagnosis_deinit(&diagnosis);
    return hang;
}
