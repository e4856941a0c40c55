/* app.c - the program that the shim's tests run under it: app_linked links libcuda, app_dynamic looks it up.
 *
 *   app_... MODE SCENARIO     MODE = linked | dlsym | proc | proc-ptsz (cuGetProcAddress) | proc-12 (version 12.4)
 *
 * Prints "exported-name result" for each driver call of its own, so that a test can compare with what the driver said.
 * With APP_STDERR it puts that file on its stderr first.  With APP_ERRNO it says of each call that changed errno so.
 * With APP_WAITS it says "ready" at the end and waits for the end of stdin, obeying each byte of it (app_orders.c);
 * with APP_DESTROYS another thread of it is then inside a cuCtxDestroy that does not come back.
 */
#include <dirent.h>
#include <stdbool.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"

struct app_calls cu;

#ifdef APP_LINKED
#define X(name, exported, types) extern CUresult exported types;
FAKE_CALLS(X)
#undef X
#endif

typedef CUresult (*get_address)(const char *, void **, int, uint64_t, int *);

void fail(const char *what)
{
    fprintf(stderr, "app: %s\n", what);
    exit(98);
}

static void load_dynamic(const char *mode)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail(dlerror());
    get_address get = (get_address)dlsym(library, "cuGetProcAddress_v2");
    int version = strcmp(mode, "proc-12") == 0 ? 12040 : 13000;
    uint64_t flags = strcmp(mode, "proc-ptsz") == 0 ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
    int by_name = strcmp(mode, "dlsym") == 0;
    void *pointer = NULL;
    if (!by_name && get("cuGetProcAddress", &pointer, 13000, 0, NULL) == 0) /* as cudart: through itself */
        get = (get_address)pointer;
#define X(name, exported, types)                         \
    if (by_name)                                         \
        pointer = dlsym(library, #exported);             \
    else if (get(#name, &pointer, version, flags, NULL)) \
        fail(#name);                                     \
    cu.name = (CUresult(*) types)pointer;
    FAKE_CALLS(X)
#undef X
}

static void load(const char *mode)
{
#ifdef APP_LINKED
    (void)mode;
    (void)load_dynamic;
#define X(name, exported, types) cu.name = exported;
    FAKE_CALLS(X)
#undef X
#else
    load_dynamic(mode);
#endif
}

/* errno is 0 before each call. */
int say(const char *name, int result)
{
    const int left = errno;
    printf("%s %d\n", name, result);
    if (left && getenv("APP_ERRNO"))
        printf("errno %d after %s\n", left, name);
    fflush(stdout);
    errno = 0;
    return result;
}

static void wait_for_end(void)
{
    char byte;
    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) > 0)
        obey(byte);
}

CUcontext first_context;

CUcontext create(CUdevice device)
{
    CUcontext context = NULL;
    DO(cuCtxCreate, &context, NULL, 0, device);
    if (!first_context)
        first_context = context;
    return context;
}

CUfunction function_of(const char *image, const char *name, CUmodule *module)
{
    CUfunction function = NULL;
    *module = NULL;
    if (DO(cuModuleLoadData, module, image) == 0)
        DO(cuModuleGetFunction, &function, *module, name);
    return function;
}

int launch(CUfunction function, unsigned grid, CUstream stream)
{
    return DO(cuLaunchKernel, function, grid, 2, 3, 128, 1, 1, 4096, stream, NULL, NULL);
}

/* Every kind of launch, one of them refused, and copies. */
static void basic(const char *image, const char *name)
{
    CUmodule module;
    CUstream stream = NULL;
    CUdeviceptr memory = 0;
    int value = 42, back = 0;
    create(0);
    CUfunction function = function_of(image, name, &module);
    DO(cuStreamCreate, &stream, 1);
    const struct cu_launch_attribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.cluster = {2, 1, 1}},
        {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.programmatic_serialization = 1}};
    struct cu_launch_config config = {{8, 1, 1}, {384, 1, 1}, 1024, stream, attributes, 2};
    launch(function, 7, stream);
    DO(cuLaunchKernelEx, &config, function, NULL, NULL);
    DO(cuLaunchCooperativeKernel, function, 5, 1, 1, 64, 1, 1, 0, stream, NULL);
    launch(function, 0, stream);
    errno = 0;
    DO(cuStreamSynchronize, stream);
    if (DO(cuMemAlloc, &memory, sizeof value) == 0) {
        DO(cuMemcpyHtoD, memory, &value, sizeof value);
        DO(cuMemcpyDtoH, &back, memory, sizeof back);
        DO(cuMemFree, memory);
    }
    DO(cuCtxSynchronize);
    printf("errno %d\n", errno);
    if (module)
        DO(cuModuleUnload, module);
}

