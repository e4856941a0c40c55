/* explore_log.c - see explore_log.h.
 *
 * Reads: the log, whose lines sim/libcuda/explore_words.c describes.  Writes: lines of wsdbg's own, when a launch has
 * been tried to the end; JSON.  A line that is not understood is passed over.
 */
#include "cmd/explore_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/console.h"

enum { LINE_BYTES = 2048, FINDINGS_SAID = 10, SWITCHES_SAID = 20 };

struct wsdbg_explore_log {
    int file;
    char line[LINE_BYTES];
    size_t filled;
    json_t *launches;
    json_t *launch;  /* that is being tried; NULL = none */
    json_t *finding; /* the last of it */
    uint64_t stands_ns;
    bool hangs;
    struct wsdbg_listener *listener;
};

struct wsdbg_error *wsdbg_explore_log_create(const char *path, struct wsdbg_explore_log **out)
{
    struct wsdbg_explore_log *log = calloc(1, sizeof *log);
    json_t *launches = json_array();
    if (!log || !launches) {
        free(log);
        json_decref(launches);
        return &wsdbg_error_no_memory;
    }
    *log = (struct wsdbg_explore_log){.file = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600),
                                      .launches = launches};
    if (log->file >= 0) {
        *out = log;
        return NULL;
    }
    struct wsdbg_error *error = wsdbg_error_os(errno, "%s", path);
    wsdbg_explore_log_destroy(log);
    return error;
}

void wsdbg_explore_log_destroy(struct wsdbg_explore_log *log)
{
    if (!log)
        return;
    if (log->file >= 0)
        close(log->file);
    json_decref(log->launches);
    free(log);
}

uint64_t wsdbg_explore_log_stands_ns(const struct wsdbg_explore_log *log)
{
    return log->stands_ns;
}

bool wsdbg_explore_log_hangs(const struct wsdbg_explore_log *log)
{
    return log->hangs;
}

bool wsdbg_explore_log_any(const struct wsdbg_explore_log *log)
{
    return json_array_size(log->launches) > 0;
}

/* ---- words ---- */

