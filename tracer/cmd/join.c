/* join.c - see join.h.
 *
 * Reads: the tables of armed processes, and through the evidence their GPU.  Writes: the report on stderr, the session
 * database, JSON on request; signals only with --on-stall kill.
 *
 * wsdbg does not know how long work had stood still before it attached.  So only the time from then on counts.  The
 * watch is that of `wsdbg run`.  It ends after a verdict, or when nothing is left that could stand still.
 */
#include "cmd/join.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/console.h"
#include "cmd/sessions.h"
#include "host/host_stacks.h"
#include "model/nccl_wait.h"
#include "model/host_stack.h"
#include "model/process.h"
#include "model/symbol.h"
#include "watch/session.h"

/* Without a cause, three looks about one stall time apart make a hang.  A look takes some tenths of a second. */
enum { STALLS_MOST = 3, STACK_LINES_MOST = 12 };
#define MARGIN_NS UINT64_C(500000000)
#define LOOKS_NS UINT64_C(3000000000)
#define LOOK_MOST_NS UINT64_C(5500000000)
#define STACKS_NS UINT64_C(200000000)
#define UNREAD_NS UINT64_C(500000000) /* tables that could not be read for so long are given up */
#define KILL_AFTER_NS UINT64_C(1000000000)

struct join {
    const struct wsdbg_join_options *options;
    struct wsdbg_listener listener;
    struct wsdbg_clock clock;
    struct wsdbg_join narrowed;
    struct wsdbg_session *session;
    uint64_t began_ns;
    uint64_t waited_ns; /* between looks */
    bool has_begun;
    int signals; /* signalfd */
    sigset_t signals_before;
    bool simulator;
    /* Of the newest look. */
    bool unfinished, unseen, any_alive, looked;
    uint64_t unread;    /* processes whose tables could not be read */
    bool was_judged;    /* a stall was, at least once */
    int interrupted_by; /* the signal that ended the watch before its time was over; 0 = none */
    int *endings;       /* pidfds of the processes, for --on-stall kill; -1 = it has ended */
    char *command;
};

static struct join *of_clock(struct wsdbg_clock *clock)
{
    return (struct join *)((char *)clock - offsetof(struct join, clock));
}

static struct join *of_listener(struct wsdbg_listener *listener)
{
    return (struct join *)((char *)listener - offsetof(struct join, listener));
}

/* ---- what the watch says and sees ---- */

/* Work that was given before `before_ns` and is not done, or a thread that has waited since then, also in NCCL. */
static bool has_old_work(const struct wsdbg_snapshot *snapshot, uint64_t before_ns)
{
    const uint64_t nccl_ns = wsdbg_nccl_waits_since_ns(snapshot);
    bool any = nccl_ns && nccl_ns < before_ns;
    for (size_t i = 0; i < snapshot->thread_count; i++)
        any |= snapshot->threads[i].since_ns < before_ns;
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        any |= context->alive && ((context->unfinished_ns.known && context->unfinished_ns.value < before_ns) ||
                                  (context->hidden_ns.known && context->hidden_ns.value < before_ns));
    }
    return any;
}

static bool was_launched_in(const struct wsdbg_snapshot *snapshot, size_t context)
{
    for (size_t i = 0; i < snapshot->launch_count; i++)
        if (snapshot->launches[i].context == context)
            return true;
    return false;
}

/* Work of which it is not known whether it is done, for example right after a look at the GPU. */
static bool has_unseen_work(const struct wsdbg_snapshot *snapshot)
{
    bool any = false;
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        any |= context->alive && context->error == 0 && !context->work_followed && context->given_ns.known &&
               context->given_ns.value > context->done_given_ns.value && was_launched_in(snapshot, i);
    }
    return any;
}

static void looked(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot, bool last)
{
    struct join *join = of_listener(listener);
    (void)last;
    join->looked = true;
    join->unfinished = has_old_work(snapshot, snapshot->time_ns - join->options->stall_ns / 2);
    join->unseen = has_unseen_work(snapshot);
    join->unread = snapshot->unread_segments;
    join->any_alive = join->unread > 0;
    for (size_t i = 0; i < snapshot->process_count; i++)
        join->any_alive |= snapshot->processes[i].end.kind == WSDBG_END_NONE;
}

