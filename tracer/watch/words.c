/* words.c - see words.h.  Reads: snapshots and diagnoses.  Writes: the listener or stderr, the session's
 * log. */
#include "watch/words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/console.h"
#include "base/sheet.h"
#include "store/report.h"

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

/* In one piece, so that nothing mixes with it.  The log gets one line alone: the rest is in the database. */
static void say_text(const struct wsdbg_watch *watch, const char *text, const char *line)
{
    if (watch->listener) {
        watch->listener->reported(watch->listener, text, line);
    } else {
        fputs(text, stderr);
        fflush(stderr);
    }
    keep_line(watch, line);
}

/* diagnosis NULL = a picture, without a verdict; title NULL = none. */
static struct wsdbg_error *render(const struct wsdbg_session_info *info, const struct wsdbg_snapshot *snapshot,
                                  const struct wsdbg_diagnosis *diagnosis, const char *title, char **out)
{
    char *text = NULL;
    size_t bytes = 0;
    struct wsdbg_report report;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory)
        return &wsdbg_error_no_memory;
    if (title)
        fprintf(memory, "wsdbg: %s\n", title);
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(memory, stderr);
    struct wsdbg_session_info now = *info;
    if (snapshot->look_count > 0)
        now.evidence = snapshot->source;
    struct wsdbg_error *error = wsdbg_report_gather(&now, snapshot, diagnosis, NULL, &report);
    if (!error && diagnosis)
        wsdbg_report_render_text(&report, &sheet);
    else if (!error)
        wsdbg_report_render_picture(&report, &sheet);
    if (!error)
        wsdbg_report_deinit(&report);
    fclose(memory);
    if (error) {
        free(text);
        return error;
    }
    *out = text;
    return text ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_watch_say_verdict(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                                            const struct wsdbg_diagnosis *diagnosis, uint64_t stall_ns)
{
    struct wsdbg_session_info info = *watch->info;
    char verdict[640] = "hang: UNKNOWN";
    const struct wsdbg_finding *first = diagnosis->findings;
    char *text;
    info.stall_seconds = (double)stall_ns / 1e9;
    info.stall_proven = watch->stall_proven;
    struct wsdbg_error *error = render(&info, snapshot, diagnosis, NULL, &text);
    if (error)
        return error;
    if (diagnosis->finding_count > 0)
        snprintf(verdict, sizeof verdict, "%s: %s (%s): %s",
                 diagnosis->hang               ? "hang"
                 : wsdbg_fault_count(snapshot) ? "fault"
                                               : "stall",
                 wsdbg_cause_name(first->cause), wsdbg_confidence_name(first->confidence), first->sentence);
    say_text(watch, text, verdict);
    free(text);
    return NULL;
}

struct wsdbg_error *wsdbg_watch_say_picture(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                                            const char *title)
{
    char *text;
    struct wsdbg_error *error = render(watch->info, snapshot, NULL, title, &text);
    if (error)
        return error;
    say_text(watch, text, title);
    free(text);
    return NULL;
}

void wsdbg_watch_say_delay(struct wsdbg_watch *watch, uint64_t stall_ns, const struct wsdbg_standstill *standstill)
{
    char delay[96] = "recorded session, its verdict has no delay to measure";
    watch->verdict_ns = watch->clock->is_live ? watch->clock->now_ns(watch->clock) : 0;
    if (watch->verdict_ns && standstill)
        snprintf(delay, sizeof delay, "verdict %.0f ms after the last of %u looks in %.1f s without movement",
                 (double)(watch->verdict_ns - watch->stalled_ns) / 1e6, standstill->looks,
                 (double)standstill->lasted_ns / 1e9);
    else if (watch->verdict_ns)
        snprintf(delay, sizeof delay,
                 watch->stands_proven ? "verdict %.0f ms after the simulator proved that nothing can move"
                                      : "verdict %.0f ms after the %.1f s threshold",
                 (double)(watch->verdict_ns - watch->stalled_ns) / 1e6, (double)stall_ns / 1e9);
    if (!watch->omits_delay)
        wsdbg_watch_say(watch, "%s; %s", delay, watch->after_hang);
}

