/* side_process.c - see side_process.h. */
#include "evidence/side_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/attach_link.h"

/* Everything from 3 on but these two descriptors. */
static void close_others(int keep, int also)
{
    const int low = keep < also ? keep : also, high = keep < also ? also : keep;
    const unsigned after_low = low < 3 ? 3 : (unsigned)low + 1, after_high = high < 3 ? 3 : (unsigned)high + 1;
    if (low > 3)
        close_range(3, (unsigned)low - 1, 0);
    if (high > (int)after_low)
        close_range(after_low, (unsigned)high - 1, 0);
    close_range(after_high, ~0u, 0);
}

/* The driver asks the kernel for SIGHUP when its debugger's parent dies: just then the process has work to do. */
static void ignore_signals(void)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Asks the kernel to end this process only after nearly all others when memory runs out.  It is not exempt (-1000): it
 * may be what takes the memory.  Without CAP_SYS_RESOURCE the kernel refuses that, and nothing changes. */
static void ask_to_be_spared(void)
{
    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0)
        return;
    const ssize_t written = write(score, WSDBG_SIDE_PROCESS_OOM_SCORE, sizeof WSDBG_SIDE_PROCESS_OOM_SCORE - 1);
    (void)written;
    close(score);
}

static void step_aside(const char *name, const int kept[2])
{
    setsid();
    ignore_signals();
    prctl(PR_SET_NAME, name);
    ask_to_be_spared();
    const int silent = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && silent >= 0; fd++)
        dup2(silent, fd);
    close_others(kept[0], kept[1]);
}

struct wsdbg_error *wsdbg_side_process_start(struct wsdbg_side_process *out, const char *name, const int kept[2],
                                             void (*work)(const void *argument), const void *argument)
{
    sigset_t all, before;
    *out = (struct wsdbg_side_process){.process = -1};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* nothing ends the new process before it ignores it */
    const pid_t child = fork();
    const int refused = errno;
    if (child != 0)
        sigprocmask(SIG_SETMASK, &before, NULL);
    if (child == 0) {
        step_aside(name, kept);
        work(argument);
        _exit(0);
    }
    if (child < 0)
        return wsdbg_error_os(refused, "no process for the inspector");
    out->process = (int)syscall(SYS_pidfd_open, child, 0);
    if (out->process >= 0) {
        out->id = child;
        return NULL;
    }
    const int reason = errno;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return wsdbg_error_os(reason, "the inspector's process cannot be followed");
}

bool wsdbg_side_process_wait(struct wsdbg_side_process *process, uint64_t deadline_ns)
{
    struct pollfd poller = {.fd = process->process, .events = POLLIN};
    if (!process->id)
        return true;
    for (;;) {
        const uint64_t now_ns = wsdbg_attach_clock_ns();
        const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
        if (poll(&poller, 1, (int)((left_ns + 999999) / 1000000)) > 0)
            break;
        if (left_ns == 0)
            return false;
    }
    waitpid(process->id, NULL, WNOHANG); /* the supervisor of wsdbg may have been first */
    process->id = 0;
    return true;
}

void wsdbg_side_process_kill(const struct wsdbg_side_process *process)
{
    if (process->id)
        syscall(SYS_pidfd_send_signal, process->process, SIGKILL, NULL, 0);
}

void wsdbg_side_process_release(struct wsdbg_side_process *process)
{
    wsdbg_side_process_wait(process, 0);
    if (process->process >= 0)
        close(process->process);
    *process = (struct wsdbg_side_process){.process = -1};
}
