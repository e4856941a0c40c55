/* watch.c - see watch.h: look, tick the watchdog, and on a stall inspect, judge, say, store.
 *
 * A stall is not yet a hang: the diagnosis decides.  What is not a hang is said in one line and looked at again
 * after twice the time; the program goes on undisturbed.
 *
 * A warp can move without a change of its slot; only the histories show that, two of them compared.  So the first
 * is taken shortly before the threshold, the second when it has passed.
 */
#include "cmd/watch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/console.h"
#include "cmd/sources.h"
#include "diagnose/watchdog.h"
#include "store/report.h"

enum {
    TICK_NS = 20000000,
    INSPECT_NS = 80000000,
    RECORD_EVERY_NS = 250000000,
    STORE_EVERY_NS = 2000000000, /* storing is most of what watching costs */
    COMPARE_NS = 60000000,       /* between the histories that are compared, less a tick */
};

/* What the loop remembers between looks. */
struct loop {
    struct wsdbg_watch *watch;
    struct wsdbg_watchdog watchdog;
    struct wsdbg_snapshot last;    /* the newest look */
    uint64_t grace_until_ns;       /* no verdict before: the program was stopped */
    uint64_t look_again_ns;        /* age of an undecided stall at the next inspection */
    uint64_t recorded_ns;          /* when the newest frame was written */
    uint64_t recorded_progress_ns; /* what it shows */
    uint64_t stored_ns;
    uint64_t compared_ns; /* when the histories were read to compare the next ones with */
    bool undecided;       /* the stall going on was inspected and is no hang */
    bool record_failed, store_failed;
    size_t faults_judged; /* contexts that an error had ended when that was last looked at */
    struct wsdbg_sources sources;
};

/* A log that cannot be written must not cost the words themselves. */
static void keep_line(const struct wsdbg_watch *watch, const char *line)
{
    if (!watch->store)
        return;
    uint64_t now_ns = watch->clock->now_ns(watch->clock);
    wsdbg_error_destroy(wsdbg_store_log(watch->store, now_ns, WSDBG_LOG_WSDBG, line));
}

void wsdbg_watch_say(const struct wsdbg_watch *watch, const char *format, ...)
{
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) < 0)
        line = NULL;
    va_end(arguments);
    if (!line)
        return;
    if (watch->listener)
        watch->listener->said(watch->listener, line);
    else
        wsdbg_say("%s", line);
    keep_line(watch, line);
    free(line);
}

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
    give_up(watch, wsdbg_ring_record(watch->evidence, watch->record_path, time_ns), "not recording",
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
        if (snapshot->contexts[i].error != 0)
            wsdbg_fault_sentence(snapshot, i, watch->fault);
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

static void store(struct loop *loop, uint64_t now_ns, bool now_please)
{
    if (loop->store_failed || (!now_please && now_ns - loop->stored_ns < STORE_EVERY_NS))
        return;
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
    struct wsdbg_error *error = wsdbg_store_snapshot(loop->watch->store, snapshot);
    if (!error)
        error = keep_sources(loop, snapshot);
    if (!error)
        error = wsdbg_store_diagnosis(loop->watch->store, snapshot, diagnosis);
    give_up(loop->watch, error, "not storing", &loop->store_failed);
}

/* In one piece, so that nothing mixes with it.  The log gets the verdict alone: the rest is in the database. */
static void say_report(const struct wsdbg_watch *watch, const struct wsdbg_diagnosis *diagnosis, const char *text)
{
    char verdict[640] = "hang: UNKNOWN";
    const struct wsdbg_finding *first = diagnosis->findings;
    if (diagnosis->finding_count > 0)
        snprintf(verdict, sizeof verdict, "%s: %s (%s): %s", diagnosis->hang ? "hang" : "fault",
                 wsdbg_cause_name(first->cause), wsdbg_confidence_name(first->confidence), first->sentence);
    if (watch->listener) {
        watch->listener->reported(watch->listener, text, verdict);
    } else {
        fputs(text, stderr);
        fflush(stderr);
    }
    keep_line(watch, verdict);
}

/* The report, at once. */
static struct wsdbg_error *say_verdict(struct loop *loop, const struct wsdbg_snapshot *snapshot,
                                       const struct wsdbg_diagnosis *diagnosis)
{
    struct wsdbg_watch *watch = loop->watch;
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory)
        return &wsdbg_error_no_memory;
    struct wsdbg_report report;
    struct wsdbg_error *error = wsdbg_report_gather(watch->info, snapshot, diagnosis, NULL, &report);
    if (!error) {
        wsdbg_report_render_text(&report, wsdbg_console_colour(stderr), memory);
        wsdbg_report_deinit(&report);
    }
    fclose(memory);
    if (!error)
        say_report(watch, diagnosis, text);
    free(text);
    return error;
}

