/* watch.c - see watch.h: look, tick the watchdogs, and on a stall inspect, judge, say, store.
 *
 * Two things are watched, each by a watchdog of its own: the grids whose slots are seen, and, where the evidence can
 * look at the GPU itself, whether contexts get their work done.  A stall is not yet a hang: the diagnosis decides. What
 * is not a hang is looked at again after twice the time; the program goes on undisturbed.
 *
 * Where stream captures hide whether work gets done, looks alone tell: two of them, as far apart as a stall is long.
 *
 * A warp can move without a change of its slot; only the histories show that, two of them compared.  So the first
 * is taken shortly before the threshold, the second when it has passed.  A look at the GPU compares by itself.
 */
#include "cmd/watch.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/fed_work.h"
#include "cmd/hidden_work.h"
#include "cmd/held.h"
#include "cmd/refusals.h"
#include "cmd/sources.h"
#include "cmd/stall.h"
#include "cmd/watch_words.h"

enum {
    TICK_NS = 20000000,
    RECORD_EVERY_NS = 250000000,
    STORE_EVERY_NS = 2000000000, /* storing is most of what watching costs */
    COMPARE_NS = 60000000,       /* between the histories that are compared, less a tick */
    STANDS_NS = 2 * COMPARE_NS,  /* without progress, where it is known that there will be none */
    REFRESH_NS = 100000000,      /* the program gets at least this long between two looks that are asked for */
};

/* For so long it is expected; a loaded machine may need more than a moment to judge it. */
#define STANDS_LAST_NS 10000000000ull

/* What the loop remembers between looks. */
struct loop {
    struct wsdbg_watch *watch;
    struct wsdbg_stall slots, work;
    struct wsdbg_snapshot last; /* the newest look */
    uint64_t moved_ns;          /* when a look at the GPU last saw movement */
    bool slow_said;             /* ... and that this is slow */
    bool spared_said;           /* that a stall is not looked at */
    bool look_shown;            /* the picture that is stored is of a look at the GPU */
    struct wsdbg_noted noted;   /* by the look before */
    struct wsdbg_hidden hidden; /* work that captures keep from being followed */
    uint64_t refreshed_ns;
    struct wsdbg_held held;        /* what holds the program from outside */
    uint64_t recorded_ns;          /* when the newest frame was written */
    uint64_t recorded_progress_ns; /* what it shows */
    uint64_t stored_ns;
    uint64_t compared_ns; /* when the histories were read to compare the next ones with */
    bool record_failed, store_failed;
    size_t faults_judged; /* contexts that an error had ended when that was last looked at */
    struct wsdbg_sources sources;
    struct wsdbg_refusals_said refusals;
    uint64_t stands_until_ns; /* so long a standstill that was proven is expected */
};

