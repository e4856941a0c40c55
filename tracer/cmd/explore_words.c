/* explore_words.c - see explore_words.h.  Reads: launches as JSON.  Writes: lines, to a listener or on stderr. */
#include "cmd/explore_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/console.h"
#include "model/symbol.h"

enum { LINE_BYTES = 2048, FINDINGS_SAID = 10, SWITCHES_SAID = 20 };

#define INTEGER "%" JSON_INTEGER_FORMAT

void wsdbg_explore_say(struct wsdbg_listener *listener, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (listener)
        listener->said(listener, line);
    else
        wsdbg_say("%s", line);
}

static json_int_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static const char *text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value ? value : "";
}

/* As its author wrote it. */
struct kernel_name {
    char text[256];
};

static struct kernel_name kernel_of(const json_t *launch)
{
    struct kernel_name name;
    wsdbg_symbol_name(text(launch, "kernel"), name.text, sizeof name.text);
    return name;
}

static double seconds(const json_t *object)
{
    return json_number_value(json_object_get(object, "seconds"));
}

static const char *plural(json_int_t count)
{
    return count == 1 ? "" : "s";
}

static const char *ordinal(json_int_t value)
{
    const json_int_t rest = value % 100;
    if (rest >= 11 && rest <= 13)
        return "th";
    return value % 10 == 1 ? "st" : value % 10 == 2 ? "nd" : value % 10 == 3 ? "rd" : "th";
}

static void say_waits(struct wsdbg_listener *listener, const json_t *finding)
{
    const json_t *waits = json_object_get(finding, "waits");
    for (size_t i = 0; i < json_array_size(waits); i++) {
        const json_t *row = json_array_get(waits, i);
        wsdbg_explore_say(listener, "  " INTEGER " warp%s %s", number(row, "warps"), plural(number(row, "warps")),
                          text(row, "text"));
    }
}

static void say_reduced(struct wsdbg_listener *listener, const json_t *reduced, const char *what)
{
    const json_t *switches = json_object_get(reduced, "switches");
    const json_int_t count = number(reduced, "switch_count");
    const char *engines = number(reduced, "unusual_engines") ? ", with copies and matrix work early or late" : "";
    if (count == 0 && *text(reduced, "story"))
        return; /* the story said it */
    if (count == 0) {
        wsdbg_explore_say(listener, "  it takes no context switch%s: it %ss when every warp runs until it waits",
                          engines, what);
        return;
    }
    wsdbg_explore_say(
        listener,
        "  it takes " INTEGER " context switch%s (of " INTEGER " turn%s)%s; else every warp runs until it waits:",
        count, count == 1 ? "" : "es", number(reduced, "turns"), plural(number(reduced, "turns")), engines);
    const size_t kept = json_array_size(switches), said = kept < SWITCHES_SAID ? kept : SWITCHES_SAID;
    if (count > (json_int_t)said)
        wsdbg_explore_say(listener, "    after " INTEGER " others (--json has them):", count - (json_int_t)said);
    for (size_t i = kept - said; i < kept; i++) /* the last ones are nearest to what they lead to */
        wsdbg_explore_say(listener, "    %s", json_string_value(json_array_get(switches, i)));
}

static void say_finding(struct wsdbg_listener *listener, const json_t *launch, const json_t *finding)
{
    const json_t *seed = json_object_get(finding, "seed"), *reduced = json_object_get(finding, "reduced");
    const bool is_fault = strcmp(text(finding, "outcome"), "fault") == 0;
    const bool is_stall = strcmp(text(finding, "outcome"), "stalled") == 0;
    const json_int_t place = number(finding, "place");
    char schedule[64] = "the usual schedule";
    if (json_is_integer(seed))
        snprintf(schedule, sizeof schedule, "schedule " INTEGER, json_integer_value(seed));
    wsdbg_explore_say(listener,
                      "%s in %s of launch " INTEGER " (%s), the " INTEGER "%s tried, after %.1f s: " INTEGER
                      " decisions, " INTEGER " warp-instructions",
                      is_fault   ? "fault"
                      : is_stall ? "possible hang"
                                 : "hang",
                      schedule, number(launch, "launch"), kernel_of(launch).text, place, ordinal(place),
                      seconds(finding), number(finding, "decisions"), number(finding, "instructions"));
    if (is_fault)
        wsdbg_explore_say(listener, "  %s", text(finding, "fault"));
    say_waits(listener, finding);
    if (is_stall)
        wsdbg_explore_say(listener, "  some look at memory that the host or another launch could still write; not "
                                    "so in the usual schedule");
    if (*text(reduced, "story"))
        wsdbg_explore_say(listener, "  %s", text(reduced, "story"));
    if (json_is_object(reduced))
        say_reduced(listener, reduced, is_fault ? "fault" : "hang");
}

/* A schedule is named where one was drawn. */
static void say_report(struct wsdbg_listener *listener, const json_t *report)
{
    char first[64] = "";
    if (json_is_integer(json_object_get(report, "seed")))
        snprintf(first, sizeof first, ", first " INTEGER ",", number(report, "seed"));
    wsdbg_explore_say(listener, "  in " INTEGER " of the schedules%s %s", number(report, "schedules"), first,
                      text(report, "text"));
}