static void say(const struct wsdbg_explore_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct wsdbg_explore_log *log, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (log->listener)
        log->listener->said(log->listener, line);
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

static double seconds(const json_t *object)
{
    return json_real_value(json_object_get(object, "seconds"));
}

static const char *ordinal(json_int_t value)
{
    const json_int_t rest = value % 100;
    if (rest >= 11 && rest <= 13)
        return "th";
    return value % 10 == 1 ? "st" : value % 10 == 2 ? "nd" : value % 10 == 3 ? "rd" : "th";
}

static void say_reduced(const struct wsdbg_explore_log *log, const json_t *finding)
{
    const json_t *switches = json_object_get(finding, "switches");
    if (!switches)
        return;
    const json_int_t count = number(finding, "switch_count"), engines = number(finding, "unusual_engines");
    say(log, "  reducible to %" JSON_INTEGER_FORMAT " context switch%s of %" JSON_INTEGER_FORMAT " turns%s%s", count,
        count == 1 ? "" : "es", number(finding, "turns"), engines ? ", with copies and matrix work early or late" : "",
        count ? ", else a warp runs until it waits:" : ": it hangs when every warp runs until it waits");
    for (size_t i = 0; i < json_array_size(switches) && i < SWITCHES_SAID; i++)
        say(log, "    %s", json_string_value(json_array_get(switches, i)));
    if (count > SWITCHES_SAID)
        say(log, "    and %" JSON_INTEGER_FORMAT " more", count - SWITCHES_SAID);
}

static void say_finding(const struct wsdbg_explore_log *log, const json_t *launch, const json_t *finding)
{
    const json_t *waits = json_object_get(finding, "waits");
    const json_int_t tried = number(finding, "tried");
    const bool is_usual = json_is_null(json_object_get(finding, "seed")), is_fault = text(finding, "fault")[0] != '\0';
    const char *what = is_fault ? "fault" : "hang";
    char schedule[64] = "the usual schedule";
    if (!is_usual)
        snprintf(schedule, sizeof schedule, "schedule %" JSON_INTEGER_FORMAT, number(finding, "seed"));
    say(log,
        "%s in %s of launch %" JSON_INTEGER_FORMAT " (%s), the %" JSON_INTEGER_FORMAT "%s tried, after %.1f s: "
        "%" JSON_INTEGER_FORMAT " decisions, %" JSON_INTEGER_FORMAT " warp-instructions",
        what, schedule, number(launch, "launch"), text(launch, "kernel"), tried, ordinal(tried), seconds(finding),
        number(finding, "decisions"), number(finding, "instructions"));
    if (is_fault)
        say(log, "  %s", text(finding, "fault"));
    for (size_t i = 0; i < json_array_size(waits); i++) {
        const json_t *row = json_array_get(waits, i);
        say(log, "  %" JSON_INTEGER_FORMAT " warp%s %s", number(row, "warps"), number(row, "warps") == 1 ? "" : "s",
            text(row, "text"));
    }
    if (strcmp(text(finding, "outcome"), "stalled") == 0)
        say(log, "  some of them look at memory that only the host could still write");
    say_reduced(log, finding);
}

/* A schedule is named where one was drawn. */
static void say_report(const struct wsdbg_explore_log *log, const json_t *report)
{
    char first[64] = "";
    if (json_is_integer(json_object_get(report, "seed")))
        snprintf(first, sizeof first, ", first %" JSON_INTEGER_FORMAT ",", number(report, "seed"));
    say(log, "  in %" JSON_INTEGER_FORMAT " of the schedules%s %s", number(report, "schedules"), first,
        text(report, "text"));
}

static void say_launch(const struct wsdbg_explore_log *log, const json_t *launch)
{
    const json_t *findings = json_object_get(launch, "findings"), *reports = json_object_get(launch, "reports");
    const size_t count = json_array_size(findings);
    const json_int_t schedules = number(launch, "schedules"), unended = number(launch, "unended");
    if (!count)
        say(log,
            "no hang in %" JSON_INTEGER_FORMAT " schedule%s of launch %" JSON_INTEGER_FORMAT " (%s): %.1f s, "
            "%" JSON_INTEGER_FORMAT " decisions",
            schedules, schedules == 1 ? "" : "s", number(launch, "launch"), text(launch, "kernel"), seconds(launch),
            number(launch, "decisions"));
    else if (schedules > number(json_array_get(findings, count - 1), "tried"))
        say(log,
            "%" JSON_INTEGER_FORMAT " hang and %" JSON_INTEGER_FORMAT " fault of %" JSON_INTEGER_FORMAT
            " schedules of launch %" JSON_INTEGER_FORMAT " (%s): %.1f s, %" JSON_INTEGER_FORMAT " decisions",
            number(launch, "hangs"), number(launch, "faults"), schedules, number(launch, "launch"),
            text(launch, "kernel"), seconds(launch), number(launch, "decisions"));
    for (size_t i = 0; i < count && i < FINDINGS_SAID; i++)
        say_finding(log, launch, json_array_get(findings, i));
    if (count > FINDINGS_SAID)
        say(log, "and %zu more", count - FINDINGS_SAID);
    if (unended)
        say(log, "  %" JSON_INTEGER_FORMAT " of the schedules did not come to an end and were given up", unended);
    for (size_t i = 0; i < json_array_size(reports); i++)
        say_report(log, json_array_get(reports, i));
}

/* ---- lines ---- */

static void begin_launch(struct wsdbg_explore_log *log, const char *rest)
{
    unsigned long long launch, schedules;
    int end = 0;
    if (sscanf(rest, "%llu %llu %n", &launch, &schedules, &end) < 2 || !end)
        return;
    log->launch =
        json_pack("{s:I, s:s, s:[], s:[]}", "launch", (json_int_t)launch, "kernel", rest + end, "findings", "reports");
    log->finding = NULL;
    if (log->launch)
        json_array_append_new(log->launches, log->launch);
}

/* The number of a schedule; null of the usual one, which has none. */
static json_t *seed_of(const char *word)
{
    return strcmp(word, "usual") == 0 ? json_null() : json_integer((json_int_t)strtoull(word, NULL, 10));
}

static void add_finding(struct wsdbg_explore_log *log, const char *rest)
{
    char seed[32], outcome[32];
    unsigned long long tried, decisions, instructions, ns;
    if (!log->launch ||
        sscanf(rest, "%31s %31s %llu %llu %llu %llu", seed, outcome, &tried, &decisions, &instructions, &ns) != 6)
        return;
    log->finding = json_pack("{s:o, s:s, s:I, s:I, s:I, s:f, s:[]}", "seed", seed_of(seed), "outcome", outcome, "tried",
                             (json_int_t)tried, "decisions", (json_int_t)decisions, "instructions",
                             (json_int_t)instructions, "seconds", (double)ns / 1e9, "waits");
    json_array_append_new(json_object_get(log->launch, "findings"), log->finding);
    log->hangs |= strcmp(outcome, "fault") != 0;
}

static void find_again(struct wsdbg_explore_log *log, const char *rest)
{
    const json_t *findings = json_object_get(log->launch, "findings");
    const json_int_t seed = (json_int_t)strtoull(rest, NULL, 10);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        json_t *finding = json_array_get(findings, i);
        if (json_is_integer(json_object_get(finding, "seed")) && number(finding, "seed") == seed)
            log->finding = finding;
    }
}

