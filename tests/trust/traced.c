/* traced.c - the program of the trust matrix: it uses CUDA, and does to itself what programs do.
 *
 *   traced WAY [ARGUMENT]     the table `ways` below says which there are
 *
 * Reads:  libcuda.so.1, the fake one, the simulator's or NVIDIA's; without one it says so and goes on.
 * Writes: what its calls gave, and what descriptors it was given, on stdout; some ways write the file "result", long
 * ones how far they are on stderr. Exit status: 0, 1 = a call failed, 2 = usage, or as the way says.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LAUNCHES = 8, MANY_LAUNCHES = 100000, MOMENT_MS = 5, PROGRESS = 250, PROGRESS_MS = 100 };

extern char **environ;
static const char *self;

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry plain()\n{\n ret;\n}\n";
static const char fake[] = "//fake\nfunction plain\nfunction hang\n";
static const char hanging_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry hang()\n{\n .shared .align 8 .b64 full;\n"
    " .reg .b32 %a;\n .reg .pred %p;\n mov.u32 %a, full;\n mbarrier.init.shared.b64 [%a], 1;\n"
    "AGAIN: mbarrier.try_wait.parity.shared.b64 %p, [%a], 0;\n @!%p bra AGAIN;\n ret;\n}\n";

/* ---- CUDA ---- */

static struct driver {
    int (*init)(unsigned), (*device)(int *, int), (*context)(void **, void *, unsigned, int),
        (*old_context)(void **, unsigned, int);
    int (*load)(void **, const void *), (*function)(void **, void *, const char *), (*wait)(void), (*unload)(void *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
} driver;

static int find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    const struct {
        const char *name;
        void *place;
    } functions[] = {{"cuInit", &driver.init},
                     {"cuDeviceGet", &driver.device},
                     {"cuCtxCreate_v4", &driver.context},
                     {"cuCtxCreate_v2", &driver.old_context},
                     {"cuModuleLoadData", &driver.load},
                     {"cuModuleGetFunction", &driver.function},
                     {"cuLaunchKernel", &driver.launch},
                     {"cuCtxSynchronize", &driver.wait},
                     {"cuModuleUnload", &driver.unload}};
    for (size_t i = 0; library && i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);
        memcpy(functions[i].place, &found, sizeof found);
    }
    return library && driver.init && driver.launch;
}

static int make_context(void)
{
    void *context = NULL;
    int device = 0, result = driver.init(0);
    if (!result && driver.device) /* the fake one has none */
        result = driver.device(&device, 0);
    if (result)
        return result;
    return driver.context ? driver.context(&context, NULL, 0, device) : driver.old_context(&context, 0, device);
}

static int launch(const char *image, const char *name, int count)
{
    void *module = NULL, *function = NULL;
    int result = driver.load(&module, image);
    if (result)
        result = driver.load(&module, fake);
    result = result ? result : driver.function(&function, module, name);
    for (int i = 0; !result && i < count; i++)
        result = driver.launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    result = result ? result : driver.wait();
    return result ? result : driver.unload(module);
}

/* The status of the last call; -1 = no driver. */
static int use_cuda(const char *image, const char *name, int count)
{
    static int made;
    if (!made && !find_driver())
        return -1;
    const int result = made ? 0 : make_context();
    made = 1;
    return result ? result : launch(image, name, count);
}

/* 0 = as it should be. */
static int work(const char *argument)
{
    (void)argument;
    const int result = use_cuda(ptx, "plain", LAUNCHES);
    printf(result < 0 ? "no CUDA here\n" : "%d launches: %d\n", LAUNCHES, result);
    fflush(stdout);
    return result > 0;
}

static void moment(long ms)
{
    poll(NULL, 0, (int)ms);
}

/* ---- descriptors ---- */

