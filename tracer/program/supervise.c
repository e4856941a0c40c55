/* supervise.c - see supervise.h.  Reads: a signalfd, wait statuses.  Writes: signals, terminal modes.
 *
 * The child stays in wsdbg's own process group, so that the terminal and job control treat both as one:
 *   - a key (Ctrl-C, Ctrl-\, Ctrl-Z) reaches both; the kernel says so (SI_KERNEL) and it is not sent twice;
 *   - a signal that a process sends to wsdbg alone is passed on, unless the sender is below wsdbg: then it
 *     came with kill(0, ...) and the program has it already;
 *   - when the child stops at the terminal's request wsdbg stops too, so that the shell takes over.
 * With quit_looks Ctrl-\ is a question to wsdbg.  A program that shares the terminal is sent SIGQUIT by the kernel like
 * everyone in its group, so it is started with that signal ignored, as nohup(1) does with SIGHUP.
 * A child with a terminal of its own is apart: no key reaches it but through that terminal, so every signal is passed
 * on, and a stop of wsdbg is sent on as SIGSTOP (nobody in its session could continue it after a SIGTSTP, which the
 * kernel therefore ignores).
 * The parent-death signal is SIGTERM, not SIGKILL: when wsdbg is killed the program should not stay behind on the
 * GPU unseen, but a healthy one gets its chance to clean up.  What it has started gets SIGTERM as well (orphans.h).
 * Both are left out with --on-stall detach, where the program is meant to outlive wsdbg.
 */
#include "program/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/console.h"
#include "program/orphans.h"
#include "program/processes.h"
#include "wsdbg/session.h"

enum { COMPANION_DESCRIPTORS = 8, KILL_LOOK_NS = 20000000 };
#define KILL_NS UINT64_C(5000000000) /* until SIGKILL has had its effect */
#define KILL_SOON_NS UINT64_C(500000000)

struct wsdbg_child {
    struct wsdbg_child_options options;
    pid_t id;
    int status; /* as waitpid gives it */
    bool ended, stopped;
    bool stop_asked;       /* SIGTSTP was seen since the child last went on */
    bool look_asked;       /* SIGQUIT was seen, with quit_looks */
    bool refresh_asked;    /* ... look_signal */
    bool killed;           /* by wsdbg_child_kill */
    uint64_t end_asked_ns; /* when the newest signal came that wants wsdbg to end, 0 = none */
    int signals;           /* signalfd */
    int go, failure;       /* pipes: "execute now" to the child, errno of exec from it */
    int orphans;           /* of orphans.h */
    sigset_t mask_before;
    struct sigaction pipe_before;
    struct sigaction file_size_before;
    struct termios terminal_before;
    bool has_terminal;
};

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP};

static void watched_signals(const struct wsdbg_child_options *options, sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    if (options->look_signal)
        sigaddset(set, options->look_signal);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(set, forwarded[i]);
}

static bool is_apart(const struct wsdbg_child *child)
{
    return child->options.terminal >= 0;
}

/* In the child. */
static void take_terminal(const struct wsdbg_child_options *options)
{
    setsid();
    ioctl(options->terminal, TIOCSCTTY, 0);
    for (int i = 0; i < 3; i++)
        if (options->on_terminal[i])
            dup2(options->terminal, i);
}

static _Noreturn void tell_failure(int failure)
{
    int code = errno;
    ssize_t written = write(failure, &code, sizeof code);
    _exit(written == sizeof code ? 1 : 2);
}

