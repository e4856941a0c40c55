/* explore.c - `wsdbg explore`: a program's kernels under many schedules of the simulated sm_90, then the run that
 * hangs.
 *
 * The trying is the simulator's (sim/libcuda/explore.c): told how by one variable of the environment, it answers in a
 * log.  Here the options become that variable, the log is followed beside the watch of `wsdbg run`, and a hang that the
 * watch has no evidence of ends the program all the same.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/console.h"
#include "cmd/explore_log.h"
#include "cmd/explore_words.h"
#include "cmd/launch.h"
#include "cmd/options.h"
#include "cmd/races.h"
#include "store/store.h"
#include "watch/session.h"
#include "program/spool.h"
#include "wsdbg/session.h"

enum { SCHEMA_VERSION = 1, SCHEDULES_DEFAULT = 1000, DEPTH_DEFAULT = 3 };
/* What JSON readers keep exact. */
#define SEED_MOST (1ull << 53)
#define STALL_NS 2000000000ull
/* So long after a hang was proven the watch has seen it, or will not. */
#define PATIENCE_NS (STALL_NS + 1000000000)

struct exploration {
    struct wsdbg_follower follower;
    struct wsdbg_explore_log *log;
    struct wsdbg_races races;
    bool was_told;    /* that the launch can never go on */
    bool stood_still; /* the launch that was found to hang did, and the program was ended */
};

/* A proven deadlock is reported at once; a launch that polls may still be helped from outside. */
static enum wsdbg_followed follow(struct wsdbg_follower *follower, struct wsdbg_listener *listener)
{
    struct exploration *exploration = (struct exploration *)((char *)follower - offsetof(struct exploration, follower));
    wsdbg_explore_log_follow(exploration->log, listener);
    char *story = wsdbg_explore_log_take_story(exploration->log);
    if (story && follower->store)
        wsdbg_error_destroy(wsdbg_store_log(follower->store, wsdbg_monotonic_ns(), WSDBG_LOG_SCHEDULE, story));
    free(story);
    bool is_proven;
    const uint64_t stands_ns = wsdbg_explore_log_stands_ns(exploration->log, &is_proven);
    const bool was_told = exploration->was_told;
    exploration->was_told |= stands_ns && is_proven;
    exploration->stood_still = stands_ns && wsdbg_monotonic_ns() - stands_ns > PATIENCE_NS;
    if (exploration->stood_still) {
        wsdbg_explore_say(listener,
                          "the launch has stood still for %.1f s under that schedule; the program is ended now",
                          (double)PATIENCE_NS / 1e9);
        return WSDBG_FOLLOWED_ENDS;
    }
    return exploration->was_told && !was_told ? WSDBG_FOLLOWED_STANDS : WSDBG_FOLLOWED_GOES_ON;
}

/* A whole number of 64 bits; the option's default when it was not given. */
static struct wsdbg_error *number(const struct wsdbg_invocation *invocation, const char *name, uint64_t least,
                                  uint64_t most, uint64_t otherwise, uint64_t *out)
{
    const char *text = wsdbg_option_value(invocation, name);
    *out = otherwise;
    return text ? wsdbg_parse_number(name, text, least, most, out) : NULL;
}

struct wanted {
    uint64_t schedules, jobs, seed, depth, launch, limit_ns;
    const char *kind;
    bool all, replays, every_launch, compares;
};