/* Those that were given to it, and that go on to the programs it starts. */
static int descriptors(const char *argument)
{
    (void)argument;
    for (int fd = 0; fd < 1024; fd++) {
        struct stat status;
        if (fstat(fd, &status) == 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
            printf("descriptor %d: type %o\n", fd, (unsigned)(status.st_mode & S_IFMT));
    }
    return work(NULL);
}

static int write_result(int failed)
{
    FILE *file = fopen("result", "w");
    if (!file)
        return 1;
    fprintf(file, "failed: %d\n", failed);
    return fclose(file) != 0;
}

static int closes_streams(const char *argument)
{
    (void)argument;
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    return write_result(use_cuda(ptx, "plain", LAUNCHES) > 0);
}

/* Its own files come first where its streams were; they hold its own words only. */
static int redirects(const char *argument)
{
    (void)argument;
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    const int in = open("/dev/null", O_RDONLY), out = open("out", O_WRONLY | O_CREAT, 0600);
    const int errors = open("errors", O_WRONLY | O_CREAT, 0600);
    fprintf(stderr, "in %d, out %d, errors %d\n", in, out, errors);
    return work(NULL);
}

static int closes_all(const char *argument)
{
    (void)argument;
    const int before = use_cuda(ptx, "plain", LAUNCHES);
    syscall(SYS_close_range, 0, ~0u, 0);
    return write_result(before > 0);
}

static int closes_above(const char *argument)
{
    const int before = work(NULL);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    (void)argument;
    return before | work(NULL);
}

static int reads_stdin(const char *argument)
{
    (void)argument;
    for (int byte; (byte = getchar()) != EOF;)
        putchar(byte);
    return work(NULL);
}

/* ---- limits that it sets itself ---- */

#define KILL(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static int limits_calls(const char *argument)
{
    struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  KILL(SYS_getdents64), KILL(SYS_clock_nanosleep),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    const int before = strcmp(argument, "after") == 0 ? work(NULL) : 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 1;
    const int failed = before | work(NULL);
    moment(300); /* an observer that went on would meet the filter */
    return failed;
}

static int changes_root(const char *argument)
{
    const int before = work(NULL);
    if (chroot(argument) || chdir("/"))
        return 1;
    return before | work(NULL);
}

static int drops_user(const char *argument)
{
    const int before = work(NULL);
    if (setgid(65534) || setuid(65534))
        return 1;
    (void)argument;
    return before | work(NULL);
}

static int clears_environment(const char *argument)
{
    (void)argument;
    char *driver_path = getenv("LD_LIBRARY_PATH"), text[4096] = "LD_LIBRARY_PATH=";
    strncat(text, driver_path ? driver_path : "", sizeof text - 20);
    char *const nothing[] = {text, NULL}, *const arguments[] = {(char *)self, (char *)"work", NULL};
    const int before = work(NULL);
    if (before == 0)
        execve(self, arguments, nothing);
    return 1;
}

/* ---- other processes ---- */

static int ended(pid_t child)
{
    int status = 0;
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

static int run_self(const char *way)
{
    char *const arguments[] = {(char *)self, (char *)way, NULL};
    pid_t child = -1;
    return posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0 || ended(child);
}

static int forks(const char *argument)
{
    (void)argument;
    const pid_t child = fork();
    if (child == 0)
        _exit(work(NULL));
    return ended(child) | work(NULL);
}

static int forks_after(const char *argument)
{
    (void)argument;
    const int before = work(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(run_self("work"));
    return before | ended(child) | work(NULL);
}

static int vforks(const char *argument)
{
    (void)argument;
    const int before = work(NULL);
    const pid_t child = vfork();
    if (child == 0) {
        execl(self, self, "work", NULL);
        _exit(1);
    }
    return before | ended(child);
}

static int spawns(const char *argument)
{
    (void)argument;
    return work(NULL) | run_self("work");
}

static int executes(const char *argument)
{
    (void)argument;
    if (work(NULL) == 0)
        execl(self, self, "work", NULL);
    return 1;
}

/* "5000" or "5000:8", so many at a time. */
static int children(const char *argument)
{
    const int count = atoi(argument), at_once = strchr(argument, ':') ? atoi(strchr(argument, ':') + 1) : 1;
    char *const arguments[] = {(char *)self, (char *)"work", NULL};
    int failed = 0, status = 0;
    for (int begun = 0, done = 0; done < count && !failed; done++) {
        for (pid_t child; begun < count && begun < done + at_once && !failed; begun++)
            failed = posix_spawn(&child, self, NULL, NULL, arguments, environ);
        failed |= wait(&status) < 0 || status != 0;
        if ((done + 1) % PROGRESS == 0) {
            fprintf(stderr, "progress %d\n", done + 1);
            moment(PROGRESS_MS); /* somebody looks at it */
        }
    }
    return failed;
}

static int children_and_a_hang(const char *argument)
{
    return children(argument) | run_self("hangs");
}

static int launches(const char *argument)
{
    int failed = use_cuda(ptx, "plain", LAUNCHES) > 0;
    const long count = atol(argument);
    for (long done = 0; done < count && !failed; done += MANY_LAUNCHES) {
        failed = launch(ptx, "plain", MANY_LAUNCHES);
        fprintf(stderr, "progress %ld\n", done + MANY_LAUNCHES);
    }
    return failed;
}

static int side_by_side(const char *argument)
{
    pid_t all[64];
    int failed = 0, count = atoi(argument) < 64 ? atoi(argument) : 64;
    char *const arguments[] = {(char *)self, (char *)"busy", (char *)"200", NULL};
    for (int i = 0; i < count; i++)
        failed |= posix_spawn(&all[i], self, NULL, NULL, arguments, environ);
    for (int i = 0; i < count; i++)
        failed |= ended(all[i]);
    printf("%d processes: %d\n", count, failed);
    return failed;
}

/* The first process ends at once; the daemon says what it did in a file. */
static int becomes_daemon(const char *argument)
{
    (void)argument;
    if (daemon(1, 0) != 0)
        return 1;
    moment(300);
    return write_result(use_cuda(ptx, "plain", LAUNCHES) > 0);
}

static int own_session(const char *argument)
{
    (void)argument;
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        _exit(work(NULL));
    }
    return ended(child);
}

/* ---- ends ---- */

static int by_signal(const char *argument)
{
    work(NULL);
    raise(atoi(argument));
    return 3;
}

static int by_status(const char *argument)
{
    work(NULL);
    _exit(atoi(argument));
}

static volatile sig_atomic_t caught;

static void note(int number)
{
    caught = number;
}

static int catches(const char *argument)
{
    signal(SIGTERM, note);
    signal(SIGUSR1, note);
    work(NULL);
    kill(getpid(), atoi(argument));
    printf("caught %d\n", (int)caught);
    return 0;
}

/* ---- that something may happen to meanwhile ---- */

static int busy(const char *argument)
{
    int failed = use_cuda(ptx, "plain", LAUNCHES) > 0;
    for (int i = 0; i < atoi(argument) / MOMENT_MS && !failed; i++) {
        failed = use_cuda(ptx, "plain", 1) > 0;
        moment(MOMENT_MS);
    }
    printf("busy: %d\n", failed);
    return failed;
}

static int comes_late(const char *argument)
{
    moment(atoi(argument));
    return work(NULL);
}

/* For so many seconds, if said; then SIGUSR1 ends it. */
static int hangs(const char *argument)
{
    timer_t timer;
    const struct itimerspec life = {.it_value.tv_sec = atoi(argument)};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &life, NULL);
    return use_cuda(hanging_ptx, "hang", 1);
}

/* A parent that works, with a child that hangs. */
static int child_hangs(const char *argument)
{
    (void)argument;
    const pid_t child = fork();
    if (child == 0)
        _exit(hangs("") != 0);
    return ended(child);
}

static const struct {
    const char *name;
    int (*go)(const char *argument);
} ways[] = {{"work", work},
            {"descriptors", descriptors},
            {"closes-streams", closes_streams},
            {"redirects", redirects},
            {"closes-all", closes_all},
            {"closes-above", closes_above},
            {"reads-stdin", reads_stdin},
            {"limits-calls", limits_calls},
            {"changes-root", changes_root},
            {"drops-user", drops_user},
            {"clears-environment", clears_environment},
            {"forks", forks},
            {"forks-after", forks_after},
            {"vforks", vforks},
            {"spawns", spawns},
            {"executes", executes},
            {"children", children},
            {"children-and-a-hang", children_and_a_hang},
            {"launches", launches},
            {"side-by-side", side_by_side},
            {"daemon", becomes_daemon},
            {"own-session", own_session},
            {"by-signal", by_signal},
            {"by-status", by_status},
            {"catches", catches},
            {"busy", busy},
            {"comes-late", comes_late},
            {"hangs", hangs},
            {"child-hangs", child_hangs}};

int main(int argc, char **argv)
{
    self = argv[0];
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, argv[1]) == 0)
            return ways[i].go(argc > 2 ? argv[2] : "");
    fprintf(stderr, "usage: traced WAY [ARGUMENT]\n");
    return 2;
}
