/* explore_log.c - see explore_log.h.
 *
 * Reads: the log, whose lines sim/libcuda/explore_words.c describes.  Writes: what explore_words.c says of a launch
 * when it has been tried to the end, and a line on the terminal before that.  A line that is not understood is passed
 * over.
 */
#include "cmd/explore_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/console.h"
#include "cmd/explore_words.h"
#include "base/progress_line.h"
#include "model/symbol.h"

enum { LINE_BYTES = 2048, FINDINGS_KEPT = 10000 };
/* A search whose program is gone is over in less. */
#define LAST_WORDS_NS 2000000000ull
/* Where there is no terminal for a line that changes. */
#define TOLD_EVERY_NS 5000000000ull

struct wsdbg_explore_log {
    int file;
    char line[LINE_BYTES];
    size_t filled;
    json_t *launches, *skipped;
    json_t *launch;  /* that is being tried; NULL = none */
    json_t *finding; /* the last of it */
    struct wsdbg_explore_progress progress;
    struct wsdbg_progress_line shown;
    uint64_t told_ns, stands_ns;
    bool hangs, stands_proven;
    char *story; /* not taken yet; NULL = none */
    struct wsdbg_listener *listener;
};

struct wsdbg_error *wsdbg_explore_log_create(const char *path, struct wsdbg_explore_log **out)
{
    struct wsdbg_explore_log *log = calloc(1, sizeof *log);
    if (!log)
        return &wsdbg_error_no_memory;
    log->launches = json_array();
    log->skipped = json_array();
    log->file = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const int code = errno;
    wsdbg_progress_begin(&log->shown, "", 0);
    if (log->file >= 0 && log->launches && log->skipped) {
        *out = log;
        return NULL;
    }
    struct wsdbg_error *error = log->file < 0 ? wsdbg_error_os(code, "%s", path) : &wsdbg_error_no_memory;
    wsdbg_explore_log_destroy(log);
    return error;
}

void wsdbg_explore_log_destroy(struct wsdbg_explore_log *log)
{
    if (!log)
        return;
    wsdbg_progress_end(&log->shown);
    if (log->file >= 0)
        close(log->file);
    json_decref(log->launches);
    json_decref(log->skipped);
    free(log->story);
    free(log);
}

uint64_t wsdbg_explore_log_stands_ns(const struct wsdbg_explore_log *log, bool *proven)
{
    *proven = log->stands_proven;
    return log->stands_ns;
}

char *wsdbg_explore_log_take_story(struct wsdbg_explore_log *log)
{
    char *story = log->story;
    log->story = NULL;
    return story;
}

bool wsdbg_explore_log_hangs(const struct wsdbg_explore_log *log)
{
    return log->hangs;
}

bool wsdbg_explore_log_any(const struct wsdbg_explore_log *log)
{
    return json_array_size(log->launches) + json_array_size(log->skipped) > 0;
}

/* A launch that waits for the host under the usual schedule is not explored. */
bool wsdbg_explore_log_explored(const struct wsdbg_explore_log *log)
{
    size_t i;
    json_t *launch;
    json_array_foreach(log->launches, i, launch)
    {
        const char *why = json_string_value(json_object_get(launch, "ended_by"));
        if (json_integer_value(json_object_get(launch, "schedules")) > 0 && (!why || strcmp(why, "host") != 0))
            return true;
    }
    return false;
}

json_t *wsdbg_explore_log_launches(const struct wsdbg_explore_log *log)
{
    return log->launches;
}

json_t *wsdbg_explore_log_skipped(const struct wsdbg_explore_log *log)
{
    return log->skipped;
}

/* ---- how far it is ---- */

static void show_progress(struct wsdbg_explore_log *log)
{
    char text[256];
    const uint64_t now_ns = wsdbg_monotonic_ns();
    wsdbg_explore_progress_text(&log->progress, log->launch, now_ns, text, sizeof text);
    if (!log->listener)
        wsdbg_progress_show(&log->shown, text);
    else if (now_ns - log->told_ns >= TOLD_EVERY_NS) {
        wsdbg_explore_say(log->listener, "%s", text);
        log->told_ns = now_ns;
    }
}

static void note_progress(struct wsdbg_explore_log *log, const char *word, const char *rest)
{
    unsigned long long numbers[2] = {0};
    const int count = sscanf(rest, "%llu %llu", &numbers[0], &numbers[1]);
    if (!log->launch || count < 1)
        return;
    if (strcmp(word, "tried") == 0 && count == 2) {
        log->progress.stage = WSDBG_EXPLORE_TRIES;
        log->progress.tried = numbers[0];
        log->progress.found = numbers[1];
    } else if (strcmp(word, "reduces") == 0) {
        log->progress.stage = WSDBG_EXPLORE_REDUCES;
        log->progress.switches = numbers[0];
    }
    show_progress(log);
}

/* ---- lines ---- */

