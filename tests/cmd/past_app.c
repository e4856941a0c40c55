/* past_app.c - a program that gets at the simulator in ways that lead past the observer, or limits its own system calls.
 *
 *   past_app HOW SECONDS     uses CUDA, and waits so long before it ends with status 7
 *
 * HOW: plain | namespace (dlmopen) | deep (a library of its own, opened with RTLD_DEEPBIND) | bare (without the observer)
 *      | limited-before, limited-after (a seccomp filter before the first use of CUDA, between two), each with -all for
 *      all threads, -raw without the C library | limited-unused (a filter, and no use of CUDA)
 *      | asked (only asks whether there could be a filter) | numbered (a child in a PID namespace of its own)
 *      | other-user (becomes one before) | late (first waits with the simulator in a namespace, and is seen only then)
 *
 * The filter ends the process at system calls that the observer would make and the program does not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *(*lookup)(void *, const char *);

static void *library;
static lookup look_up = dlsym;

static int call(const char *name, void *first, uintptr_t second)
{
    int (*function)(void *, uintptr_t) = (int (*)(void *, uintptr_t))look_up(library, name);
    return function ? function(first, second) : 999;
}

/* One kernel that ends at once, and one that is waited for for some tenths of a second. */
static const char code[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry quick()\n{\n ret;\n}\n"
                           ".visible .entry slow()\n{\n .reg .u32 %n;\n .reg .pred %p;\n mov.u32 %n, 4000000;\n"
                           "AGAIN: sub.u32 %n, %n, 1;\n setp.ne.u32 %p, %n, 0;\n @%p bra AGAIN;\n ret;\n}\n";

static int run(const char *name)
{
    void *module = NULL, *function = NULL;
    int (*get)(void **, void *, const char *) =
        (int (*)(void **, void *, const char *))look_up(library, "cuModuleGetFunction");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **) = (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                      void *, void **, void **))look_up(library, "cuLaunchKernel");
    int result = call("cuModuleLoadData", &module, (uintptr_t)code);
    result = result ? result : get(&function, module, name);
    result = result ? result : launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    return result ? result : call("cuCtxSynchronize", NULL, 0);
}

static int use_cuda(void)
{
    void *context = NULL;
    int result = call("cuInit", NULL, 0);
    result = result ? result : call("cuDevicePrimaryCtxRetain", &context, 0);
    result = result ? result : call("cuCtxSetCurrent", context, 0);
    return result ? result : run("quick");
}

/* As `syscall`, in which nobody can stand. */
static long raw_call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c);
#endif
}

static void limit(const char *how)
{
#define KILL(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        KILL(SYS_getdents64), KILL(SYS_clock_nanosleep), KILL(SYS_nanosleep), KILL(SYS_fallocate), KILL(SYS_prctl),
        KILL(SYS_rt_sigpending), KILL(SYS_rt_sigtimedwait), KILL(SYS_readlinkat), KILL(SYS_process_vm_readv),
        KILL(SYS_socket), KILL(SYS_ftruncate), KILL(SYS_unlink), KILL(SYS_flock), KILL(SYS_tgkill), KILL(SYS_getppid),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    const unsigned long flags = strstr(how, "-all") ? SECCOMP_FILTER_FLAG_TSYNC : 0;
    long failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strstr(how, "-raw"))
        failed |= raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, (long)flags, (long)&program);
    else if (flags)
        failed |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    else
        failed |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    if (failed) {
        perror("past_app: seccomp");
        exit(77);
    }
}

/* Waits without a call of which it is said above that it ends the process. */
static void wait_seconds(const char *text)
{
    poll(NULL, 0, (int)(strtod(text, NULL) * 1000));
}

static void load(const char *how)
{
    if (strcmp(how, "namespace") == 0)
        library = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
    else if (strcmp(how, "deep") == 0) {
        void *between = dlopen(PAST_LIBRARY, RTLD_NOW | RTLD_DEEPBIND);
        lookup (*deep)(void) = between ? (lookup(*)(void))dlsym(between, "deep_lookup") : NULL;
        look_up = deep ? deep() : NULL;
        library = dlopen("libcuda.so.1", RTLD_NOW);
    } else
        library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library || !look_up) {
        fprintf(stderr, "past_app: %s\n", dlerror());
        exit(98);
    }
}

/* Goes on in the first process of a PID namespace; its parent ends as it does. */
static void be_numbered_anew(void)
{
    int status = 0;
    if (unshare(CLONE_NEWPID) != 0) {
        perror("past_app: unshare");
        exit(77);
    }
    const pid_t child = fork();
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 95);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 97;
    const char *how = argv[1];
    if (strcmp(how, "numbered") == 0)
        be_numbered_anew();
    if (strcmp(how, "other-user") == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 77;
    if (strcmp(how, "bare") == 0) {
        unsetenv("LD_PRELOAD");
        execl(argv[0], argv[0], "plain", argv[2], (char *)NULL);
    }
    if (strncmp(how, "limited-before", 14) == 0 || strcmp(how, "limited-unused") == 0)
        limit(how);
    if (strcmp(how, "asked") == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != 0 && errno != EFAULT)
        return 96;
    int result = 0;
    if (strcmp(how, "limited-unused") != 0) {
        if (strcmp(how, "late") == 0) {
            load("namespace");
            result = use_cuda();
            wait_seconds(argv[2]);
        }
        load(how);
        result = result ? result : use_cuda();
        if (strncmp(how, "limited-after", 13) == 0) {
            limit(how);
            result = result ? result : run("slow");
        }
    }
    printf("result %d\n", result);
    fflush(stdout);
    wait_seconds(strcmp(how, "late") == 0 ? "0.1" : argv[2]);
    return result ? 1 : 7;
}