static struct wsdbg_error *read_wanted(const struct wsdbg_invocation *invocation, struct wanted *out)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t jobs = processors < 1                        ? 1
                          : processors > WSDBG_EXPLORE_JOBS_MAX ? WSDBG_EXPLORE_JOBS_MAX
                                                                : (uint64_t)processors;
    const char *seconds = wsdbg_option_value(invocation, "seconds"), *replay = wsdbg_option_value(invocation, "replay");
    const char *kind = wsdbg_option_value(invocation, "schedule");
    *out = (struct wanted){.kind = kind ? kind : "mix",
                           .all = wsdbg_option_value(invocation, "all") != NULL,
                           .replays = replay != NULL,
                           .compares = wsdbg_option_value(invocation, "compare-results") != NULL,
                           .every_launch = !wsdbg_option_value(invocation, "launch")};
    const uint64_t schedules = seconds ? UINT64_MAX : SCHEDULES_DEFAULT;
    struct wsdbg_error *error = number(invocation, "schedules", 1, UINT64_MAX, schedules, &out->schedules);
    if (!error)
        error = number(invocation, "jobs", 1, WSDBG_EXPLORE_JOBS_MAX, jobs, &out->jobs);
    if (!error)
        error = number(invocation, "seed", 0, SEED_MOST, 1, &out->seed);
    if (!error && replay)
        error = number(invocation, "replay", 0, SEED_MOST, 1, &out->seed);
    if (!error)
        error = number(invocation, "depth", 0, WSDBG_EXPLORE_DEPTH_MAX, DEPTH_DEFAULT, &out->depth);
    if (!error)
        error = number(invocation, "launch", 0, UINT64_MAX - 1, 0, &out->launch);
    if (!error && seconds)
        error = wsdbg_parse_seconds("seconds", seconds, &out->limit_ns);
    if (!error && replay &&
        (out->all || wsdbg_option_value(invocation, "seed") || wsdbg_option_value(invocation, "schedules") || seconds))
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                   "--replay: one schedule; not with --all, --seed, --schedules or --seconds");
    return error;
}

/* The environment's variable: what sim/libcuda/explore_options.c reads. */
static char *variable(const struct wanted *wanted, const char *log)
{
    char *out = NULL, launch[32] = "";
    if (!wanted->every_launch)
        snprintf(launch, sizeof launch, "launch=%llu,", (unsigned long long)wanted->launch);
    if (asprintf(&out, "schedules=%llu,limit_ns=%llu,jobs=%llu,seed=%llu,depth=%llu,schedule=%s,%s%s%s%slog=%s",
                 (unsigned long long)wanted->schedules, (unsigned long long)wanted->limit_ns,
                 (unsigned long long)wanted->jobs, (unsigned long long)wanted->seed, (unsigned long long)wanted->depth,
                 wanted->kind, launch, wanted->all ? "all," : "", wanted->replays ? "replays," : "",
                 wanted->compares ? "compares," : "", log) < 0)
        return NULL;
    return out;
}

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* What docs/explore.schema.json describes, on stdout. */
static struct wsdbg_error *print_json(const struct exploration *exploration, const struct wanted *wanted,
                                      const struct wsdbg_run_result *result, bool hangs, json_t *races, int status)
{
    json_t *root = json_pack(
        "{s:i, s:i, s:b, s:o, s:o, s:{s:s, s:I, s:I}, s:O, s:O}", "schema_version", SCHEMA_VERSION, "status", status,
        "hang", hangs, "cause", text_or_null(result->cause), "database", text_or_null(result->database), "options",
        "schedule", wanted->kind, "depth", (json_int_t)wanted->depth, "seed", (json_int_t)wanted->seed, "launches",
        wsdbg_explore_log_launches(exploration->log), "skipped", wsdbg_explore_log_skipped(exploration->log));
    if (root && races)
        json_object_set(root, "races", races);
    const bool failed = !root || json_dumpf(root, stdout, JSON_INDENT(2)) != 0;
    putchar('\n');
    json_decref(root);
    return failed ? wsdbg_error_create(WSDBG_ERROR_OTHER, "cannot write what was found as JSON") : NULL;
}

/* The first that was found under a schedule with a number; false = there is none. */
static bool find_first(const struct wsdbg_explore_log *log, json_int_t *launch, json_int_t *seed)
{
    const json_t *launches = wsdbg_explore_log_launches(log);
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *findings = json_object_get(json_array_get(launches, i), "findings");
        const json_t *number = json_object_get(json_array_get(findings, 0), "seed");
        if (!json_is_integer(number))
            continue;
        *launch = json_integer_value(json_object_get(json_array_get(launches, i), "launch"));
        *seed = json_integer_value(number);
        return true;
    }
    return false;
}

static void say_how_to_repeat(const struct wsdbg_invocation *invocation, const struct wanted *wanted,
                              const struct wsdbg_explore_log *log)
{
    json_int_t launch, seed;
    char options[64] = "";
    if (wanted->replays || !find_first(log, &launch, &seed))
        return;
    const int end =
        strcmp(wanted->kind, "mix") != 0 ? snprintf(options, sizeof options, " --schedule %s", wanted->kind) : 0;
    if (wanted->depth != DEPTH_DEFAULT)
        snprintf(options + end, sizeof options - (size_t)end, " --depth %" PRIu64, wanted->depth);
    char *command = wsdbg_quote_command(invocation->operands);
    wsdbg_say("to repeat it: wsdbg explore --replay %" JSON_INTEGER_FORMAT "%s --launch %" JSON_INTEGER_FORMAT " -- %s",
              seed, options, launch, command ? command : "PROGRAM");
    free(command);
}