/* The child, between fork and exec: async-signal-safe calls only. */
static void become_program(const struct wsdbg_child *child, pid_t parent, int go, int failure, char **arguments,
                           char **environment)
{
    char byte;
    if (is_apart(child))
        take_terminal(&child->options);
    if (child->options.die_with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1);
    }
    const ssize_t let_go = read(go, &byte, 1);
    if (let_go < 0)
        tell_failure(failure);
    if (let_go != 1)
        _exit(1); /* wsdbg is gone */
    sigaction(SIGPIPE, &child->pipe_before, NULL);
    sigaction(SIGXFSZ, &child->file_size_before, NULL);
    if (child->options.ignore_hangup)
        signal(SIGHUP, SIG_IGN);
    if (child->options.quit_looks && child->has_terminal)
        signal(SIGQUIT, SIG_IGN);
    sigprocmask(SIG_SETMASK, &child->mask_before, NULL);
    execvpe(arguments[0], arguments, environment);
    tell_failure(failure);
}

static struct wsdbg_error *fork_child(struct wsdbg_child *child, char **arguments, char **environment)
{
    int go[2] = {-1, -1}, failure[2] = {-1, -1};
    pid_t parent = getpid();
    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failure, O_CLOEXEC) < 0 || (child->id = fork()) < 0) {
        int code = errno;
        for (int i = 0; i < 2; i++) {
            close(go[i]);
            close(failure[i]);
        }
        return wsdbg_error_os(code, "cannot start a process");
    }
    if (child->id == 0) {
        close(go[1]);
        become_program(child, parent, go[0], failure[1], arguments, environment);
    }
    close(go[0]);
    close(failure[1]);
    child->go = go[1];
    child->failure = failure[0];
    return NULL;
}

/* The program's processes are known by it; NULL = they are not marked. */
static const char *session_of(char **environment)
{
    static const char name[] = WSDBG_ENV_SESSION "=";
    while (*environment && strncmp(*environment, name, strlen(name)) != 0)
        environment++;
    return *environment;
}

struct wsdbg_error *wsdbg_child_create(const struct wsdbg_child_options *options, char **arguments, char **environment,
                                       struct wsdbg_child **out)
{
    struct wsdbg_child *child = calloc(1, sizeof *child);
    sigset_t watched;
    if (!child)
        return &wsdbg_error_no_memory;
    *child = (struct wsdbg_child){.options = *options, .go = -1, .failure = -1, .orphans = -1};
    watched_signals(options, &watched);
    child->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (child->signals < 0) {
        free(child);
        return wsdbg_error_os(errno, "signalfd");
    }
    sigprocmask(SIG_BLOCK, &watched, &child->mask_before);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &child->pipe_before);
    sigaction(SIGXFSZ, NULL, &child->file_size_before); /* the database will have it ignored */
    /* Started before it could become a child of ours.  The end of process 1 ends all others in its namespace anyway,
     * and every process without a parent becomes its child. */
    if (options->die_with_parent && session_of(environment) && getpid() != 1)
        child->orphans = wsdbg_orphans_watch(session_of(environment));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child->has_terminal = !is_apart(child) && tcgetattr(STDIN_FILENO, &child->terminal_before) == 0;
    struct wsdbg_error *error = fork_child(child, arguments, environment);
    if (error) {
        wsdbg_child_destroy(child);
        return error;
    }
    *out = child;
    return NULL;
}

pid_t wsdbg_child_pid(const struct wsdbg_child *child)
{
    return child->id;
}

/* The errno of what kept the child from its program; 0 = nothing did, or it was killed before. */
static int let_go(struct wsdbg_child *child)
{
    int code = 0;
    ssize_t bytes = write(child->go, "x", 1);
    if (bytes != 1)
        return errno == EPIPE ? 0 : errno;
    do
        bytes = read(child->failure, &code, sizeof code);
    while (bytes < 0 && errno == EINTR);
    return bytes == sizeof code ? code : 0;
}

int wsdbg_child_execute(struct wsdbg_child *child)
{
    const int code = let_go(child);
    close(child->go);
    close(child->failure);
    child->go = child->failure = -1;
    if (code == 0)
        return 0;
    kill(child->id, SIGKILL);
    waitpid(child->id, &child->status, 0);
    child->ended = true;
    return code;
}