/* Trouble that must not disturb the program: said once, then that part is off. */
static bool give_up(const struct wsdbg_watch *watch, struct wsdbg_error *error, const char *what, bool *failed)
{
    if (!error)
        return false;
    wsdbg_watch_say(watch, "%s from here on: %s", what, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    *failed = true;
    return true;
}

static void record(struct loop *loop, uint64_t time_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    if (!watch->record_path || loop->record_failed || time_ns < loop->recorded_ns)
        return;
    loop->recorded_ns = time_ns;
    loop->recorded_progress_ns = loop->last.progress_ns;
    give_up(watch, wsdbg_evidence_record(watch->evidence, watch->record_path, time_ns), "not recording",
            &loop->record_failed);
}

/* A frame whenever something moved, at most four a second, and always the last one before a silence: its slots
 * have not changed since progress_ns, so that is the frame's true time. */
static void record_progress(struct loop *loop, uint64_t now_ns, bool over)
{
    bool moved = loop->last.progress_ns > loop->recorded_progress_ns;
    bool silent = loop->last.progress_ns < now_ns;
    if (loop->recorded_ns == 0 ? loop->last.context_count > 0 : over)
        record(loop, now_ns);
    else if (moved && (silent || now_ns - loop->recorded_ns >= RECORD_EVERY_NS))
        record(loop, loop->last.progress_ns);
}

static void count_what_was_seen(struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot)
{
    watch->launches = snapshot->launches_total;
    watch->cuda_seen |= snapshot->context_count > 0 || snapshot->launches_total > 0;
    watch->probes_seen |= snapshot->grid_count > 0;
    for (size_t i = 0; i < snapshot->module_count; i++)
        watch->probes_seen |= snapshot->modules[i].probed;
    for (size_t i = snapshot->context_count; i-- > 0;)
        if (snapshot->contexts[i].error != 0) {
            wsdbg_fault_sentence(snapshot, i, watch->fault);
            wsdbg_fault_launches(snapshot, i, watch->fault_launches);
        }
}

/* Keeps the newest snapshot; false when there is none. */
static bool look(struct loop *loop, uint64_t now_ns, bool over)
{
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_watch *watch = loop->watch;
    if (watch->blind)
        return false;
    if (give_up(watch, watch->evidence->ops->poll(watch->evidence, now_ns, &snapshot), "not watching", &watch->blind))
        return false;
    wsdbg_snapshot_deinit(&loop->last);
    loop->last = snapshot;
    count_what_was_seen(watch, &loop->last);
    wsdbg_refusals_say(&loop->refusals, watch, &loop->last, over);
    if (watch->listener)
        watch->listener->looked(watch->listener, &loop->last, over);
    return true;
}

/* The files as they are now belong to a program that runs now, not to a recording. */
static struct wsdbg_error *keep_sources(struct loop *loop, const struct wsdbg_snapshot *snapshot)
{
    if (!loop->watch->clock->is_live)
        return NULL;
    return wsdbg_sources_keep(&loop->sources, loop->watch->store, snapshot, loop->watch->spool);
}

/* What slots tell of work that goes on without them is less than what a look at the GPU told. */
static bool says_less(const struct loop *loop)
{
    return loop->look_shown && loop->last.look_count == 0 && !wsdbg_watched_slots(&loop->last).running &&
           wsdbg_watched_work(&loop->last, 0).running;
}

static void store(struct loop *loop, uint64_t now_ns, bool now_please)
{
    if (loop->store_failed || (!now_please && now_ns - loop->stored_ns < STORE_EVERY_NS))
        return;
    if (says_less(loop))
        return;
    loop->look_shown = loop->last.look_count > 0;
    loop->stored_ns = now_ns;
    struct wsdbg_error *error = wsdbg_store_snapshot(loop->watch->store, &loop->last);
    if (!error)
        error = keep_sources(loop, &loop->last);
    give_up(loop->watch, error, "not storing", &loop->store_failed);
}

static void store_verdict(struct loop *loop, const struct wsdbg_snapshot *snapshot,
                          const struct wsdbg_diagnosis *diagnosis, uint64_t now_ns)
{
    if (loop->store_failed)
        return;
    loop->stored_ns = now_ns;
    loop->look_shown = snapshot->look_count > 0;
    struct wsdbg_error *error = wsdbg_store_snapshot(loop->watch->store, snapshot);
    if (!error)
        error = keep_sources(loop, snapshot);
    if (!error)
        error = wsdbg_store_diagnosis(loop->watch->store, snapshot, diagnosis);
    give_up(loop->watch, error, "not storing", &loop->store_failed);
}

static void report_hang(struct loop *loop, const struct wsdbg_stall *stall, const struct wsdbg_diagnosis *diagnosis,
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
static void say_no_hang(struct loop *loop, const struct wsdbg_stall *stall, const struct wsdbg_diagnosis *diagnosis,
                        enum wsdbg_movement movement, uint64_t now_ns)
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

/* The snapshot becomes the newest look. */
static void keep_look(struct loop *loop, const struct wsdbg_snapshot *snapshot)
{
    wsdbg_watch_say_notes(loop->watch, &loop->last, snapshot, &loop->noted);
    wsdbg_snapshot_deinit(&loop->last);
    loop->last = *snapshot;
    if (snapshot->look_count > 0)
        loop->watch->looked_by = snapshot->source;
}

/* Beside what a look saw stand the slots of other grids: those that the slots' own watchdog would not call stalled are
 * not judged because something else is. */
static void mark_moving_slots(struct loop *loop)
{
    wsdbg_watchdog_mark_moving(&loop->last, loop->slots.watchdog.stall_ns);
}

/* What the record of probes leaves open the GPU's own state may tell: judges again with both.  What is in the way of
 * that look is a note of the snapshot, and the verdict stays. */
static struct wsdbg_error *judge_with_state(struct loop *loop, struct wsdbg_diagnosis *diagnosis)
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
    keep_look(loop, &both);
    if (loop->last.look_count == 0)
        return NULL;
    record(loop, loop->recorded_ns); /* the moment that was recorded before the look */
    mark_moving_slots(loop);
    error = wsdbg_diagnose(&loop->last, &better);
    if (error)
        return error;
    wsdbg_diagnosis_deinit(diagnosis);
    *diagnosis = better;
    return NULL;
}

/* Nothing goes on after such a look, whatever it shows, and there is no second one. */
static bool look_ended_work(const struct loop *loop)
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

/* A stall, looked at with everything: judge, say.  True when it is a hang. */
static bool judge(struct loop *loop, const struct wsdbg_stall *stall, enum wsdbg_movement movement, uint64_t now_ns)
{
    struct wsdbg_diagnosis diagnosis = {0};
    if (loop->last.look_count == 0)
        wsdbg_watchdog_mark_moving(&loop->last, stall->watchdog.stall_ns / 2);
    else
        mark_moving_slots(loop);
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
    else if (look_ended_work(loop))
        wsdbg_watch_say_cut(loop->watch, &loop->last, &diagnosis, wsdbg_stall_age_ns(stall, now_ns));
    else
        say_no_hang(loop, stall, &diagnosis, movement, now_ns);
    if (loop->watch->listener)
        loop->watch->listener->judged(loop->watch->listener, &loop->last, &diagnosis);
    store_verdict(loop, &loop->last, &diagnosis, now_ns);
    bool hang = diagnosis.hang;
    wsdbg_diagnosis_deinit(&diagnosis);
    return hang;
}

/* ---- the grids whose slots are seen ---- */

/* Whether the slots' stall will be due at `time_ns` if nothing moves until then. */
static bool will_be_due(const struct loop *loop, uint64_t time_ns)
{
    struct wsdbg_stall copy = loop->slots;
    return wsdbg_stall_is_due(&copy, wsdbg_watched_slots(&loop->last), time_ns);
}

/* What was read late, on a loaded machine, a replay finds when it looks: nothing has moved since. */
static uint64_t frame_time_ns(const struct loop *loop, uint64_t due_ns, uint64_t now_ns)
{
    const uint64_t time_ns = due_ns < now_ns ? due_ns : now_ns;
    return time_ns > loop->recorded_ns ? time_ns : loop->recorded_ns;
}

/* The histories that the ones at the threshold are compared with.  They go into the recording too, so that
 * a replay sees what was seen live. */
static void read_first_histories(struct loop *loop, uint64_t now_ns)
{
    struct wsdbg_evidence *evidence = loop->watch->evidence;
    struct wsdbg_snapshot snapshot = {0};
    wsdbg_error_destroy(evidence->ops->inspect(evidence, now_ns, COMPARE_NS - TICK_NS, &snapshot));
    wsdbg_snapshot_deinit(&snapshot);
    loop->compared_ns = now_ns;
    record(loop, frame_time_ns(loop, wsdbg_stall_due_ns(&loop->slots, loop->last.progress_ns), now_ns));
}

/* True when the histories of some earlier moment were read, so that those of now tell whether anything moved.  A
 * recording brings its own. */
static bool can_compare(struct loop *loop, uint64_t now_ns)
{
    if (!loop->watch->clock->is_live)
        return true;
    if (!will_be_due(loop, now_ns + COMPARE_NS))
        loop->compared_ns = 0;
    else if (loop->compared_ns == 0)
        read_first_histories(loop, now_ns);
    return loop->compared_ns && now_ns - loop->compared_ns >= COMPARE_NS - TICK_NS;
}

/* The moment at which the stall became due: what the look at it finds is given this time.  A replay, whose looks
 * come at other moments, can then do the same as the live run did. */
static uint64_t due_since_ns(const struct loop *loop, uint64_t now_ns)
{
    if (!loop->watch->clock->is_live)
        return now_ns;
    const uint64_t due_ns = wsdbg_stall_due_ns(&loop->slots, loop->last.progress_ns);
    return due_ns > loop->compared_ns ? due_ns : loop->compared_ns;
}

/* Looks with everything; the newest look is then this one. */
static struct wsdbg_error *inspect_within(struct loop *loop, uint64_t time_ns, uint64_t deadline_ns)
{
    struct wsdbg_evidence *evidence = loop->watch->evidence;
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_error *error = evidence->ops->inspect(evidence, time_ns, deadline_ns, &snapshot);
    if (!error)
        keep_look(loop, &snapshot);
    return error;
}

/* ... at the GPU itself too, where the evidence can. */
static struct wsdbg_error *inspect(struct loop *loop, uint64_t time_ns)
{
    return inspect_within(loop, time_ns, loop->watch->look_ns ? loop->watch->look_ns : WSDBG_RING_NS);
}

/* A stall as far as slots tell: look with everything.  True when that shows no movement either. */
static bool confirm(struct loop *loop, uint64_t now_ns)
{
    const uint64_t frame_ns = frame_time_ns(loop, wsdbg_stall_due_ns(&loop->slots, loop->last.progress_ns), now_ns);
    struct wsdbg_error *error = inspect(loop, due_since_ns(loop, now_ns));
    loop->compared_ns = 0;
    bool due = wsdbg_stall_is_due(&loop->slots, wsdbg_watched_slots(&loop->last), now_ns);
    if (error)
        wsdbg_watch_say_failed_look(loop->watch, error, wsdbg_stall_age_ns(&loop->slots, now_ns));
    else
        record(loop, frame_ns);
    return due && !error;
}

/* Ticks the slots' watchdog; true for a stall that the histories confirm. */
static bool slots_stall(struct loop *loop, uint64_t now_ns)
{
    bool comparable = can_compare(loop, now_ns);
    if (will_be_due(loop, now_ns))
        return comparable && confirm(loop, now_ns);
    wsdbg_stall_is_due(&loop->slots, wsdbg_watched_slots(&loop->last), now_ns);
    return false;
}

/* ---- the work of contexts ---- */

/* What the newest look says of the time since began_ns. */
static enum wsdbg_movement movement_since(const struct loop *loop, uint64_t began_ns)
{
    if (loop->last.look_count == 0)
        return wsdbg_watched_slots(&loop->last).running ? WSDBG_STOOD_STILL : WSDBG_MOVEMENT_NOT_SEEN;
    return loop->last.progress_ns >= began_ns ? WSDBG_MOVED : WSDBG_STOOD_STILL;
}

static void note_not_looked(struct wsdbg_watch *watch, enum wsdbg_not_looked why)
{
    if (why > watch->not_looked)
        watch->not_looked = why;
}

/* A stall that a look could make a hang of.  It stays due. */
static bool is_spared(struct loop *loop, struct wsdbg_watched watched, uint64_t now_ns)
{
    struct wsdbg_stall copy = loop->work;
    if (!loop->watch->look_spares_fed || !wsdbg_stall_is_due(&copy, watched, now_ns))
        return false;
    const uint64_t age_ns = wsdbg_stall_age_ns(&copy, now_ns);
    const enum wsdbg_feeder feeder = wsdbg_work_feeder(&loop->last, age_ns, now_ns);
    if (feeder == WSDBG_FEEDER_NONE)
        return false;
    if (!loop->spared_said)
        wsdbg_watch_say_spared(loop->watch, feeder, age_ns);
    loop->spared_said = true;
    note_not_looked(loop->watch, WSDBG_SPARED_FED);
    return true;
}

/* Ticks the work's watchdog; true for a stall, looked at on the GPU itself. */
static bool work_stalls(struct loop *loop, uint64_t now_ns, enum wsdbg_movement *movement)
{
    const struct wsdbg_watched watched = wsdbg_watched_work(&loop->last, loop->moved_ns);
    if (!watched.running && loop->hidden.grid_count == 0)
        loop->slow_said = false;
    const uint64_t frame_ns = frame_time_ns(loop, wsdbg_stall_due_ns(&loop->work, watched.progress_ns), now_ns);
    if (is_spared(loop, watched, now_ns) || !wsdbg_stall_is_due(&loop->work, watched, now_ns))
        return false;
    loop->work.undecided = true; /* until a look says more */
    struct wsdbg_error *error = inspect(loop, now_ns);
    if (!error)
        record(loop, frame_ns);
    if (error || movement_since(loop, now_ns) == WSDBG_MOVEMENT_NOT_SEEN)
        note_not_looked(loop->watch, WSDBG_COULD_NOT_LOOK);
    if (error) {
        wsdbg_watch_say_failed_look(loop->watch, error, wsdbg_stall_age_ns(&loop->work, now_ns));
        return false;
    }
    *movement = movement_since(loop, now_ns);
    if (*movement == WSDBG_MOVED)
        loop->moved_ns = loop->last.progress_ns;
    return true;
}

/* ---- work that stream captures hide ---- */

/* Ticks the watchdog of what nobody can follow; true for a grid that two looks saw, so long apart. */
static bool hidden_stalls(struct loop *loop, uint64_t now_ns, enum wsdbg_movement *movement)
{
    struct wsdbg_hidden *hidden = &loop->hidden;
    if (!wsdbg_hidden_is_due(hidden, &loop->last, now_ns))
        return false;
    hidden->stall.undecided = true;
    if (!hidden->said)
        wsdbg_watch_say_hidden(loop->watch, wsdbg_stall_age_ns(&hidden->stall, now_ns));
    hidden->said = true;
    struct wsdbg_error *error = loop->watch->look_ends_work ? NULL : inspect(loop, now_ns);
    if (error)
        wsdbg_watch_say(loop->watch, "the look failed: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    const bool looked = !error && !loop->watch->look_ends_work && loop->last.look_count > 0;
    if (!looked)
        note_not_looked(loop->watch, loop->watch->look_ends_work ? WSDBG_SPARED_WORK : WSDBG_COULD_NOT_LOOK);
    *movement = movement_since(loop, now_ns);
    mark_moving_slots(loop);
    return looked && wsdbg_hidden_seen_twice(hidden, &loop->last, now_ns);
}

/* A hang that the slots showed needs no look at the GPU. */
static bool work_is_watched(const struct loop *loop)
{
    return loop->watch->look_ns && !wsdbg_stall_is_judged(&loop->slots);
}

/* Judges what has stalled, if anything has.  *over: the watch is done. */
static bool judge_stalls(struct loop *loop, uint64_t now_ns, bool *over)
{
    enum wsdbg_movement movement = WSDBG_STOOD_STILL;
    struct wsdbg_stall *stall = NULL;
    if (slots_stall(loop, now_ns))
        stall = &loop->slots;
    else if (work_is_watched(loop) && work_stalls(loop, now_ns, &movement))
        stall = &loop->work;
    else if (work_is_watched(loop) && hidden_stalls(loop, now_ns, &movement))
        stall = &loop->hidden.stall;
    if (!stall)
        return false;
    bool hang = judge(loop, stall, movement, now_ns);
    stall->undecided = !hang && !look_ended_work(loop);
    *over = (hang || loop->watch->cut || wsdbg_watch_is_lost(loop->watch)) && loop->watch->stop_at_hang;
    return true;
}

/* ---- faults ---- */

/* Every fault is looked at once, with everything that is left of its context: the first one of several need not be the
 * one that shows a cause.  The first cause is reported like a hang's; the program goes its own way. */
static void judge_fault(struct loop *loop, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    struct wsdbg_diagnosis diagnosis = {0};
    loop->faults_judged = wsdbg_fault_count(&loop->last);
    if (watch->evidence->ops->fetch)
        watch->evidence->ops->fetch(watch->evidence, &loop->last, watch->look_ns);
    struct wsdbg_error *error = inspect_within(loop, now_ns, WSDBG_RING_NS);
    if (!error) {
        count_what_was_seen(watch, &loop->last);
        record(loop, now_ns);
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
        store_verdict(loop, &loop->last, &diagnosis, now_ns);
    if (error)
        wsdbg_watch_say(watch, "the look at the GPU fault failed: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* ---- the loop ---- */

/* Somebody wants to know where every warp stands.  A picture of a program that runs is no verdict. */
static void look_now(struct loop *loop, uint64_t now_ns)
{
    const struct wsdbg_watch *watch = loop->watch;
    struct wsdbg_error *error = inspect(loop, now_ns);
    if (!error && loop->last.warp_count == 0)
        wsdbg_watch_say(watch, "looked, and saw no warp of a kernel");
    else if (!error)
        error = wsdbg_watch_say_picture(watch, &loop->last, "where every warp stands now; no verdict");
    if (error)
        wsdbg_watch_say(watch, "the look failed: %s", wsdbg_error_message(error));
    else
        store(loop, now_ns, true);
    wsdbg_error_destroy(error);
}

/* Somebody looks on.  A kernel with probes shows itself, and a hang stays as it was judged. */
static void refresh(struct loop *loop, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    if (!watch->look_ns || watch->probes_seen || !watch->cuda_seen || wsdbg_stall_is_judged(&loop->work) ||
        now_ns - loop->refreshed_ns < REFRESH_NS)
        return;
    struct wsdbg_error *error = inspect(loop, now_ns);
    if (error)
        wsdbg_watch_say(watch, "the look failed: %s", wsdbg_error_message(error));
    else
        store(loop, now_ns, true);
    if (!error && watch->listener)
        watch->listener->looked(watch->listener, &loop->last, false);
    wsdbg_error_destroy(error);
    loop->refreshed_ns = watch->clock->now_ns(watch->clock);
}

/* Who executes the work knows that it cannot go on: what would take a time-out to be believed is judged soon. */
static void expect_stall(struct loop *loop, uint64_t now_ns)
{
    if (wsdbg_stall_is_judged(&loop->slots) || wsdbg_stall_is_judged(&loop->work))
        return;
    loop->watch->stands_proven = true;
    loop->stands_until_ns = now_ns + STANDS_LAST_NS;
    wsdbg_stall_init(&loop->slots, STANDS_NS);
    wsdbg_stall_init(&loop->work, STANDS_NS);
}

/* What was said of one device holds for no other for ever. */
static void expect_nothing(struct loop *loop)
{
    if (loop->watch->hang)
        return;
    loop->watch->stands_proven = false;
    wsdbg_stall_init(&loop->slots, loop->watch->stall_ns);
    wsdbg_stall_init(&loop->work, loop->watch->work_stall_ns);
}

/* The program is gone: what its kernels recorded last becomes the newest picture, histories and all. */
static void keep_last_histories(struct loop *loop, uint64_t now_ns)
{
    struct wsdbg_error *error = inspect_within(loop, now_ns, WSDBG_RING_NS);
    if (error)
        wsdbg_watch_say(loop->watch, "the histories are not kept: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

/* Whether the program is held now.  The time for which it is, or was until this very moment, counts for no stall. */
static bool is_held(struct loop *loop, enum wsdbg_wait event, uint64_t now_ns)
{
    const uint64_t before_ns = loop->held.ticked_ns;
    if (!loop->watch->clock->is_live)
        return false;
    const bool resumed = event == WSDBG_WAIT_RESUMED && before_ns;
    uint64_t held_ns = wsdbg_held_tick(&loop->held, &loop->last, now_ns);
    if (resumed)
        held_ns = now_ns - before_ns;
    wsdbg_stall_hold(&loop->slots, held_ns);
    wsdbg_stall_hold(&loop->work, held_ns);
    wsdbg_stall_hold(&loop->hidden.stall, held_ns);
    return held_ns > 0 && !resumed;
}

/* One look.  True when the watch is done. */
static bool step(struct loop *loop, enum wsdbg_wait event)
{
    struct wsdbg_watch *watch = loop->watch;
    bool over = event == WSDBG_WAIT_OVER, done = false;
    uint64_t now_ns = watch->clock->now_ns(watch->clock);
    if (!look(loop, now_ns, over))
        return false;
    if (wsdbg_fault_count(&loop->last) > loop->faults_judged)
        judge_fault(loop, now_ns);
    record_progress(loop, now_ns, over);
    const bool held = is_held(loop, event, now_ns);
    if (event == WSDBG_WAIT_STANDS)
        expect_stall(loop, now_ns);
    else if (watch->stands_proven && now_ns > loop->stands_until_ns)
        expect_nothing(loop);
    if (over && watch->keep_history && !watch->hang && !watch->fault[0])
        keep_last_histories(loop, now_ns);
    if (event == WSDBG_WAIT_LOOK)
        look_now(loop, now_ns);
    else if (event == WSDBG_WAIT_REFRESH)
        refresh(loop, now_ns);
    else if (over || held || !judge_stalls(loop, now_ns, &done))
        store(loop, now_ns, over && !watch->hang);
    return done;
}

void wsdbg_watch_run(struct wsdbg_watch *watch)
{
    struct loop loop = {.watch = watch};
    wsdbg_stall_init(&loop.slots, watch->stall_ns);
    wsdbg_stall_init(&loop.work, watch->work_stall_ns);
    wsdbg_hidden_init(&loop.hidden, watch->work_stall_ns);
    for (bool done = false; !done;) {
        uint64_t next_ns = watch->clock->now_ns(watch->clock) + TICK_NS;
        enum wsdbg_wait event = watch->clock->wait(watch->clock, next_ns);
        done = step(&loop, event) || event == WSDBG_WAIT_OVER;
    }
    wsdbg_snapshot_deinit(&loop.last);
    wsdbg_sources_deinit(&loop.sources);
    wsdbg_refusals_said_deinit(&loop.refusals);
    wsdbg_noted_deinit(&loop.noted);
    wsdbg_hidden_deinit(&loop.hidden);
    wsdbg_held_deinit(&loop.held);
}