/* A run that tried no schedule has found nothing, which must not look like success.  If the program failed, its own
 * status stays. */
static void note_nothing_explored(const struct wanted *wanted, const struct wsdbg_explore_log *log, int *status)
{
    if (wsdbg_explore_log_any(log))
        wsdbg_say("no launch was explored, for the reasons above");
    else if (wanted->every_launch)
        wsdbg_say("no launch was explored: the program made none that the simulator can run (it needs PTX)");
    else
        wsdbg_say("no launch was explored: the program made none with number %" PRIu64, wanted->launch);
    if (*status == 0)
        *status = WSDBG_EXIT_FAILED;
}

static struct wsdbg_error *run(const struct wsdbg_invocation *invocation, const struct wanted *wanted,
                               struct exploration *exploration, const char *words, int *status)
{
    struct wsdbg_run_result result = {0};
    const struct wsdbg_run_options options = {
        .program = invocation->operands,
        .output = wsdbg_option_value(invocation, "output"),
        .observer = "driver",
        .explore = words,
        .races = exploration->races.path,
        .follower = &exploration->follower,
        .result = &result,
        .device = WSDBG_RUN_ON_SIMULATOR,
        .on_stall = WSDBG_ON_STALL_KILL,
        .stall_ns = STALL_NS,
        .work_stall_ns = STALL_NS,
        .tui = wsdbg_option_value(invocation, "tui") != NULL,
        .quiet = true,
    };
    struct wsdbg_error *error = wsdbg_run_program(&options, status);
    wsdbg_explore_log_finish(exploration->log);
    if (!error && (wsdbg_explore_log_hangs(exploration->log) || exploration->stood_still))
        *status = WSDBG_EXIT_HANG;
    if (!error && !wsdbg_explore_log_explored(exploration->log))
        note_nothing_explored(wanted, exploration->log, status);
    if (!error)
        say_how_to_repeat(invocation, wanted, exploration->log);
    const bool hangs = *status == WSDBG_EXIT_HANG;
    json_t *const races = !error && exploration->races.path ? wsdbg_races_read(&exploration->races) : NULL;
    if (races)
        wsdbg_races_say(races, false);
    if (json_array_size(races))
        *status = WSDBG_EXIT_HANG;
    if (!error && wsdbg_option_value(invocation, "json"))
        error =
            print_json(exploration, wanted, &result, hangs, races, *status < 0 ? WSDBG_EXIT_SIGNAL - *status : *status);
    json_decref(races);
    free(result.database);
    return error;
}

static struct wsdbg_error *explore_command(const struct wsdbg_invocation *invocation, int *status)
{
    struct exploration exploration = {.follower = {.look = follow}, .races = {.folder = {.lock = -1}}};
    struct wanted wanted;
    struct wsdbg_spool folder = {.lock = -1};
    char *path = NULL, *words = NULL;
    struct wsdbg_error *error = read_wanted(invocation, &wanted);
    if (!error)
        error = wsdbg_races_begin(wsdbg_option_value(invocation, "races") != NULL, &exploration.races);
    if (!error)
        error = wsdbg_spool_create(&folder);
    if (!error && asprintf(&path, "%s/explore", folder.path) < 0)
        path = NULL;
    if (!error)
        error = path ? wsdbg_explore_log_create(path, &exploration.log) : &wsdbg_error_no_memory;
    if (!error)
        words = variable(&wanted, path);
    if (!error)
        error = words ? run(invocation, &wanted, &exploration, words, status) : &wsdbg_error_no_memory;
    wsdbg_explore_log_destroy(exploration.log);
    wsdbg_spool_destroy(&folder);
    wsdbg_races_end(&exploration.races);
    free(path);
    free(words);
    return error;
}

static const struct wsdbg_choice kinds[] = {{"mix", NULL}, {"random", NULL}, {"priority", NULL}, {NULL, NULL}};