static void judged(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot,
                   const struct wsdbg_diagnosis *diagnosis)
{
    (void)snapshot, (void)diagnosis;
    of_listener(listener)->was_judged = true;
}

static void said(struct wsdbg_listener *listener, const char *line)
{
    (void)listener;
    wsdbg_say("%s", line);
}

static void reported(struct wsdbg_listener *listener, const char *text, const char *verdict)
{
    (void)listener, (void)verdict;
    fputs(text, stderr);
    fflush(stderr);
}

/* ---- the clock ---- */

static uint64_t now_of(struct wsdbg_clock *clock)
{
    (void)clock;
    return wsdbg_monotonic_ns();
}

/* Nothing can stand still any more, or the time for that is over. */
static bool is_over(const struct join *join, uint64_t now_ns)
{
    const uint64_t lasts_ns = now_ns - join->began_ns, stall_ns = join->options->stall_ns;
    const uint64_t most_ns = STALLS_MOST * stall_ns + LOOKS_NS;
    if (join->looked && !join->any_alive)
        return true;
    if (join->unread == join->options->process_count && lasts_ns > UNREAD_NS)
        return true;
    if (join->options->lives_on)
        return false;
    if (join->waited_ns > most_ns || lasts_ns > most_ns + STALLS_MOST * LOOK_MOST_NS * join->options->process_count)
        return true;
    return lasts_ns > stall_ns + MARGIN_NS && !join->unfinished && !join->unseen;
}

static enum wsdbg_wait wait_of(struct wsdbg_clock *clock, uint64_t deadline_ns)
{
    struct join *join = of_clock(clock);
    struct pollfd poller = {.fd = join->signals, .events = POLLIN};
    const uint64_t now_ns = wsdbg_monotonic_ns();
    const uint64_t left_ns =
        join->has_begun && deadline_ns > now_ns ? deadline_ns - now_ns : 0; /* the first look: now */
    const struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000u), .tv_nsec = (long)(left_ns % 1000000000u)};
    struct signalfd_siginfo info;
    join->has_begun = true;
    const bool has_signal =
        ppoll(&poller, 1, &left, NULL) > 0 && read(join->signals, &info, sizeof info) == sizeof info;
    join->waited_ns += wsdbg_monotonic_ns() - now_ns;
    if (has_signal && (int)info.ssi_signo == WSDBG_LOOK_SIGNAL)
        return WSDBG_WAIT_REFRESH;
    if (has_signal)
        join->interrupted_by = (int)info.ssi_signo;
    return has_signal || is_over(join, wsdbg_monotonic_ns()) ? WSDBG_WAIT_OVER : WSDBG_WAIT_TICK;
}

static struct wsdbg_error *take_signals(struct join *join)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, WSDBG_LOOK_SIGNAL);
    sigprocmask(SIG_BLOCK, &signals, &join->signals_before);
    join->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return join->signals < 0 ? wsdbg_error_os(errno, "signalfd") : NULL;
}

/* ---- the session ---- */