static void begin_launch(struct wsdbg_explore_log *log, const char *rest)
{
    unsigned long long launch, schedules, limit_ns;
    int end = 0;
    if (sscanf(rest, "%llu %llu %llu %n", &launch, &schedules, &limit_ns, &end) < 3 || !end)
        return;
    log->progress =
        (struct wsdbg_explore_progress){.begun_ns = wsdbg_monotonic_ns(), .schedules = schedules, .limit_ns = limit_ns};
    log->told_ns = log->progress.begun_ns;
    log->finding = NULL;
    log->launch =
        json_pack("{s:I, s:s, s:n, s:I, s:I, s:n, s:I, s:I, s:I, s:I, s:I, s:[], s:[], s:n}", "launch",
                  (json_int_t)launch, "kernel", rest + end, "ended_by", "schedules", (json_int_t)0, "decisions",
                  (json_int_t)0, "seconds", "hangs", (json_int_t)0, "stalls", (json_int_t)0, "faults", (json_int_t)0,
                  "unended", (json_int_t)0, "died", (json_int_t)0, "findings", "reports", "ran");
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
    unsigned long long place, decisions, instructions, ns;
    json_t *findings = json_object_get(log->launch, "findings");
    log->finding = NULL;
    if (sscanf(rest, "%31s %31s %llu %llu %llu %llu", seed, outcome, &place, &decisions, &instructions, &ns) != 6)
        return;
    log->hangs |= strcmp(outcome, "deadlock") == 0;
    if (json_array_size(findings) >= FINDINGS_KEPT)
        return;
    log->finding = json_pack("{s:o, s:s, s:b, s:I, s:I, s:I, s:f, s:n, s:[], s:n}", "seed", seed_of(seed), "outcome",
                             outcome, "proven", strcmp(outcome, "stalled") != 0, "place", (json_int_t)place,
                             "decisions", (json_int_t)decisions, "instructions", (json_int_t)instructions, "seconds",
                             (double)ns / 1e9, "fault", "waits", "reduced");
    json_array_append_new(findings, log->finding);
}

static void find_again(struct wsdbg_explore_log *log, const char *rest)
{
    const json_t *findings = json_object_get(log->launch, "findings");
    json_t *seed = seed_of(rest);
    log->finding = NULL;
    for (size_t i = 0; i < json_array_size(findings); i++)
        if (json_equal(json_object_get(json_array_get(findings, i), "seed"), seed))
            log->finding = json_array_get(findings, i);
    json_decref(seed);
}

static void add_report(struct wsdbg_explore_log *log, const char *rest)
{
    unsigned long long schedules;
    char seed[32], kind[32];
    int end = 0;
    if (sscanf(rest, "%llu %31s %31s %n", &schedules, seed, kind, &end) == 3 && end)
        json_array_append_new(json_object_get(log->launch, "reports"),
                              json_pack("{s:s, s:I, s:o, s:s}", "kind", kind, "schedules", (json_int_t)schedules,
                                        "seed", seed_of(seed), "text", rest + end));
}

static void add_wait(json_t *finding, const char *rest)
{
    unsigned long long warps;
    int end = 0;
    if (sscanf(rest, "%llu %n", &warps, &end) == 1 && end)
        json_array_append_new(json_object_get(finding, "waits"),
                              json_pack("{s:I, s:s}", "warps", (json_int_t)warps, "text", rest + end));
}

static void add_turns(json_t *finding, const char *rest)
{
    unsigned long long count, turns, engines;
    double seconds;
    if (sscanf(rest, "%llu %llu %llu %lf", &count, &turns, &engines, &seconds) == 4)
        json_object_set_new(finding, "reduced",
                            json_pack("{s:I, s:I, s:I, s:f, s:n, s:[]}", "switch_count", (json_int_t)count, "turns",
                                      (json_int_t)turns, "unusual_engines", (json_int_t)engines, "seconds", seconds,
                                      "story", "switches"));
}

static void add_switch(json_t *finding, const char *rest)
{
    json_array_append_new(json_object_get(json_object_get(finding, "reduced"), "switches"), json_string(rest));
}

/* "fault in schedule 7 of launch 0 (copy): It takes 1 switch: …" */
static void add_story(struct wsdbg_explore_log *log, const char *rest)
{
    const json_t *seed = json_object_get(log->finding, "seed");
    const char *outcome = json_string_value(json_object_get(log->finding, "outcome"));
    const char *kernel = json_string_value(json_object_get(log->launch, "kernel"));
    char schedule[64] = "the usual schedule", name[256];
    wsdbg_symbol_name(kernel ? kernel : "", name, sizeof name);
    if (json_is_integer(seed))
        snprintf(schedule, sizeof schedule, "schedule %" JSON_INTEGER_FORMAT, json_integer_value(seed));
    json_object_set_new(json_object_get(log->finding, "reduced"), "story", json_string(rest));
    free(log->story);
    if (asprintf(&log->story, "%s in %s of launch %" JSON_INTEGER_FORMAT " (%s): %s",
                 !outcome || strcmp(outcome, "deadlock") == 0 ? "hang"
                 : strcmp(outcome, "fault") == 0              ? "fault"
                                                              : "possible hang",
                 schedule, json_integer_value(json_object_get(log->launch, "launch")), name, rest) < 0)
        log->story = NULL;
}