/* The shell shows by which signal a job was stopped.  An ignored one stops nobody.  Sent before it is let through: it
 * is then one with the terminal's own, which may be waiting to be read. */
static void stop_by(int signal_number)
{
    struct sigaction action;
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, signal_number);
    const bool stops = sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
    kill(getpid(), stops ? signal_number : SIGSTOP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The terminal's stop reaches the shell only if wsdbg stops as well.  A plain SIGSTOP sent to the program alone
 * is not mirrored: nobody would continue wsdbg. */
static void mirror_stop(const struct wsdbg_child *child, int signal_number)
{
    if (is_apart(child))
        return;
    if (signal_number == SIGTSTP || signal_number == SIGTTIN || signal_number == SIGTTOU || child->stop_asked)
        stop_by(signal_number);
}

/* Collects every wait status there is.  True when the program went on after a stop. */
static bool reap(struct wsdbg_child *child)
{
    bool resumed = false;
    int status;
    for (pid_t id; (id = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;) {
        if (id != child->id)
            continue;
        if (WIFSTOPPED(status)) {
            child->stopped = true;
            mirror_stop(child, WSTOPSIG(status));
        } else if (WIFCONTINUED(status)) {
            resumed = true;
            child->stopped = child->stop_asked = false;
        } else {
            child->status = status;
            child->ended = true;
        }
    }
    return resumed;
}

/* The terminal's keys went to both, and a group's signal came to both. */
static bool has_it_already(const struct wsdbg_child *child, const struct signalfd_siginfo *info)
{
    if (wsdbg_process_is_below((pid_t)info->ssi_pid))
        return true;
    return info->ssi_code == SI_KERNEL && !is_apart(child);
}

void wsdbg_child_stop_both(struct wsdbg_child *child)
{
    bool with_child = is_apart(child) && !child->ended;
    if (with_child)
        kill(-child->id, SIGSTOP);
    kill(getpid(), SIGSTOP);
    if (with_child)
        kill(-child->id, SIGCONT);
}

static bool asks_to_end(int number)
{
    return number == SIGTERM || number == SIGHUP || number == SIGINT || number == SIGQUIT;
}

static void forward(struct wsdbg_child *child, const struct signalfd_siginfo *info)
{
    struct wsdbg_companion *companion = child->options.companion;
    int number = (int)info->ssi_signo;
    if (number == SIGQUIT && child->options.quit_looks) {
        child->look_asked = true;
        return;
    }
    if (child->options.look_signal && number == child->options.look_signal) {
        child->refresh_asked = true;
        return;
    }
    if (number == SIGTSTP)
        child->stop_asked = true;
    if (!child->ended && number == SIGTSTP && is_apart(child))
        wsdbg_child_stop_both(child);
    else if (!child->ended && !has_it_already(child, info))
        kill(child->id, number);
    if (asks_to_end(number))
        child->end_asked_ns = wsdbg_monotonic_ns();
    if (companion && asks_to_end(number))
        companion->end(companion);
}

/* Handles what the signalfd holds.  True when the program went on after a stop. */
static bool handle_signals(struct wsdbg_child *child)
{
    struct signalfd_siginfo info;
    bool resumed = false;
    ssize_t got;
    while ((got = read(child->signals, &info, sizeof info)) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            resumed |= reap(child);
        else
            forward(child, &info);
    }
    /* The end of the program must be seen also where no signal can be read. */
    if (got < 0 && errno != EAGAIN)
        resumed |= reap(child);
    return resumed;
}

/* Polls signals and what the companion has; UINT64_MAX = for as long as it takes.  True when the program went on after
 * a stop. */
static bool wait_once(struct wsdbg_child *child, uint64_t deadline_ns)
{
    struct wsdbg_companion *companion = child->options.companion;
    struct pollfd descriptors[1 + COMPANION_DESCRIPTORS] = {{.fd = child->signals, .events = POLLIN}};
    size_t count = 1;
    if (companion)
        count += companion->watch(companion, descriptors + 1, COMPANION_DESCRIPTORS, &deadline_ns);
    uint64_t now_ns = wsdbg_monotonic_ns(), left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000u), .tv_nsec = (long)(left_ns % 1000000000u)};
    ppoll(descriptors, count, deadline_ns == UINT64_MAX ? NULL : &left, NULL);
    bool resumed = handle_signals(child);
    if (companion)
        companion->serve(companion);
    return resumed;
}