static void say_footer(struct wsdbg_watch *watch)
{
    char delay[64] = "recorded session, its verdict has no delay to measure";
    watch->verdict_ns = watch->clock->is_live ? watch->clock->now_ns(watch->clock) : 0;
    if (watch->verdict_ns)
        snprintf(delay, sizeof delay, "verdict %.0f ms after the %.1f s threshold",
                 (double)(watch->verdict_ns - watch->stalled_ns) / 1e6, (double)watch->stall_ns / 1e9);
    wsdbg_watch_say(watch, "%s; %s", delay, watch->after_hang);
}

/* Nothing moves, and it is not known to be a hang. */
static void say_undecided(const struct loop *loop, const struct wsdbg_diagnosis *diagnosis, uint64_t now_ns)
{
    const struct wsdbg_finding *first = diagnosis->finding_count ? &diagnosis->findings[0] : NULL;
    wsdbg_watch_say(loop->watch, "nothing has moved for %.1f s; not known to be a hang, the program goes on (%s%s%s)",
                    (double)(now_ns - loop->watchdog.progress_ns) / 1e9,
                    first ? wsdbg_cause_name(first->cause) : "UNKNOWN", first ? ": " : "",
                    first ? first->sentence : "");
}

static void report_hang(struct loop *loop, const struct wsdbg_snapshot *snapshot,
                        const struct wsdbg_diagnosis *diagnosis, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    const char *cause = diagnosis->finding_count ? wsdbg_cause_name(diagnosis->findings[0].cause) : "UNKNOWN";
    if (watch->hang && strcmp(watch->cause, cause) == 0) {
        wsdbg_watch_say(watch, "still hanging after %.1f s: %s", (double)(now_ns - loop->watchdog.progress_ns) / 1e9,
                        cause);
        return;
    }
    struct wsdbg_error *error = say_verdict(loop, snapshot, diagnosis);
    if (error) {
        wsdbg_watch_say(watch, "hang: %s (the report could not be made: %s)", cause, wsdbg_error_message(error));
        wsdbg_error_destroy(error);
    }
    watch->hang = true;
    watch->stalled_ns = loop->watchdog.progress_ns + watch->stall_ns;
    snprintf(watch->cause, sizeof watch->cause, "%s", cause);
    say_footer(watch);
}

static void say_failed_look(const struct loop *loop, struct wsdbg_error *error, uint64_t now_ns)
{
    wsdbg_watch_say(loop->watch, "nothing has moved for %.1f s, but the look at it failed: %s",
                    (double)(now_ns - loop->watchdog.progress_ns) / 1e9, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

/* A stall, looked at with everything: judge, say.  True when it is a hang. */
static bool judge(struct loop *loop, uint64_t now_ns)
{
    struct wsdbg_diagnosis diagnosis = {0};
    struct wsdbg_error *error = wsdbg_diagnose(&loop->last, &diagnosis);
    if (error) {
        say_failed_look(loop, error, now_ns);
        return false;
    }
    if (diagnosis.hang)
        report_hang(loop, &loop->last, &diagnosis, now_ns);
    else
        say_undecided(loop, &diagnosis, now_ns);
    if (loop->watch->listener)
        loop->watch->listener->judged(loop->watch->listener, &loop->last, &diagnosis);
    store_verdict(loop, &loop->last, &diagnosis, now_ns);
    bool hang = diagnosis.hang;
    wsdbg_diagnosis_deinit(&diagnosis);
    return hang;
}

static size_t count_faults(const struct wsdbg_snapshot *snapshot)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->context_count; i++)
        count += snapshot->contexts[i].error != 0;
    return count;
}

/* Every fault is looked at once, with everything that is left of its context: the first one of several need not be the
 * one that shows a cause.  The first cause is reported like a hang's; the program goes its own way. */
