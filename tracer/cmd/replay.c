/* replay.c - `wsdbg replay`: a recorded session through the same watchdog, diagnosis and report as a live one.
 *
 * Reads: a file of `wsdbg run --record`.  Writes: the report on stderr, a session database on request.
 * The clock is the recording's own: it jumps from look to look, and over long silences, so a replay takes no longer
 * than its work.
 */
#include "cmd/replay.h"

#include <stdlib.h>

#include "base/console.h"
#include "cmd/limits.h"
#include "cmd/options.h"
#include "watch/closing.h"
#include "watch/session.h"

/* The watch rounds moments up to its next look; two looks past the last frame make up for that. */
enum { PAST_THE_END_NS = 40000000 };
#define LOOK_NS UINT64_C(3000000000) /* looks that were recorded take no time; without any the GPU is not looked at */
#define SILENCE_NS UINT64_C(600000000000)

struct replay_clock {
    struct wsdbg_clock clock; /* first: a wsdbg_clock is one of these */
    uint64_t now_ns, end_ns;
    const struct wsdbg_evidence *evidence;
    uint64_t silence_ns;        /* within it all that waits for a time without progress is due */
    uint64_t heard_ns, next_ns; /* what the recording holds last before now, and next */
};

static uint64_t replay_now_ns(struct wsdbg_clock *clock)
{
    return ((struct replay_clock *)clock)->now_ns;
}

/* Nothing new comes of more looks at the same: the next frame may be a year away. */
static uint64_t skip_silence(struct replay_clock *replay, uint64_t time_ns)
{
    if (replay->now_ns >= replay->next_ns) {
        replay->heard_ns = replay->next_ns;
        replay->next_ns = wsdbg_recorded_next_ns(replay->evidence, replay->now_ns);
    }
    const bool is_silent = time_ns < replay->next_ns && time_ns - replay->heard_ns > replay->silence_ns;
    return is_silent ? replay->next_ns : time_ns;
}

static enum wsdbg_wait replay_wait(struct wsdbg_clock *clock, uint64_t deadline_ns)
{
    struct replay_clock *replay = (struct replay_clock *)clock;
    bool over = replay->now_ns >= replay->end_ns;
    const uint64_t next_ns = skip_silence(replay, deadline_ns);
    replay->now_ns = next_ns < replay->end_ns ? next_ns : replay->end_ns;
    return over ? WSDBG_WAIT_OVER : WSDBG_WAIT_TICK;
}

struct wsdbg_error *wsdbg_replay_file(const struct wsdbg_replay_options *options, int *status)
{
    uint64_t first_ns, last_ns;
    struct wsdbg_evidence *evidence;
    struct wsdbg_session *session;
    struct wsdbg_error *error = wsdbg_evidence_open_recorded(options->path, &first_ns, &last_ns, &evidence);
    if (error)
        return error;
    struct replay_clock replay = {.clock = {.now_ns = replay_now_ns, .wait = replay_wait, .is_live = false},
                                  .now_ns = first_ns,
                                  .end_ns = last_ns + PAST_THE_END_NS,
                                  .evidence = evidence,
                                  .silence_ns = SILENCE_NS + 4 * (options->stall_ns + options->work_stall_ns),
                                  .heard_ns = first_ns,
                                  .next_ns = first_ns};
    char *words[] = {(char[]){"wsdbg"}, (char[]){"replay"}, (char *)options->path, NULL};
    struct wsdbg_session_options wanted = {
        .output = options->output,
        .command = wsdbg_quote_command(words),
        .device = "replay",
        .observer = "none",
        .after_hang = "nothing was run",
        .stall_ns = options->stall_ns,
        .work_stall_ns = options->work_stall_ns,
        .look_ns = wsdbg_recorded_has_looks(evidence) ? LOOK_NS : 0,
        .stop_at_hang = true,
        .json = options->json,
    };
    error = wsdbg_session_create(&wanted, evidence, &replay.clock, &session);
    if (error) {
        free((char *)wanted.command);
        return error;
    }
    const struct wsdbg_watch *watch = wsdbg_session_watch(session);
    const bool hang = watch->hang, blind = watch->blind, faulted = watch->fault[0] != '\0';
    error = wsdbg_session_end(session, hang ? WSDBG_EXIT_HANG : 0, hang ? "replayed a hang" : "replayed");
    if (!error)
        error = wsdbg_session_print(session);
    if (!error && blind)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s could not be replayed to its end", options->path);
    wsdbg_session_destroy(session, false);
    free((char *)wanted.command);
    if (error)
        return error;
    if (options->output)
        wsdbg_closing_say_next(NULL, options->output);
    if (!hang)
        wsdbg_say(faulted ? "the recording shows a GPU fault" : "the recording shows no hang");
    *status = hang ? WSDBG_EXIT_HANG : 0;
    return NULL;
}

static const struct wsdbg_option options_table[] = {
    {'o', "output", "FILE", "keep a session database", NULL, NULL},
    {0, "stall", "SECONDS", "no progress for this long is a stall (default 2; 10 without probes)", NULL, NULL},
    {0, "json", NULL, "the report as JSON on stdout", NULL, NULL},
    WSDBG_OPTION_TIME_LIMIT,
    WSDBG_OPTION_UNPACK_LIMIT,
};

static struct wsdbg_error *replay_run(const struct wsdbg_invocation *invocation, int *status)
{
    const char *stall = wsdbg_option_value(invocation, "stall");
    struct wsdbg_replay_options options = {
        .path = invocation->operands[0],
        .output = wsdbg_option_value(invocation, "output"),
        .json = wsdbg_option_value(invocation, "json") != NULL,
    };
    struct wsdbg_error *error = wsdbg_parse_seconds("stall", stall ? stall : "2", &options.stall_ns);
    if (!error)
        error = wsdbg_parse_seconds("stall", stall ? stall : "10", &options.work_stall_ns);
    return error ? error : wsdbg_replay_file(&options, status);
}

const struct wsdbg_command wsdbg_command_replay = {
    .name = "replay",
    .summary = "Watch a recorded session again",
    .usage = "FILE [-o FILE.db] [--stall SECONDS] [--json] [--time-limit SECONDS] [--unpack-limit MIB]",
    .description =
        "Sends a file that wsdbg run --record wrote through the watchdog, the diagnosis and the report of a\n"
        "live run, with the recording's own clock. The exit status is 124 when it shows a hang, else 0. A\n"
        "stall time longer than the recorded one finds nothing, because the recording ends soon after its\n"
        "verdict. Snapshots of the GPU that the run took appear at their times.",
    .options = options_table,
    .option_count = sizeof options_table / sizeof options_table[0],
    .operands_min = 1,
    .operands_max = 1,
    .exits = WSDBG_EXITS_VERDICT,
    .run = replay_run,
};