enum wsdbg_child_event wsdbg_child_wait(struct wsdbg_child *child, uint64_t deadline_ns)
{
    for (;;) {
        if (child->ended)
            return WSDBG_CHILD_ENDED;
        if (child->look_asked) {
            child->look_asked = false;
            return WSDBG_CHILD_LOOK;
        }
        if (child->refresh_asked) {
            child->refresh_asked = false;
            return WSDBG_CHILD_REFRESH;
        }
        const bool waits = child->stopped && !child->options.is_seen_stopped;
        if (wsdbg_monotonic_ns() >= deadline_ns && !waits)
            return WSDBG_CHILD_TICK;
        if (wait_once(child, waits ? UINT64_MAX : deadline_ns))
            return WSDBG_CHILD_RESUMED;
    }
}

void wsdbg_child_pause(struct wsdbg_child *child, uint64_t deadline_ns)
{
    wait_once(child, deadline_ns);
}

bool wsdbg_child_end_was_asked(struct wsdbg_child *child, uint64_t since_ns)
{
    wait_once(child, 0);
    return child->end_asked_ns > since_ns;
}

static size_t signal_tree(int number)
{
    pid_t below[WSDBG_PROCESSES_MAX];
    size_t count = wsdbg_processes_below(below);
    for (size_t i = 0; i < count; i++)
        kill(below[i], number);
    return count;
}

/* Waits until nothing is left below wsdbg; `again` (0 = none) is sent to what appears meanwhile. */
static size_t wait_tree(struct wsdbg_child *child, uint64_t deadline_ns, int again)
{
    for (;;) {
        handle_signals(child);
        reap(child);
        size_t left = signal_tree(again);
        uint64_t now_ns = wsdbg_monotonic_ns();
        if (left == 0 || now_ns >= deadline_ns) {
            /* The last one may have ended just before it was counted. */
            reap(child);
            return left;
        }
        wait_once(child, now_ns + KILL_LOOK_NS);
    }
}

size_t wsdbg_child_kill(struct wsdbg_child *child)
{
    child->killed = true;
    signal_tree(SIGTERM);
    signal_tree(SIGCONT);
    size_t left = wait_tree(child, wsdbg_monotonic_ns() + 1000000000u, 0);
    const uint64_t more_ns = child->end_asked_ns ? KILL_SOON_NS : KILL_NS;
    if (left > 0)
        left = wait_tree(child, wsdbg_monotonic_ns() + more_ns, SIGKILL);
    return left;
}

int wsdbg_child_signal(const struct wsdbg_child *child)
{
    return child->ended && WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;
}

int wsdbg_child_status(const struct wsdbg_child *child)
{
    return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status) : WEXITSTATUS(child->status);
}

/* Only for the foreground: a background process must not change the terminal of somebody else. */
static void restore_terminal(const struct wsdbg_child *child)
{
    bool died = child->killed || (child->ended && WIFSIGNALED(child->status));
    if (!child->has_terminal || !died || tcgetpgrp(STDIN_FILENO) != getpgrp())
        return;
    tcsetattr(STDIN_FILENO, TCSANOW, &child->terminal_before);
}

void wsdbg_child_destroy(struct wsdbg_child *child)
{
    if (!child)
        return;
    restore_terminal(child);
    if (child->go >= 0)
        close(child->go);
    if (child->failure >= 0)
        close(child->failure);
    wsdbg_orphans_dismiss(child->orphans);
    close(child->signals);
    free(child);
}