struct thread_job {
    CUcontext context;
    CUfunction function;
    int count;
};

static void *launch_many(void *argument)
{
    struct thread_job *job = argument;
    cu.cuCtxSetCurrent(job->context);
    for (int i = 0; i < job->count; i++)
        if (cu.cuLaunchKernel(job->function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
            fail("a launch in a thread");
    return NULL;
}

static void threads(void)
{
    struct thread_job job = {create(0), NULL, 5000};
    CUmodule module;
    pthread_t thread[8];
    job.function = function_of(FAKE_PROBED_IMAGE, "probed", &module);
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, launch_many, &job);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
}

/* The first launch of a probed library's kernel happens inside the capture. */
static void capture(void)
{
    CUstream stream = NULL;
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUgraph graph = NULL;
    create(0);
    DO(cuLibraryLoadData, &library, FAKE_PROBED_IMAGE, NULL, NULL, 0, NULL, NULL, 0);
    DO(cuLibraryGetKernel, &kernel, library, "probed");
    DO(cuStreamCreate, &stream, 1);
    DO(cuStreamBeginCapture, stream, 0);
    launch(kernel, 1, stream);
    DO(cuLaunchCooperativeKernel, kernel, 2, 1, 1, 64, 1, 1, 0, stream, NULL);
    DO(cuStreamEndCapture, stream, &graph);
    for (int i = 0; graph && i < 3; i++)
        DO(cuGraphLaunch, graph, stream);
    DO(cuStreamSynchronize, stream);
}

static void contexts(void)
{
    CUmodule module;
    CUcontext context;
    for (int i = 0; i < 3; i++) {
        context = create(i % 2);
        launch(function_of(FAKE_PROBED_IMAGE, "probed", &module), 1, NULL);
        if (context)
            DO(cuCtxDestroy, context);
    }
    for (int i = 0; i < 2; i++) {
        if (DO(cuDevicePrimaryCtxRetain, &context, 1) || DO(cuCtxSetCurrent, context))
            continue;
        launch(function_of(FAKE_PROBED_IMAGE, "probed", &module), 1, NULL);
        DO(cuCtxSetCurrent, NULL);
        if (i == 0)
            DO(cuDevicePrimaryCtxReset, 1);
        else
            DO(cuDevicePrimaryCtxRelease, 1);
    }
}

/* One library launched in two contexts, then unloaded. */
static void library(void)
{
    CUlibrary lib = NULL;
    CUkernel kernel = NULL;
    CUcontext first = create(0);
    DO(cuLibraryLoadData, &lib, FAKE_PROBED_IMAGE, NULL, NULL, 0, NULL, NULL, 0);
    DO(cuLibraryGetKernel, &kernel, lib, "probed");
    launch(kernel, 1, NULL);
    create(1);
    launch(kernel, 2, NULL);
    DO(cuCtxSetCurrent, first);
    launch(kernel, 3, NULL);
    DO(cuLibraryUnload, lib);
}

static void forked(const char *program, int replace)
{
    CUmodule module;
    create(0);
    CUfunction function = function_of(FAKE_PROBED_IMAGE, "probed", &module);
    launch(function, 1, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (replace)
            execl(program, program, "dlsym", "basic", (char *)NULL);
        cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        cu.cuCtxSynchronize();
        _exit(0);
    }
    printf("child %d\n", (int)child);
    int status = 0;
    waitpid(child, &status, 0);
    printf("status %d\n", status);
    launch(function, 1, NULL);
}

static void fork_first(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        DO(cuInit, 0);
        basic(FAKE_PROBED_IMAGE, "probed");
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\nstatus %d\n", (int)child, status);
}

static void *destroy_for_ever(void *unused)
{
    (void)unused;
    cu.cuCtxDestroy(NULL);
    return NULL;
}

/* Another thread is inside a call that ends a context and does not come back. */
static void destroy_if_asked(void)
{
    pthread_t thread;
    if (!getenv("APP_DESTROYS"))
        return;
    setenv("FAKE_CUDA_HANG", "cuCtxDestroy_v2", 1);
    if (pthread_create(&thread, NULL, destroy_for_ever, NULL))
        fail("pthread_create");
    usleep(100000);
}

void wait_if_asked(void)
{
    destroy_if_asked();
    if (getenv("APP_WAITS"))
        wait_for_end();
}

static int count_matches(const char *path, const char *text)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, text) != NULL;
    if (file)
        fclose(file);
    return count;
}