void wsdbg_watch_say_no_hang(const struct wsdbg_watch *watch, const struct wsdbg_diagnosis *diagnosis, uint64_t age_ns,
                             enum wsdbg_movement movement)
{
    const bool moved = movement == WSDBG_MOVED;
    const struct wsdbg_finding *first = diagnosis->finding_count ? &diagnosis->findings[0] : NULL;
    if (moved && (!first || first->open)) {
        wsdbg_watch_say(watch, "the GPU has been busy for %.1f s; it moves, the program goes on", (double)age_ns / 1e9);
        return;
    }
    wsdbg_watch_say(watch, "%s %.1f s; %s, the program goes on (%s%s%s)",
                    moved ? "the GPU has been busy for" : "the GPU has not completed its work for",
                    (double)age_ns / 1e9, moved ? "it moves" : "no look at it succeeded",
                    first ? wsdbg_cause_name(first->cause) : "UNKNOWN", first ? ": " : "",
                    first ? first->sentence : "");
}

/* Calls of NCCL wait on the host, and no kernel does. */
static bool is_about_calls(const struct wsdbg_diagnosis *diagnosis)
{
    return diagnosis->finding_count && diagnosis->findings[0].grid == WSDBG_NONE;
}

static const char *what_lasts(const struct wsdbg_diagnosis *diagnosis)
{
    return is_about_calls(diagnosis) ? "a call of NCCL has waited for" : "nothing has moved for";
}

/* "not known to be a hang: the host may …". */
static void say_why_no_hang(const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_standstill *standstill,
                            char *out, size_t bytes)
{
    const bool stands = standstill->grid != WSDBG_NONE;
    const unsigned lacking =
        standstill->looks < WSDBG_STANDSTILL_LOOKS ? WSDBG_STANDSTILL_LOOKS - standstill->looks : 1;
    if (is_about_calls(diagnosis))
        snprintf(out, bytes, "not known to be a hang: the rank may still come");
    else if (stands && standstill->outside == WSDBG_OUTSIDE_NOBODY)
        snprintf(out, bytes, "not yet known to be a hang: %u more look%s must see the same", lacking,
                 lacking == 1 ? "" : "s");
    else
        snprintf(out, bytes, "not known to be a hang: %s",
                 stands ? wsdbg_outside_text(standstill->outside) : "it is not known of every warp that it stands");
}

void wsdbg_watch_say_possible(const struct wsdbg_watch *watch, const struct wsdbg_diagnosis *diagnosis,
                              const struct wsdbg_standstill *standstill, uint64_t age_ns)
{
    char why[160], cause[64] = "UNKNOWN";
    const struct wsdbg_finding *first = diagnosis->finding_count ? &diagnosis->findings[0] : NULL;
    say_why_no_hang(diagnosis, standstill, why, sizeof why);
    if (first)
        snprintf(cause, sizeof cause, "%s (%s)", wsdbg_cause_name(first->cause),
                 wsdbg_confidence_name(first->confidence));
    wsdbg_watch_say(watch, "%s %.1f s, %s; %s; the program goes on", what_lasts(diagnosis), (double)age_ns / 1e9, cause,
                    why);
}

/* A diagnosis without a finding has no report: the picture alone is shown. */
static struct wsdbg_error *show_titled(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                                       const struct wsdbg_diagnosis *diagnosis, const char *title)
{
    char *text;
    struct wsdbg_error *error =
        render(watch->info, snapshot, diagnosis->finding_count ? diagnosis : NULL, title, &text);
    if (error)
        return error;
    say_text(watch, text, title);
    free(text);
    return NULL;
}