static void say_launch(struct wsdbg_explore_log *log)
{
    wsdbg_progress_end(&log->shown);
    wsdbg_explore_say_launch(log->listener, log->launch);
    log->launch = log->finding = NULL;
}

static void end_launch(struct wsdbg_explore_log *log, const char *rest)
{
    static const char *const names[] = {"schedules", "decisions", NULL, "hangs", "stalls", "faults", "unended", "died"};
    unsigned long long numbers[8];
    char why[32];
    if (sscanf(rest, "%31s %llu %llu %llu %llu %llu %llu %llu %llu", why, &numbers[0], &numbers[1], &numbers[2],
               &numbers[3], &numbers[4], &numbers[5], &numbers[6], &numbers[7]) != 9)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i])
            json_object_set_new(log->launch, names[i], json_integer((json_int_t)numbers[i]));
    json_object_set_new(log->launch, "seconds", json_real((double)numbers[2] / 1e9));
    json_object_set_new(log->launch, "ended_by", json_string(why));
    say_launch(log);
}

/* Of the launch that was explored last. */
static void stands(struct wsdbg_explore_log *log, const char *rest)
{
    json_t *launch = json_array_get(log->launches, json_array_size(log->launches) - 1);
    char outcome[32];
    if (!launch || sscanf(rest, "%31s", outcome) != 1)
        return;
    json_object_set_new(launch, "ran", json_string(outcome));
    log->stands_proven = strcmp(outcome, "deadlock") == 0;
    log->stands_ns = log->stands_proven || strcmp(outcome, "stalled") == 0 ? wsdbg_monotonic_ns() : 0;
}

static void skip_launch(struct wsdbg_explore_log *log, const char *rest)
{
    unsigned long long launch;
    int end = 0;
    if (sscanf(rest, "%llu %n", &launch, &end) != 1 || !end)
        return;
    json_array_append_new(log->skipped, json_pack("{s:I, s:s}", "launch", (json_int_t)launch, "kernel", rest + end));
    wsdbg_progress_end(&log->shown);
    wsdbg_explore_say(log->listener,
                      "launch %llu (%s) is not explored: it runs beside one that waits, perhaps for this one", launch,
                      rest + end);
}

static void take_finding_line(struct wsdbg_explore_log *log, const char *word, const char *rest)
{
    json_t *finding = log->finding;
    if (strcmp(word, "wait") == 0)
        add_wait(finding, rest);
    else if (strcmp(word, "fault") == 0)
        json_object_set_new(finding, "fault", json_string(rest));
    else if (strcmp(word, "turns") == 0)
        add_turns(finding, rest);
    else if (strcmp(word, "switch") == 0)
        add_switch(finding, rest);
    else if (strcmp(word, "story") == 0)
        add_story(log, rest);
}

static void take_launch_line(struct wsdbg_explore_log *log, const char *word, const char *rest)
{
    if (strcmp(word, "found") == 0)
        add_finding(log, rest);
    else if (strcmp(word, "again") == 0)
        find_again(log, rest);
    else if (strcmp(word, "report") == 0)
        add_report(log, rest);
    else if (strcmp(word, "end") == 0)
        end_launch(log, rest);
    else if (log->finding)
        take_finding_line(log, word, rest);
}

static void take_line(struct wsdbg_explore_log *log, char *line)
{
    char *rest = line + strcspn(line, " ");
    if (*rest)
        *rest++ = '\0';
    if (strcmp(line, "launch") == 0)
        begin_launch(log, rest);
    else if (strcmp(line, "usual") == 0 || strcmp(line, "tried") == 0 || strcmp(line, "reduces") == 0)
        note_progress(log, line, rest);
    else if (strcmp(line, "skipped") == 0)
        skip_launch(log, rest);
    else if (strcmp(line, "stands") == 0)
        stands(log, rest);
    else if (strcmp(line, "goes") == 0)
        log->stands_ns = 0;
    else if (log->launch)
        take_launch_line(log, line, rest);
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

void wsdbg_explore_log_finish(struct wsdbg_explore_log *log)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    const uint64_t begin_ns = wsdbg_monotonic_ns();
    wsdbg_explore_log_follow(log, NULL);
    while (log->launch && wsdbg_monotonic_ns() - begin_ns < LAST_WORDS_NS) {
        nanosleep(&pause, NULL);
        wsdbg_explore_log_follow(log, NULL);
    }
    if (log->launch) {
        json_object_set_new(log->launch, "schedules", json_integer((json_int_t)log->progress.tried));
        say_launch(log);
    }
}