/* Why there were no more schedules, where nobody expects that. */
static const char *why_words(const json_t *launch)
{
    static const char *const rows[][2] = {
        {"asked", "; ended by a signal"},
        {"processes", "; no more processes could be had"},
        {"usual", "; it is too long to try others"},
        {"alike", "; all its schedules are alike: no warp waits for another, and none goes by what another writes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(text(launch, "ended_by"), rows[i][0]) == 0)
            return rows[i][1];
    return json_is_null(json_object_get(launch, "ended_by")) ? "; the search was cut off" : "";
}

static void say_waits_for_host(struct wsdbg_listener *listener, const json_t *launch)
{
    wsdbg_explore_say(listener,
                      "launch " INTEGER " (%s) is not explored: in the usual schedule it waits for memory that the "
                      "host or another launch could still write",
                      number(launch, "launch"), kernel_of(launch).text);
    say_waits(listener, json_array_get(json_object_get(launch, "findings"), 0));
}

static void say_counts(struct wsdbg_listener *listener, const json_t *launch)
{
    wsdbg_explore_say(listener,
                      INTEGER " hang, " INTEGER " possible hang and " INTEGER " fault of " INTEGER
                              " schedules of launch " INTEGER " (%s): %.1f s, " INTEGER " decisions%s",
                      number(launch, "hangs"), number(launch, "stalls"), number(launch, "faults"),
                      number(launch, "schedules"), number(launch, "launch"), kernel_of(launch).text, seconds(launch),
                      number(launch, "decisions"), why_words(launch));
}

static void say_what_is_missing(struct wsdbg_listener *listener, const json_t *launch)
{
    if (number(launch, "unended"))
        wsdbg_explore_say(listener, "  " INTEGER " of the schedules did not come to an end and were given up",
                          number(launch, "unended"));
    if (number(launch, "died"))
        wsdbg_explore_say(listener, "  " INTEGER " more could not be tried: the process died", number(launch, "died"));
}

void wsdbg_explore_say_launch(struct wsdbg_listener *listener, const json_t *launch)
{
    const json_t *findings = json_object_get(launch, "findings"), *reports = json_object_get(launch, "reports");
    const size_t count = json_array_size(findings);
    const json_int_t schedules = number(launch, "schedules");
    if (strcmp(text(launch, "ended_by"), "host") == 0) {
        say_waits_for_host(listener, launch);
        return;
    }
    if (!schedules) {
        wsdbg_explore_say(listener, "launch " INTEGER " (%s): the usual schedule did not come to its end%s",
                          number(launch, "launch"), kernel_of(launch).text, why_words(launch));
        return;
    }
    if (!count)
        wsdbg_explore_say(
            listener, "no hang in " INTEGER " schedule%s of launch " INTEGER " (%s): %.1f s, " INTEGER " decisions%s",
            schedules, plural(schedules), number(launch, "launch"), kernel_of(launch).text, seconds(launch),
            number(launch, "decisions"), why_words(launch));
    else if (schedules > number(json_array_get(findings, count - 1), "place") || count > 1)
        say_counts(listener, launch);
    for (size_t i = 0; i < count && i < FINDINGS_SAID; i++)
        say_finding(listener, launch, json_array_get(findings, i));
    if (count > FINDINGS_SAID)
        wsdbg_explore_say(listener, "and %zu more", count - FINDINGS_SAID);
    say_what_is_missing(listener, launch);
    for (size_t i = 0; i < json_array_size(reports); i++)
        say_report(listener, json_array_get(reports, i));
}

/* Seconds until there are enough schedules, or the time is over; negative when neither can be said. */
static double seconds_left(const struct wsdbg_explore_progress *progress, double spent)
{
    double left = -1;
    if (progress->schedules != UINT64_MAX && progress->tried)
        left = spent * (double)(progress->schedules - progress->tried) / (double)progress->tried;
    const double limit = (double)progress->limit_ns / 1e9 - spent;
    if (progress->limit_ns && (left < 0 || limit < left))
        left = limit > 0 ? limit : 0;
    return left;
}

void wsdbg_explore_progress_text(const struct wsdbg_explore_progress *progress, const json_t *launch, uint64_t now_ns,
                                 char *out, size_t byte_count)
{
    const double spent = (double)(now_ns - progress->begun_ns) / 1e9, left = seconds_left(progress, spent);
    char most[32] = "", ends[32] = "", stage[160];
    if (progress->schedules != UINT64_MAX)
        snprintf(most, sizeof most, " of %" PRIu64, progress->schedules);
    if (left >= 0)
        snprintf(ends, sizeof ends, ", %.0f s left", left);
    if (progress->stage == WSDBG_EXPLORE_USUAL)
        snprintf(stage, sizeof stage, "the usual schedule, %.1f s", spent);
    else if (progress->stage == WSDBG_EXPLORE_REDUCES)
        snprintf(stage, sizeof stage, "%" PRIu64 " schedules, %" PRIu64 " found; reducing one, %" PRIu64 " switches",
                 progress->tried, progress->found, progress->switches);
    else
        snprintf(stage, sizeof stage, "%" PRIu64 "%s schedules, %.0f/s, %" PRIu64 " found%s", progress->tried, most,
                 spent > 0 ? (double)progress->tried / spent : 0, progress->found, ends);
    snprintf(out, byte_count, "launch " INTEGER " (%.40s): %s", number(launch, "launch"), kernel_of(launch).text,
             stage);
}