/* The simulator's libcuda lies beside a library that only the simulator has. */
static bool runs_on_simulator(uint32_t process)
{
    char path[64], line[PATH_MAX + 256];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%u/maps", process);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "/wsdbg/sim/libcuda.so.1") != NULL || strstr(line, "/libwsdbg-static-runtime.so") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* The command line of the first process, quoted. */
static char *command_of(uint32_t process, size_t others)
{
    char path[64], text[4096], *words[256] = {NULL}, *quoted, *whole = NULL;
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%u/cmdline", process);
    FILE *file = fopen(path, "re");
    const size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[bytes] = '\0';
    for (size_t at = 0; at < bytes && count < 255; at += strlen(text + at) + 1)
        words[count++] = text + at;
    quoted = wsdbg_quote_command(words);
    if (!quoted || !others)
        return quoted;
    if (asprintf(&whole, "%s (process %u, and %zu more)", quoted, process, others) < 0)
        whole = NULL;
    free(quoted);
    return whole;
}

static struct wsdbg_error *open_evidence(struct join *join, struct wsdbg_evidence **out)
{
    const struct wsdbg_armed_place *place = join->options->place;
    struct wsdbg_error *error =
        join->simulator ? wsdbg_evidence_open_simulator(place->session, place->folder, WSDBG_ATTACH_WHERE_NEEDED, out)
                        : wsdbg_evidence_open_live(place->session, place->folder, WSDBG_ATTACH_WHERE_NEEDED, out);
    if (error)
        return error;
    join->narrowed = (struct wsdbg_join){.root = place->root,
                                         .process_ids = join->options->process_ids,
                                         .process_count = join->options->process_count,
                                         .never_stays = true};
    (*out)->ops->join(*out, &join->narrowed);
    return NULL;
}

static struct wsdbg_error *open_session(struct join *join)
{
    const struct wsdbg_join_options *options = join->options;
    struct wsdbg_evidence *evidence;
    join->simulator = runs_on_simulator(options->process_ids[0]);
    join->command = command_of(options->process_ids[0], options->process_count - 1);
    if (!join->command)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = open_evidence(join, &evidence);
    if (error)
        return error;
    join->clock = (struct wsdbg_clock){.now_ns = now_of, .wait = wait_of, .is_live = true};
    join->listener = (struct wsdbg_listener){.looked = looked, .judged = judged, .said = said, .reported = reported};
    const struct wsdbg_session_options session = {
        .output = options->output,
        .command = join->command,
        .device = join->simulator ? "sim" : "gpu",
        .observer = "driver",
        .evidence = "ring",
        .spool = options->place->folder,
        .after_hang = options->lives_on                          ? "the program is left running, wsdbg watches on"
                      : options->on_stall == WSDBG_ON_STALL_KILL ? "the program is ended now"
                                                                 : "the program is left running, wsdbg leaves",
        .omits_delay = !options->lives_on,
        .listener = &join->listener,
        .stall_ns = options->stall_ns,
        .work_stall_ns = options->stall_ns,
        .program_id = options->process_ids[0],
        .look_ns = LOOK_MOST_NS * options->process_count, /* it looks at one process after the other */
        .look_spares_later_work = !options->look_anyway && !join->simulator,
        .looks_all_the_same = "--look-anyway looks all the same",
        .stop_at_hang = !options->lives_on,
        .counts_from_now = true,
        .json = options->json,
    };
    return wsdbg_session_create(&session, evidence, &join->clock, &join->session);
}

/* ---- what is known without a look ---- */

static void say_stacks(const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->host_process_count; i++)
        if (snapshot->host_processes[i].obstacle[0])
            wsdbg_say("process %u: %s", snapshot->host_processes[i].process_id, snapshot->host_processes[i].obstacle);
    for (size_t i = 0; i < snapshot->host_stack_count && i < STACK_LINES_MOST; i++) {
        const struct wsdbg_host_stack *stack = &snapshot->host_stacks[i];
        const uint32_t process_id = snapshot->host_processes[stack->process].process_id;
        char process[32], who[WSDBG_HOST_THREAD_TEXT_BYTES], motion[WSDBG_HOST_MOTION_TEXT_BYTES],
            frames[WSDBG_HOST_STACK_TEXT_BYTES];
        snprintf(process, sizeof process, "process %u", process_id);
        wsdbg_host_thread_text(process, stack->thread_id == process_id, stack, who, sizeof who);
        wsdbg_host_motion_text(stack, motion, sizeof motion);
        wsdbg_host_stack_text(stack, snapshot->host_frames, "", frames, sizeof frames);
        wsdbg_say("  %s%s: %s", who, motion, frames);
    }
}