static const struct wsdbg_option options[] = {
    {0, "schedules", "N", "try at most N schedules of a launch (default 1000)", NULL, NULL},
    {0, "seconds", "S", "try them for S seconds at most; without --schedules as many as that allows", NULL, NULL},
    {0, "jobs", "J", "try J at a time (default: one a processor)", NULL, NULL},
    {0, "seed", "FIRST", "the first schedule's number (default 1)", NULL, NULL},
    {0, "schedule", "mix|random|priority", "how schedules are drawn (default mix)", kinds, NULL},
    {0, "depth", "D", "how often priorities change; with a mix the most (default 3)", NULL, NULL},
    {0, "all", NULL, "do not stop at the first hang or fault", NULL, NULL},
    {0, "compare-results", NULL, "say whether schedules leave other values in memory than the usual one", NULL, NULL},
    {0, "races", NULL, "find races and missing fences too", NULL, NULL},
    {0, "replay", "SEED", "run under this schedule alone", NULL, NULL},
    {0, "launch", "N", "explore the program's launch N, from 0 (default: the first of each kernel)", NULL, NULL},
    WSDBG_OUTPUT_OPTION,
    WSDBG_TUI_OPTION,
    {0, "json", NULL, "what was found as JSON on stdout at the end", NULL, NULL},
};

const struct wsdbg_command wsdbg_command_explore = {
    .name = "explore",
    .summary = "Run a kernel under many schedules until one hangs",
    .description =
        "Runs PROGRAM on the simulated sm_90 and tries each launch under many schedules. A schedule decides\n"
        "in which order warps run and for how long; one with an odd number also decides whether copies and\n"
        "matrix operations finish early or late. A schedule's number is enough to repeat it exactly. The\n"
        "kernels need no probes.\n"
        "\n"
        "What is explored. By default the first launch of each kernel, else the launch that --launch names.\n"
        "wsdbg holds the launch until everything before it is done. Copies of PROGRAM, each with memory of\n"
        "its own, then run it to its end under one schedule each. The first one is the default schedule. The\n"
        "others are drawn: half of them at random, half by priorities that change at 1 to 3 points (--depth),\n"
        "so that a warp can stand for long. A kernel whose schedules all come to the same end is run once: in\n"
        "it no warp waits for another one, and no branch or address depends on what another warp writes. A\n"
        "schedule hangs when no warp can ever go on; this is proven and needs no time-out. If some warp polls\n"
        "memory that the host or another launch could still write, it is only a possible hang. A launch that\n"
        "waits in this way under the default schedule is not explored; it runs beside other launches, which\n"
        "may write what it waits for. wsdbg gives up a schedule that takes more than 20 times the\n"
        "instructions of the default one, and counts it.\n"
        "\n"
        "The first hang, possible hang or fault ends the search. wsdbg reduces its schedule to the context\n"
        "switches that it needs: everywhere else a warp runs until it waits. A sentence tells them by source\n"
        "lines (with -lineinfo), also in the session's log. Then the launch itself runs under that schedule.\n"
        "The hang is watched, reported and stored as by wsdbg run, and the exit status is 124. --replay SEED\n"
        "runs under one schedule at once; give it the same --schedule, --depth and --launch. Launches that do\n"
        "not hang run under the default schedule. If no launch was explored, the exit status is 125, unless\n"
        "PROGRAM ended with a status of its own other than 0.\n"
        "\n"
        "Races. wsdbg counts the schedules in which an mbarrier was used before its initialisation, a phase\n"
        "completed although nobody had waited for the one before, or an accumulator was used before its wgmma\n"
        "group completed. --compare-results also counts the schedules after which memory holds other values\n"
        "than after the default one, and shows the first difference. Such a difference need not be a defect:\n"
        "floating-point sums in another order, clocks and tickets differ too. Memory that other processes may\n"
        "share is left out, also that of cuMemHostRegister; at most 1 GiB is compared.\n"
        "--races checks every access and says which ones nothing orders, and which fences are missing, also\n"
        "in schedules that end well. The status is then 124.\n"
        "\n"
        "On a terminal one line shows the progress. A signal that ends PROGRAM ends the search with what was\n"
        "found until then. docs/explore.schema.json describes the output of --json.",
    .needs = "the simulator, and a program with PTX; small problem sizes allow many schedules",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    WSDBG_RUNS_PROGRAM,
    .lives_on = true,
    .run = explore_command,
};