static int count_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* What 100 contexts leave behind when they are gone. */
static void many_contexts(void)
{
    CUmodule module;
    int before = 0;
    for (int i = 0; i < 100; i++) {
        CUcontext context = create(0);
        launch(function_of(FAKE_PROBED_IMAGE, "probed", &module), 1, NULL);
        DO(cuCtxDestroy, context);
        if (i == 0)
            before = count_descriptors();
    }
    printf("descriptors left %d\n", count_descriptors() - before);
    printf("mappings left %d\n", count_matches("/proc/self/maps", FAKE_GPU_MEMORY));
}

static void history(void)
{
    CUmodule module;
    create(0);
    CUfunction function = function_of(FAKE_PROBED_IMAGE, "probed", &module);
    for (int i = 0; i < 5; i++)
        launch(function, 1, NULL);
}

static void basic_probed(void)
{
    basic(FAKE_PROBED_IMAGE, "probed");
}

static void basic_plain(void)
{
    basic(FAKE_PLAIN_IMAGE, "plain");
}

static void nothing(void)
{
}

static const struct {
    const char *name;
    void (*act)(void);
} scenarios[] = {
    {"basic", basic_probed},
    {"plain", basic_plain},
    {"refusals", refusals},
    {"library-refusals", library_refusals},
    {"question-refusals", question_refusals},
    {"graph-refusals", graph_refusals},
    {"graph-kernels", graph_kernels},
    {"memory", memory_kinds},
    {"mappings", mappings},
    {"many-allocations", many_allocations},
    {"racing-allocations", racing_allocations},
    {"stream-work", stream_work},
    {"threads", threads},
    {"capture", capture},
    {"contexts", contexts},
    {"library", library},
    {"slow", slow},
    {"hang", hang},
    {"hanging-contexts", hanging_contexts},
    {"long-capture", long_capture},
    {"capture-left", capture_left},
    {"capture-left-idle", capture_left_idle},
    {"fault-unasked", fault_unasked},
    {"fault", fault},
    {"overrun", overrun},
    {"fault-without-cause", fault_without_cause},
    {"fault-beside", fault_beside},
    {"fault-and-die", fault_and_die},
    {"fault-and-go-on", fault_and_go_on},
    {"many-contexts", many_contexts},
    {"history", history},
    {"init", nothing},
    {"context", only_context},
    {"long-name", long_name},
    {"large-image", large_image},
    {"pending-signal", pending_signal},
    {"exit-handler", exit_handler},
    {"rank-before-context", rank_before_context},
    {"rank-before-module", rank_before_module},
    {"exit-3", exit_with_3},
    {"refused-in-a-capture", refused_in_a_capture},
    {"module-again", module_again},
    {"fork-beside", fork_beside},
    {"load-beside-first-call", load_beside_first_call},
    {"fork-and-leave", fork_and_leave},
    {"write-to-nothing", write_to_nothing},
    {"spawn-beside", spawn_beside},
};

/* After work of its own the process becomes another program: itself, with the observer, or one that knows no CUDA. */
static void become(const char *program, bool same)
{
    history();
    fflush(stdout);
    if (same)
        execl(program, program, "dlsym", "basic", NULL);
    else
        execl("/bin/true", "true", NULL);
    fail("exec");
}

static void act(const char *program, const char *scenario)
{
    if (strcmp(scenario, "exec") == 0 || strcmp(scenario, "exec-other") == 0)
        become(program, strcmp(scenario, "exec") == 0);
    if (strcmp(scenario, "fork") == 0 || strcmp(scenario, "fork-exec") == 0) {
        forked(program, strcmp(scenario, "fork-exec") == 0);
        return;
    }
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenario, scenarios[i].name) == 0) {
            scenarios[i].act();
            return;
        }
    fail("unknown scenario");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage: app MODE SCENARIO");
    if (getenv("APP_STDERR") && !freopen(getenv("APP_STDERR"), "w", stderr))
        fail("APP_STDERR");
    load(argv[1]);
    errno = 0;
    if (strcmp(argv[2], "fork-first") == 0) {
        fork_first();
        return 0;
    }
    DO(cuInit, 0);
    act(argv[0], argv[2]);
    wait_if_asked();
    return 0;
}
