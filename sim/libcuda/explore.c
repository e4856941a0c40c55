/* explore.c - launches are held one by one, tried under many schedules, and then run: under the usual schedule, or
 * under one that hangs, so that wsdbg sees the hang as any other.
 *
 * The trying is done by a forked process, the explorer, which owns the moment before the launch; the program's process
 * waits for its choice.  The explorer's children are its own, so the program's handlers see one SIGCHLD at most.
 */
#include "libcuda/explore.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcuda/memory.h"
#include "wsdbg/session.h"

/* A kernel that was explored: not again, unless that launch was asked for. */
struct explored {
    struct explored *next;
    const struct wsdbg_ptx_function *function;
};

struct exploration {
    struct explore_options options;
    int log;
    uint64_t launches; /* begun so far */
    bool is_busy;      /* one is being tried */
    bool stands;       /* what runs could not go on when it was last looked at */
    bool follows;      /* what comes of the launch that runs is to be told */
    struct explored *explored;
};

struct wsdbg_error *explore_begin(void)
{
    const char *text = getenv(WSDBG_ENV_EXPLORE);
    if (!text || !*text)
        return NULL;
    struct exploration *exploration = calloc(1, sizeof *exploration);
    if (!exploration)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = explore_read(text, &exploration->options);
    if (!error) {
        exploration->log = open(exploration->options.log, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (exploration->log < 0)
            error = wsdbg_error_os(errno, "%s", exploration->options.log);
    }
    if (error)
        free(exploration);
    else
        driver.exploration = exploration;
    return error;
}

bool explore_holds(const struct context *context)
{
    const struct exploration *exploration = driver.exploration;
    return exploration && (exploration->is_busy || (context->running && !exploration->stands));
}

static bool is_explored(const struct exploration *exploration, const struct wsdbg_ptx_function *function)
{
    for (const struct explored *row = exploration->explored; row; row = row->next)
        if (row->function == function)
            return true;
    return false;
}

/* Whether this launch is to be explored; it then counts as one of its kernel. */
static bool take_launch(struct exploration *exploration, const struct wsdbg_ptx_function *function)
{
    if (exploration->options.launch != EXPLORE_EVERY_LAUNCH)
        return exploration->launches == exploration->options.launch;
    struct explored *row = is_explored(exploration, function) ? NULL : malloc(sizeof *row);
    if (row) {
        *row = (struct explored){exploration->explored, function};
        exploration->explored = row;
    }
    return row != NULL;
}

/* The program's handlers are none of the explorer's own.  What would end the program asks the explorer to come to an
 * end, and so does the program's death.  A signalfd, or -1. */
static int take_signals(pid_t program)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaddset(&set, ends[i]);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_SETMASK, &set, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != program)
        raise(SIGTERM);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Never returns. */
static void explorer_main(struct explore_launch *launch, pid_t program, int pipe)
{
    struct explore_choice choice = {0};
    launch->end_asked = take_signals(program);
    wsdbg_gpu_stop_probes(launch->launch->module); /* nobody would read what they write */
    if (launch->end_asked >= 0 && host_memory_make_own() && mappings_make_own())
        choice = explore_schedules(launch);
    _exit(write(pipe, &choice, sizeof choice) != sizeof choice);
}

/* A choice comes in one piece; none when the explorer died. */
static struct explore_choice take_choice(pid_t explorer, int pipe)
{
    struct explore_choice choice;
    ssize_t taken;
    do
        taken = read(pipe, &choice, sizeof choice);
    while (taken < 0 && errno == EINTR);
    close(pipe);
    while (waitpid(explorer, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (taken != sizeof choice) {
        driver_say("the process that tried schedules died");
        choice = (struct explore_choice){0};
    }
    return choice;
}

static struct explore_choice explore(struct explore_launch *launch)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return (struct explore_choice){0};
    const pid_t program = getpid(), explorer = fork();
    if (explorer == 0) {
        close(ends[0]);
        explorer_main(launch, program, ends[1]);
    }
    close(ends[1]);
    if (explorer < 0) {
        close(ends[0]);
        driver_say("no process to try schedules in: %s", strerror(errno));
        return (struct explore_choice){0};
    }
    driver_unlock();
    const struct explore_choice choice = take_choice(explorer, ends[0]);
    driver_lock();
    return choice;
}

static struct explore_choice explore_operation(struct exploration *exploration, struct operation *operation)
{
    struct explore_launch launch = {.options = &exploration->options,
                                    .gpu = operation->stream->context->gpu,
                                    .launch = &operation->launch.launch,
                                    .number = exploration->launches,
                                    .log = exploration->log};
    exploration->is_busy = true;
    const struct explore_choice choice = explore(&launch);
    exploration->is_busy = false;
    return choice;
}

void explore_before(struct operation *operation)
{
    struct exploration *exploration = driver.exploration;
    struct context *context = operation->stream->context;
    const struct wsdbg_ptx_function *function = operation->launch.launch.function;
    struct explore_choice choice = {0};
    if (!exploration)
        return;
    const bool is_taken = take_launch(exploration, function);
    if (is_taken && context->running)
        explore_say(exploration->log, "skipped %llu %s\n", (unsigned long long)exploration->launches, function->name);
    else if (is_taken)
        choice = explore_operation(exploration, operation);
    exploration->launches++;
    if (context->running) /* the schedule is that of what stands there */
        return;
    exploration->follows = choice.has_schedule;
    struct wsdbg_error *error =
        wsdbg_gpu_set_schedule(context->gpu, choice.has_schedule ? &choice.schedule : &driver.gpu_options.schedule);
    if (error)
        driver_say_error("the schedule", error);
}

void explore_stands(struct context *context, enum wsdbg_gpu_outcome outcome)
{
    static const char *const words[] = {[WSDBG_GPU_IDLE] = "idle",
                                        [WSDBG_GPU_DEADLOCK] = "deadlock",
                                        [WSDBG_GPU_STALLED] = "stalled",
                                        [WSDBG_GPU_FAULT] = "fault"};
    struct exploration *exploration = driver.exploration;
    if (!exploration || exploration->is_busy)
        return;
    const bool stood = exploration->stands;
    exploration->stands = outcome == WSDBG_GPU_DEADLOCK || outcome == WSDBG_GPU_STALLED;
    if (stood == exploration->stands && (stood || outcome == WSDBG_GPU_BUDGET))
        return;
    if (exploration->stands)
        queue_kick(context); /* launches may begin beside it */
    if (!exploration->follows)
        return;
    size_t count;
    wsdbg_gpu_decisions(context->gpu, &count);
    if (outcome == WSDBG_GPU_BUDGET)
        explore_say(exploration->log, "goes\n");
    else
        explore_say(exploration->log, "stands %s %zu\n", words[outcome], count);
    exploration->follows = exploration->stands || outcome == WSDBG_GPU_BUDGET;
}