void wsdbg_watch_show_possible(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                               const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_standstill *standstill,
                               uint64_t age_ns)
{
    char why[160], title[256];
    say_why_no_hang(diagnosis, standstill, why, sizeof why);
    snprintf(title, sizeof title, "%s %.1f s; %s; the program goes on", what_lasts(diagnosis), (double)age_ns / 1e9,
             why);
    struct wsdbg_error *error = show_titled(watch, snapshot, diagnosis, title);
    if (error)
        wsdbg_watch_say(watch, "%s (the report could not be made: %s)", title, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

void wsdbg_watch_say_given_up(struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                              const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_standstill *standstill,
                              uint64_t age_ns)
{
    char why[160], title[256];
    say_why_no_hang(diagnosis, standstill, why, sizeof why);
    snprintf(title, sizeof title, "given up: %s %.1f s (--give-up %g); %s", what_lasts(diagnosis), (double)age_ns / 1e9,
             (double)watch->give_up_ns / 1e9, why);
    struct wsdbg_error *error = show_titled(watch, snapshot, diagnosis, title);
    if (error)
        wsdbg_watch_say(watch, "%s (the report could not be made: %s)", title, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    watch->given_up_ns = age_ns;
    wsdbg_watch_say(watch, "%s", watch->after_hang);
}

void wsdbg_watch_say_cut(struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                         const struct wsdbg_diagnosis *diagnosis, uint64_t age_ns)
{
    struct wsdbg_error *error = wsdbg_watch_say_verdict(watch, snapshot, diagnosis, watch->work_stall_ns);
    if (error)
        wsdbg_watch_say(watch, "the report could not be made: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    watch->cut = true;
    wsdbg_watch_say(
        watch,
        "the GPU has not completed its work for %.1f s; one dump does not show whether it moves: not known to be "
        "a hang",
        (double)age_ns / 1e9);
    wsdbg_watch_say(watch, "the GPU core dump has ended the program's work on the GPU; %s", watch->after_hang);
}

/* What is said of a stall first: how long it has lasted, or how long it has not been known whether there is work. */
static void begin_words(bool guessed, const char *known, uint64_t age_ns, char out[96])
{
    if (guessed)
        snprintf(out, 96, "it has not been known for %.1f s whether the GPU has done its work", (double)age_ns / 1e9);
    else
        snprintf(out, 96, "%s %.1f s", known, (double)age_ns / 1e9);
}

void wsdbg_watch_say_failed_look(const struct wsdbg_watch *watch, struct wsdbg_error *error, bool guessed,
                                 uint64_t age_ns)
{
    char begin[96];
    begin_words(guessed, "nothing has moved for", age_ns, begin);
    wsdbg_watch_say(watch, "%s, but the look at it failed: %s", begin, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

void wsdbg_watch_say_not_known(const struct wsdbg_watch *watch, const char *then, uint64_t age_ns)
{
    char begin[96];
    begin_words(true, NULL, age_ns, begin);
    wsdbg_watch_say(watch, "%s; %s", begin, then);
}

void wsdbg_watch_say_spared(const struct wsdbg_watch *watch, enum wsdbg_submitter submitter, bool guessed,
                            uint64_t age_ns)
{
    char begin[96];
    begin_words(guessed, "the GPU has been busy for", age_ns, begin);
    wsdbg_watch_say(watch,
                    "%s, but it was not looked at: %s. After a look the driver would hold back new "
                    "work until the running kernels end, and one of them may wait for that work. %s",
                    begin,
                    submitter == WSDBG_SUBMITTER_ANY ? "no thread of the program waits for it"
                                                     : "a thread waits for it, but another one may still be running",
                    watch->looks_all_the_same ? watch->looks_all_the_same
                                              : "Ctrl-\\ looks all the same, --evidence live always");
}

void wsdbg_watch_say_hidden(const struct wsdbg_watch *watch, uint64_t age_ns)
{
    wsdbg_watch_say(watch, "stream captures have hidden for %.1f s whether the GPU does its work; %s",
                    (double)age_ns / 1e9,
                    watch->look_ends_work ? "a hang would not be noticed meanwhile"
                                          : "it looks at the GPU itself, now and again after twice the time");
}

static bool has_note(char (*notes)[256], size_t count, const char *note)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(notes[i], note) == 0)
            return true;
    return false;
}

void wsdbg_watch_say_notes(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *before,
                           const struct wsdbg_snapshot *look, struct wsdbg_noted *noted)
{
    for (size_t i = 0; i < look->note_count; i++)
        if (!has_note(before->notes, before->note_count, look->notes[i]) &&
            !has_note(noted->notes, noted->count, look->notes[i]))
            wsdbg_watch_say(watch, "%s", look->notes[i]);
    wsdbg_noted_deinit(noted);
    noted->notes = calloc(look->note_count + 1, sizeof *noted->notes);
    if (!noted->notes || look->note_count == 0)
        return;
    noted->count = look->note_count;
    memcpy(noted->notes, look->notes, noted->count * sizeof *noted->notes);
}

void wsdbg_noted_deinit(struct wsdbg_noted *noted)
{
    free(noted->notes);
    *noted = (struct wsdbg_noted){0};
}

bool wsdbg_watch_is_lost(struct wsdbg_watch *watch)
{
    const struct wsdbg_evidence *evidence = watch->evidence;
    if (watch->lost || !evidence->ops->is_lost || !evidence->ops->is_lost(evidence))
        return watch->lost;
    watch->lost = true;
    wsdbg_watch_say(watch, "a GPU core dump that does not come still costs the program its contexts; %s",
                    watch->after_hang);
    wsdbg_watch_say(watch, "driver 580 can stand still like this when a kernel uses a bad address while dumps are "
                           "armed; without --evidence core the program gets its own error");
    return true;
}
