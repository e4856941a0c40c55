/* supervise.c - see supervise.h.  Reads: a signalfd, wait statuses.  Writes: signals, terminal modes.
 *
 * The child stays in wsdbg's own process group, so that the terminal and job control treat both as one:
 *   - a key (Ctrl-C, Ctrl-\, Ctrl-Z) reaches both; the kernel says so (SI_KERNEL) and it is not sent twice;
 *   - a signal that a process sends to wsdbg alone is passed on, unless the sender is below wsdbg: then it
 *     came with kill(0, ...) and the program has it already;
 *   - when the child stops at the terminal's request wsdbg stops too, so that the shell takes over.
 * The parent-death signal is SIGTERM, not SIGKILL: when wsdbg is killed the program should not stay behind on the
 * GPU unseen, but a healthy one gets its chance to clean up.  It is left out with --on-stall detach, where the
 * program is meant to outlive wsdbg.
 */
#include "cmd/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/console.h"
#include "cmd/processes.h"

struct wsdbg_child {
    pid_t id;
    int status; /* as waitpid gives it */
    bool ended, stopped;
    bool stop_asked; /* SIGTSTP was seen since the child last went on */
    bool killed;     /* by wsdbg_child_kill */
    int signals;     /* signalfd */
    int go, failure; /* pipes: "execute now" to the child, errno of exec from it */
    sigset_t mask_before;
    struct sigaction pipe_before;
    struct termios terminal_before;
    bool has_terminal;
};

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP};

static void watched_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(set, forwarded[i]);
}

/* The child, between fork and exec: async-signal-safe calls only. */
static void become_program(const struct wsdbg_child *child, pid_t parent, bool die_with_parent, int go, int failure,
                           char **arguments, char **environment)
{
    char byte;
    if (die_with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1);
    }
    if (read(go, &byte, 1) != 1)
        _exit(1);
    sigaction(SIGPIPE, &child->pipe_before, NULL);
    sigprocmask(SIG_SETMASK, &child->mask_before, NULL);
    execvpe(arguments[0], arguments, environment);
    int code = errno;
    ssize_t written = write(failure, &code, sizeof code);
    _exit(written == sizeof code ? 1 : 2);
}

static struct wsdbg_error *fork_child(struct wsdbg_child *child, bool die_with_parent, char **arguments,
                                      char **environment)
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
        become_program(child, parent, die_with_parent, go[0], failure[1], arguments, environment);
    }
    close(go[0]);
    close(failure[1]);
    child->go = go[1];
    child->failure = failure[0];
    return NULL;
}

struct wsdbg_error *wsdbg_child_create(bool die_with_parent, char **arguments, char **environment,
                                       struct wsdbg_child **out)
{
    struct wsdbg_child *child = calloc(1, sizeof *child);
    sigset_t watched;
    if (!child)
        return &wsdbg_error_no_memory;
    *child = (struct wsdbg_child){.go = -1, .failure = -1};
    watched_signals(&watched);
    child->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (child->signals < 0) {
        free(child);
        return wsdbg_error_os(errno, "signalfd");
    }
    sigprocmask(SIG_BLOCK, &watched, &child->mask_before);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &child->pipe_before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child->has_terminal = tcgetattr(STDIN_FILENO, &child->terminal_before) == 0;
    struct wsdbg_error *error = fork_child(child, die_with_parent, arguments, environment);
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

int wsdbg_child_execute(struct wsdbg_child *child)
{
    int code = 0;
    ssize_t bytes = write(child->go, "x", 1);
    close(child->go);
    child->go = -1;
    if (bytes == 1)
        do
            bytes = read(child->failure, &code, sizeof code);
        while (bytes < 0 && errno == EINTR);
    close(child->failure);
    child->failure = -1;
    if (bytes != sizeof code)
        return 0;
    waitpid(child->id, &child->status, 0);
    child->ended = true;
    return code;
}

/* The terminal's stop reaches the shell only if wsdbg stops as well.  A plain SIGSTOP sent to the program alone
 * is not mirrored: nobody would continue wsdbg. */
static void mirror_stop(const struct wsdbg_child *child, int signal_number)
{
    if (signal_number == SIGTSTP || signal_number == SIGTTIN || signal_number == SIGTTOU || child->stop_asked)
        kill(getpid(), SIGSTOP);
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

static void forward(struct wsdbg_child *child, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    if (number == SIGTSTP)
        child->stop_asked = true;
    bool from_terminal = info->ssi_code == SI_KERNEL;
    if (!from_terminal && !wsdbg_process_is_below((pid_t)info->ssi_pid))
        kill(child->id, number);
}

/* Handles what the signalfd holds.  True when the program went on after a stop. */
static bool handle_signals(struct wsdbg_child *child)
{
    struct signalfd_siginfo info;
    bool resumed = false;
    while (!child->ended && read(child->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            resumed |= reap(child);
        else
            forward(child, &info);
    }
    return resumed;
}

enum wsdbg_child_event wsdbg_child_wait(struct wsdbg_child *child, uint64_t deadline_ns)
{
    for (;;) {
        if (child->ended)
            return WSDBG_CHILD_ENDED;
        uint64_t now_ns = wsdbg_monotonic_ns();
        /* While the program is stopped there is nothing to look at. */
        if (now_ns >= deadline_ns && !child->stopped)
            return WSDBG_CHILD_TICK;
        int timeout_ms = child->stopped ? -1 : (int)((deadline_ns - now_ns + 999999) / 1000000);
        poll(&(struct pollfd){.fd = child->signals, .events = POLLIN}, 1, timeout_ms);
        if (handle_signals(child))
            return WSDBG_CHILD_RESUMED;
    }
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
        if (left == 0 || now_ns >= deadline_ns)
            return left;
        poll(&(struct pollfd){.fd = child->signals, .events = POLLIN}, 1, 20);
    }
}

size_t wsdbg_child_kill(struct wsdbg_child *child)
{
    child->killed = true;
    signal_tree(SIGTERM);
    signal_tree(SIGCONT);
    size_t left = wait_tree(child, wsdbg_monotonic_ns() + 1000000000u, 0);
    if (left > 0)
        left = wait_tree(child, wsdbg_monotonic_ns() + 5000000000u, SIGKILL);
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
    close(child->signals);
    free(child);
}