struct wsdbg_error *wsdbg_join_say_stacks(const uint32_t *process_ids, size_t count)
{
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        const struct wsdbg_host_request request = {.process_id = process_ids[i]};
        error = wsdbg_host_stacks_read(&request, 1, STACKS_NS, &snapshot);
    }
    if (!error)
        say_stacks(&snapshot);
    wsdbg_snapshot_deinit(&snapshot);
    return error;
}

/* The newest launch of each process, and what its threads wait in. */
static void say_tables(const struct wsdbg_snapshot *snapshot, uint64_t now_ns)
{
    for (size_t i = 0; i < snapshot->launch_count; i++) {
        const struct wsdbg_launch *launch = &snapshot->launches[i];
        char kernel[128] = "?";
        if (i + 1 < snapshot->launch_count && snapshot->launches[i + 1].process_id == launch->process_id)
            continue;
        if (launch->function < snapshot->function_count)
            wsdbg_symbol_name(snapshot->functions[launch->function].name, kernel, sizeof kernel);
        wsdbg_say("  process %u: its newest launch is %s, %.1f s ago", launch->process_id, kernel,
                  now_ns > launch->time_ns ? (double)(now_ns - launch->time_ns) / 1e9 : 0.0);
    }
    for (size_t i = 0; i < snapshot->thread_count; i++)
        wsdbg_say("  process %u: thread %u has been in %s for %.1f s", snapshot->threads[i].process_id,
                  snapshot->threads[i].thread_id, snapshot->threads[i].call,
                  now_ns > snapshot->threads[i].since_ns ? (double)(now_ns - snapshot->threads[i].since_ns) / 1e9
                                                         : 0.0);
}

static struct wsdbg_error *say_what_is_known(struct join *join)
{
    const struct wsdbg_watch *watch = wsdbg_session_state(join->session);
    struct wsdbg_snapshot snapshot = {0};
    const uint64_t now_ns = wsdbg_monotonic_ns();
    struct wsdbg_error *error = watch->evidence->ops->poll(watch->evidence, now_ns, &snapshot);
    if (error)
        return error;
    wsdbg_say("what is known without a look:");
    say_tables(&snapshot, now_ns);
    wsdbg_snapshot_deinit(&snapshot);
    return wsdbg_join_say_stacks(join->options->process_ids, join->options->process_count);
}

/* ---- the end ---- */

/* Before the watch: later a number may belong to another process. */
static struct wsdbg_error *open_endings(struct join *join)
{
    const struct wsdbg_join_options *options = join->options;
    if (options->on_stall != WSDBG_ON_STALL_KILL)
        return NULL;
    join->endings = calloc(options->process_count, sizeof *join->endings);
    if (!join->endings)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < options->process_count; i++)
        join->endings[i] = (int)syscall(SYS_pidfd_open, (pid_t)options->process_ids[i], 0);
    return NULL;
}

static void close_endings(struct join *join)
{
    for (size_t i = 0; join->endings && i < join->options->process_count; i++)
        if (join->endings[i] >= 0)
            close(join->endings[i]);
    free(join->endings);
}

/* SIGTERM to all of them, and SIGKILL to those that are there a second later. */
static void end_processes(const struct join *join)
{
    const uint64_t until_ns = wsdbg_monotonic_ns() + KILL_AFTER_NS;
    const size_t count = join->options->process_count;
    for (size_t i = 0; i < count; i++)
        if (join->endings[i] >= 0)
            syscall(SYS_pidfd_send_signal, join->endings[i], SIGTERM, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        struct pollfd poller = {.fd = join->endings[i], .events = POLLIN};
        const uint64_t now_ns = wsdbg_monotonic_ns();
        if (poller.fd >= 0 && poll(&poller, 1, until_ns > now_ns ? (int)((until_ns - now_ns) / 1000000) : 0) == 0)
            syscall(SYS_pidfd_send_signal, poller.fd, SIGKILL, NULL, 0);
    }
}

static const char *outcome_of(const struct join *join, const struct wsdbg_watch *watch)
{
    if (watch->hang)
        return join->options->on_stall == WSDBG_ON_STALL_KILL ? "killed after a hang" : "left hanging";
    return join->any_alive ? "left running" : "ended";
}