static void judge_fault(struct loop *loop, uint64_t now_ns)
{
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_diagnosis diagnosis = {0};
    struct wsdbg_evidence *evidence = loop->watch->evidence;
    loop->faults_judged = count_faults(&loop->last);
    struct wsdbg_error *error = evidence->ops->inspect(evidence, now_ns, INSPECT_NS, &snapshot);
    if (!error) {
        wsdbg_snapshot_deinit(&loop->last);
        loop->last = snapshot;
        count_what_was_seen(loop->watch, &loop->last);
        record(loop, now_ns);
        error = wsdbg_diagnose_faults(&loop->last, &diagnosis);
    }
    if (!error && diagnosis.finding_count > 0 && !loop->watch->fault_reported) {
        error = say_verdict(loop, &loop->last, &diagnosis);
        loop->watch->fault_reported = !error;
    }
    if (!error && loop->watch->listener)
        loop->watch->listener->judged(loop->watch->listener, &loop->last, &diagnosis);
    if (!error)
        store_verdict(loop, &loop->last, &diagnosis, now_ns);
    if (error)
        wsdbg_watch_say(loop->watch, "the look at the GPU fault failed: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* The watchdog reports a stall once; an undecided one is looked at again after twice the time. */
static bool is_due(struct loop *loop, uint64_t now_ns)
{
    enum wsdbg_watchdog_verdict verdict = wsdbg_watchdog_tick(&loop->watchdog, wsdbg_watched_slots(&loop->last), now_ns);
    uint64_t age_ns = now_ns - loop->watchdog.progress_ns;
    if (verdict == WSDBG_WATCHDOG_STALLED) {
        loop->look_again_ns = age_ns * 2;
        return true;
    }
    if (verdict != WSDBG_WATCHDOG_STILL_STALLED)
        loop->undecided = false;
    if (verdict != WSDBG_WATCHDOG_STILL_STALLED || !loop->undecided || age_ns < loop->look_again_ns)
        return false;
    loop->look_again_ns *= 2;
    return true;
}

/* Whether is_due will be true at `time_ns` if nothing moves until then. */
static bool will_be_due(const struct loop *loop, uint64_t time_ns)
{
    struct loop copy = *loop;
    return is_due(&copy, time_ns);
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
    record(loop, now_ns);
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
    uint64_t quiet_ns = loop->watchdog.reported ? loop->look_again_ns : loop->watchdog.next_look_ns;
    uint64_t due_ns = loop->last.progress_ns + quiet_ns;
    return due_ns > loop->compared_ns ? due_ns : loop->compared_ns;
}

/* A stall as far as slots tell: look with everything.  True when that shows no movement either. */
static bool confirm(struct loop *loop, uint64_t now_ns)
{
    struct wsdbg_evidence *evidence = loop->watch->evidence;
    struct wsdbg_snapshot snapshot = {0};
    uint64_t due_ns = due_since_ns(loop, now_ns);
    struct wsdbg_error *error = evidence->ops->inspect(evidence, due_ns, INSPECT_NS, &snapshot);
    loop->compared_ns = 0;
    if (!error) {
        wsdbg_snapshot_deinit(&loop->last);
        loop->last = snapshot;
    }
    bool due = is_due(loop, now_ns);
    if (error)
        say_failed_look(loop, error, now_ns);
    else
        record(loop, due_ns);
    return due && !error;
}

/* Ticks the watchdog; true for a stall that the histories confirm. */
static bool stalls(struct loop *loop, uint64_t now_ns)
{
    bool comparable = can_compare(loop, now_ns);
    if (will_be_due(loop, now_ns))
        return comparable && confirm(loop, now_ns);
    is_due(loop, now_ns);
    return false;
}

/* One look.  True when the watch is done. */
static bool step(struct loop *loop, bool over)
{
    struct wsdbg_watch *watch = loop->watch;
    uint64_t now_ns = watch->clock->now_ns(watch->clock);
    if (!look(loop, now_ns, over))
        return false;
    if (count_faults(&loop->last) > loop->faults_judged)
        judge_fault(loop, now_ns);
    record_progress(loop, now_ns, over);
    if (over || now_ns < loop->grace_until_ns || !stalls(loop, now_ns)) {
        store(loop, now_ns, over && !watch->hang);
        return false;
    }
    bool hang = judge(loop, now_ns);
    loop->undecided = !hang;
    return hang && watch->stop_at_hang;
}

void wsdbg_watch_run(struct wsdbg_watch *watch)
{
    struct loop loop = {.watch = watch};
    wsdbg_watchdog_init(&loop.watchdog, watch->stall_ns);
    for (bool done = false; !done;) {
        uint64_t next_ns = watch->clock->now_ns(watch->clock) + TICK_NS;
        enum wsdbg_wait event = watch->clock->wait(watch->clock, next_ns);
        if (event == WSDBG_WAIT_RESUMED)
            loop.grace_until_ns = watch->clock->now_ns(watch->clock) + watch->stall_ns;
        done = step(&loop, event == WSDBG_WAIT_OVER) || event == WSDBG_WAIT_OVER;
    }
    wsdbg_snapshot_deinit(&loop.last);
    wsdbg_sources_deinit(&loop.sources);
}