static void add_report(json_t *rows, const char *rest)
{
    unsigned long long schedules;
    char seed[32];
    int end = 0;
    if (sscanf(rest, "%llu %31s %n", &schedules, seed, &end) == 2 && end)
        json_array_append_new(rows, json_pack("{s:I, s:o, s:s}", "schedules", (json_int_t)schedules, "seed",
                                              seed_of(seed), "text", rest + end));
}

static void add_wait(json_t *rows, const char *rest)
{
    unsigned long long warps;
    int end = 0;
    if (sscanf(rest, "%llu %n", &warps, &end) == 1 && end)
        json_array_append_new(rows, json_pack("{s:I, s:s}", "warps", (json_int_t)warps, "text", rest + end));
}

static void add_turns(json_t *finding, const char *rest)
{
    unsigned long long count, turns, engines;
    if (sscanf(rest, "%llu %llu %llu", &count, &turns, &engines) != 3)
        return;
    json_object_set_new(finding, "switch_count", json_integer((json_int_t)count));
    json_object_set_new(finding, "turns", json_integer((json_int_t)turns));
    json_object_set_new(finding, "unusual_engines", json_integer((json_int_t)engines));
    json_object_set_new(finding, "switches", json_array());
}

static void end_launch(struct wsdbg_explore_log *log, const char *rest)
{
    unsigned long long tried, decisions, ns, hangs, faults, unended;
    if (!log->launch ||
        sscanf(rest, "%llu %llu %llu %llu %llu %llu", &tried, &decisions, &ns, &hangs, &faults, &unended) != 6)
        return;
    json_t *numbers = json_pack("{s:I, s:I, s:f, s:I, s:I, s:I}", "schedules", (json_int_t)tried, "decisions",
                                (json_int_t)decisions, "seconds", (double)ns / 1e9, "hangs", (json_int_t)hangs,
                                "faults", (json_int_t)faults, "unended", (json_int_t)unended);
    json_object_update(log->launch, numbers);
    json_decref(numbers);
    say_launch(log, log->launch);
    log->launch = log->finding = NULL;
}

static void stands(struct wsdbg_explore_log *log, const char *rest)
{
    if (strncmp(rest, "deadlock", 8) == 0 || strncmp(rest, "stalled", 7) == 0)
        log->stands_ns = wsdbg_monotonic_ns();
}

static void take_line(struct wsdbg_explore_log *log, char *line)
{
    char *rest = line + strcspn(line, " ");
    if (*rest)
        *rest++ = '\0';
    if (strcmp(line, "launch") == 0)
        begin_launch(log, rest);
    else if (strcmp(line, "found") == 0)
        add_finding(log, rest);
    else if (strcmp(line, "again") == 0 && log->launch)
        find_again(log, rest);
    else if (strcmp(line, "end") == 0)
        end_launch(log, rest);
    else if (strcmp(line, "stands") == 0)
        stands(log, rest);
    else if (strcmp(line, "report") == 0 && log->launch)
        add_report(json_object_get(log->launch, "reports"), rest);
    else if (strcmp(line, "wait") == 0 && log->finding)
        add_wait(json_object_get(log->finding, "waits"), rest);
    else if (strcmp(line, "fault") == 0 && log->finding)
        json_object_set_new(log->finding, "fault", json_string(rest));
    else if (strcmp(line, "turns") == 0 && log->finding)
        add_turns(log->finding, rest);
    else if (strcmp(line, "switch") == 0 && log->finding)
        json_array_append_new(json_object_get(log->finding, "switches"), json_string(rest));
}

void wsdbg_explore_log_follow(struct wsdbg_explore_log *log, struct wsdbg_listener *listener)
{
    ssize_t count;
    log->listener = listener;
    while ((count = read(log->file, log->line + log->filled, sizeof log->line - log->filled - 1)) > 0) {
        log->filled += (size_t)count;
        log->line[log->filled] = '\0';
        char *line = log->line, *end;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            take_line(log, line);
        }
        log->filled = strlen(line);
        if (log->filled == sizeof log->line - 1)
            log->filled = 0; /* no line is so long */
        memmove(log->line, line, log->filled);
    }
}

struct wsdbg_error *wsdbg_explore_log_print(const struct wsdbg_explore_log *log, int status)
{
    json_t *root = json_pack("{s:i, s:b, s:O}", "status", status, "hang", (int)log->hangs, "launches", log->launches);
    const int failed = !root || json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
    return failed ? wsdbg_error_create(WSDBG_ERROR_OTHER, "cannot write what was found as JSON") : NULL;
}
