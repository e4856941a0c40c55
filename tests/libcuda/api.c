/* api.c - see api.h. */
#include "libcuda/api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct api cu;

#ifdef __SANITIZE_THREAD__
/* Host and kernel share memory as they do on hardware: what they do to it at one time is the program's affair. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:hopper_do_\nrace:hopper_run_warp\n";
}
#endif

void api_open(void)
{
    cu.library = dlopen(LIBCUDA, RTLD_NOW | RTLD_LOCAL);
    if (!cu.library) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
#define X(name, types)                                      \
    *(void **)&cu.name = dlsym(cu.library, #name);          \
    if (!cu.name) {                                         \
        fprintf(stderr, "libcuda.so.1 has no %s\n", #name); \
        abort();                                            \
    }
    API(X)
#undef X
}

int api_begin(void **state)
{
    CUcontext context;
    if (!cu.library)
        api_open();
    OK(cu.cuInit(0));
    OK(cu.cuCtxCreate_v2(&context, 0, 0));
    *state = context;
    return 0;
}

int api_end(void **state)
{
    return cu.cuCtxDestroy_v2(*state);
}

/* Forking a process that a sanitizer watches takes long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { PATIENCE = 6 };
#else
enum { PATIENCE = 1 };
#endif

static void run_child(void (*body)(void), unsigned seconds, int end)
{
    dup2(end, STDERR_FILENO);
    close(end);
    alarm(PATIENCE * seconds);
    body();
    exit(0);
}

int in_child(void (*body)(void), unsigned seconds, char *said, size_t said_bytes)
{
    int ends[2], status;
    size_t have = 0;
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(body, seconds, ends[1]);
    }
    close(ends[1]);
    for (ssize_t count = 1; count > 0 && have + 1 < said_bytes; have += count > 0 ? (size_t)count : 0)
        count = read(ends[0], said + have, said_bytes - 1 - have);
    said[have] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