/* A signal ended the watch before there was a verdict. */
static bool is_interrupted(const struct join *join)
{
    return join->interrupted_by && join->any_alive && !join->options->lives_on;
}

static void say_no_hang(const struct join *join, const struct wsdbg_watch *watch)
{
    const char *words = join->unfinished ? "no hang is known: some work takes long"
                        : join->unseen   ? "no hang is known: whether the GPU's work gets done is not seen"
                                         : "no hang: what the GPU is given gets done";
    if (watch->fault[0])
        words = watch->fault;
    else if (join->unread)
        words = "whether something hangs is not known: not all processes could be read";
    else if (watch->not_looked == WSDBG_SPARED_LATER_WORK)
        words = "a hang is possible, the GPU was not looked at";
    else if (watch->not_looked == WSDBG_COULD_NOT_LOOK)
        words = "a hang is possible, the GPU could not be looked at";
    else if (join->was_judged && (join->unfinished || join->unseen))
        words = "what stands still is not known to be a hang";
    else if (is_interrupted(join))
        words = "interrupted: whether something hangs is not known";
    if (join->unread)
        wsdbg_say("%s", watch->unread_reason);
    wsdbg_say("%s; watched %zu process%s for %.1f s, %s", words, join->options->process_count,
              join->options->process_count == 1 ? "" : "es", (double)(wsdbg_monotonic_ns() - join->began_ns) / 1e9,
              join->any_alive ? "which go on" : "which have ended");
}

static struct wsdbg_error *watch_processes(struct join *join, int *status)
{
    const struct wsdbg_join_options *options = join->options;
    const struct wsdbg_watch *watch = wsdbg_session_watch(join->session);
    struct wsdbg_error *error = NULL;
    *status = watch->hang ? WSDBG_EXIT_HANG : 0;
    if (!watch->hang && join->unread >= options->process_count)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s", watch->unread_reason);
    if (!watch->hang)
        say_no_hang(join, watch);
    if (!watch->hang && watch->not_looked != WSDBG_LOOKED)
        error = say_what_is_known(join);
    if (!watch->hang && is_interrupted(join))
        *status = -join->interrupted_by;
    if (watch->hang && options->on_stall == WSDBG_ON_STALL_KILL)
        end_processes(join);
    if (watch->hang && watch->verdict_ns)
        wsdbg_say("verdict %.1f s after wsdbg came; %s", (double)(watch->verdict_ns - join->began_ns) / 1e9,
                  watch->after_hang);
    if (!error)
        error = wsdbg_session_end(join->session, *status < 0 ? WSDBG_EXIT_SIGNAL - *status : *status,
                                  outcome_of(join, watch));
    if (!error && options->output)
        wsdbg_say("session in %s; show it: wsdbg view %s", options->output, options->output);
    return error ? error : wsdbg_session_print(join->session);
}

static struct wsdbg_error *say_ready(int fd)
{
    const bool is_said = write(fd, "", 1) == 1;
    close(fd);
    return is_said ? NULL : wsdbg_error_os(errno, "tell the viewer that the watch has begun");
}

struct wsdbg_error *wsdbg_join_watch(const struct wsdbg_join_options *options, int *status)
{
    struct join join = {.options = options, .signals = -1, .began_ns = wsdbg_monotonic_ns()};
    if (options->output && access(options->output, F_OK) == 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s exists already, not overwritten; -o FILE names another",
                                  options->output);
    struct wsdbg_error *error = take_signals(&join);
    if (!error)
        error = open_endings(&join);
    if (!error)
        error = open_session(&join);
    if (!error && options->lives_on)
        error = say_ready(options->ready_fd);
    if (!error)
        error = watch_processes(&join, status);
    wsdbg_session_destroy(join.session, false);
    if (join.signals >= 0)
        close(join.signals);
    sigprocmask(SIG_SETMASK, &join.signals_before, NULL);
    close_endings(&join);
    free(join.command);
    return error;
}
