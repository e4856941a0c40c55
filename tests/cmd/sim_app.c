/* sim_app.c - a program for wsdbg run --device sim and wsdbg explore: sim_app KERNEL launches one of tests/libcuda's
 * kernels, "none" nothing; "beside", "looked-up", "missing", "helped" and "released" use the driver in other ways;
 * copied-late,
 * copied-later and never-copied have a thread for the copy that ends a kernel; lost_word is one of its defects.
 * sim_app FILE.ptx KERNEL THREADS launches a kernel of a file.  Built without sanitizers: it is preloaded.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcuda/defects.h"
#include "libcuda/kernels.h"

enum { LAUNCHES_BESIDE = 20 };

static int explain(const char *what, CUresult result)
{
    fprintf(stderr, "sim_app: %s: %d\n", what, result);
    return result == CUDA_ERROR_ILLEGAL_ADDRESS ? 3 : 1;
}

struct work {
    CUcontext context;
    CUmodule module;
    CUdeviceptr memory;
};

static CUresult run_kernel(const struct work *work, const char *name, CUstream stream)
{
    uint32_t first = 41;
    void *parameters[] = {(void *)&work->memory, &first};
    const bool has_two_warps = strcmp(name, "lost") == 0 || strcmp(name, "kept") == 0 || strcmp(name, "hang") == 0;
    CUfunction function;
    CUresult result = cu.cuModuleGetFunction(&function, work->module, name);
    return result ? result : launch(function, 1, has_two_warps ? 64 : 1, stream, parameters);
}

/* Launches in a stream of its own, waiting for each. */
static void *work_beside(void *argument)
{
    const struct work *work = argument;
    CUstream stream;
    CUresult result = cu.cuCtxSetCurrent(work->context);
    if (!result)
        result = cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < LAUNCHES_BESIDE && !result; i++) {
        result = run_kernel(work, "number", stream);
        if (!result)
            result = cu.cuStreamSynchronize(stream);
    }
    return (void *)(intptr_t)result;
}

/* One stream hangs, another does its work. */
static CUresult hang_beside(struct work *work)
{
    pthread_t thread;
    void *done = NULL;
    CUstream stream;
    CUresult result = cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (!result)
        result = run_kernel(work, "hang", stream);
    pthread_create(&thread, NULL, work_beside, work);
    pthread_join(thread, &done);
    fprintf(stderr, "sim_app: beside: %d\n", (int)(intptr_t)done);
    return result ? result : cu.cuStreamSynchronize(stream);
}

/* As the CUDA runtime finds the driver's functions, with per-thread default streams. */
static CUresult launch_looked_up(struct work *work)
{
    enum { PER_THREAD_DEFAULT_STREAM = 2 };
    CUresult (*launch_kernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              CUstream, void **, void **) = NULL;
    uint32_t first = 41;
    void *parameters[] = {&work->memory, &first};
    CUfunction function;
    CUresult result = cu.cuModuleGetFunction(&function, work->module, "number");
    if (!result)
        result =
            cu.cuGetProcAddress_v2("cuLaunchKernel", (void **)&launch_kernel, 12000, PER_THREAD_DEFAULT_STREAM, NULL);
    for (int i = 0; i < 3 && !result; i++)
        result = launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
    return result ? result : cu.cuCtxSynchronize();
}

/* Some functions are refused; a program that can do without goes on. */
static CUresult do_without_some(struct work *work)
{
    if (cu.cuUserObjectCreate() != CUDA_ERROR_NOT_SUPPORTED ||
        cu.cuGraphConditionalHandleCreate() != CUDA_ERROR_NOT_SUPPORTED)
        return CUDA_ERROR_UNKNOWN;
    CUresult result = run_kernel(work, "number", NULL);
    return result ? result : cu.cuCtxSynchronize();
}

/* A kernel waits for a word that the host writes when it has waited for a while. */
static CUresult help(struct work *work)
{
    uint32_t *flag;
    CUfunction function;
    CUresult result = cu.cuMemHostAlloc((void **)&flag, sizeof *flag, 0);
    if (!result)
        result = cu.cuModuleGetFunction(&function, work->module, "poll");
    if (result)
        return result;
    *(volatile uint32_t *)flag = 0;
    result = launch(function, 1, 1, NULL, (void *[]){&flag, &work->memory});
    usleep(100000);
    *(volatile uint32_t *)flag = 1;
    return result ? result : cu.cuCtxSynchronize();
}

/* Waits for a word of device memory, as one that this GPU alone may write. */
static const char waits_for_word[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry wait_word(.param .u64 word)\n{\n .reg .u64 %w;\n .reg .u32 %v;\n .reg .pred %p;\n"
    " ld.param.u64 %w, [word];\n"
    "AGAIN: ld.relaxed.gpu.global.u32 %v, [%w];\n setp.eq.u32 %p, %v, 0;\n @%p bra AGAIN;\n ret;\n}\n";

struct copier {
    struct work *work;
    const char *wanted;
    pthread_mutex_t never; /* locked */
};

/* Its first call of the driver, or the first for long. */
static void *copy_late(void *argument)
{
    static const uint32_t number = 41;
    struct copier *copier = argument;
    CUstream stream;
    CUresult result = 0;
    if (strcmp(copier->wanted, "copied-late") != 0)
        result = cu.cuCtxSetCurrent(copier->work->context) || cu.cuCtxSynchronize();
    if (strcmp(copier->wanted, "never-copied") == 0)
        pthread_mutex_lock(&copier->never);
    sleep(3);
    if (!result)
        result = cu.cuCtxSetCurrent(copier->work->context);
    if (!result)
        result = cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (!result)
        result = cu.cuMemcpyHtoDAsync_v2(copier->work->memory, &number, sizeof number, stream);
    return (void *)(intptr_t)result;
}

static CUresult be_copied_for(struct work *work, const char *wanted)
{
    static const uint32_t zero;
    struct copier copier = {work, wanted, PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    CUstream stream;
    CUfunction function;
    CUresult result = cu.cuMemcpyHtoD_v2(work->memory, &zero, sizeof zero);
    if (!result)
        result = cu.cuModuleLoadData(&work->module, waits_for_word);
    if (!result)
        result = cu.cuModuleGetFunction(&function, work->module, "wait_word");
    if (!result)
        result = cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (result)
        return result;
    pthread_mutex_lock(&copier.never);
    pthread_create(&thread, NULL, copy_late, &copier);
    usleep(100000); /* its first calls */
    result = launch(function, 1, 1, stream, (void *[]){&work->memory});
    if (!result)
        result = cu.cuStreamSynchronize(stream);
    pthread_join(thread, NULL);
    return result;
}

static CUresult lose_word(struct work *work)
{
    CUfunction function;
    CUresult result = cu.cuModuleLoadData(&work->module, defects);
    if (!result)
        result = cu.cuModuleGetFunction(&function, work->module, "lost_word");
    if (!result)
        result = launch(function, 1, 64, NULL, NULL);
    return result ? result : cu.cuCtxSynchronize();
}

static CUresult launch_from_file(const char *path, const char *name, const char *threads)
{
    CUmodule module;
    CUfunction function;
    CUresult result = cu.cuModuleLoad(&module, path);
    if (!result)
        result = cu.cuModuleGetFunction(&function, module, name);
    if (!result)
        result = launch(function, 1, (unsigned)strtoul(threads, NULL, 10), NULL, NULL);
    return result ? result : cu.cuCtxSynchronize();
}

/* Ends in good order. */
static CUresult release(struct work *work)
{
    CUresult result = run_kernel(work, "kept", NULL);
    if (!result)
        result = cu.cuCtxSynchronize();
    work->memory = 0;
    return result ? result : cu.cuDevicePrimaryCtxRelease_v2(0);
}

static CUresult do_as_asked(struct work *work, const char *wanted)
{
    if (strcmp(wanted, "none") == 0)
        return CUDA_SUCCESS;
    if (strcmp(wanted, "beside") == 0)
        return hang_beside(work);
    if (strcmp(wanted, "looked-up") == 0)
        return launch_looked_up(work);
    if (strcmp(wanted, "missing") == 0)
        return do_without_some(work);
    if (strcmp(wanted, "helped") == 0)
        return help(work);
    if (strcmp(wanted, "released") == 0)
        return release(work);
    if (strstr(wanted, "copied"))
        return be_copied_for(work, wanted);
    if (strcmp(wanted, "lost_word") == 0)
        return lose_word(work);
    if (strcmp(wanted, "fault") == 0)
        work->memory = 0;
    CUresult result = run_kernel(work, wanted, NULL);
    return result ? result : cu.cuCtxSynchronize();
}

static CUresult set_up(struct work *work, char *name, int name_bytes)
{
    api_open();
    CUresult result = cu.cuInit(0);
    if (!result)
        result = cu.cuDevicePrimaryCtxRetain(&work->context, 0);
    if (!result)
        result = cu.cuCtxSetCurrent(work->context);
    if (!result)
        result = cu.cuDeviceGetName(name, name_bytes, 0);
    if (!result)
        result = cu.cuModuleLoadData(&work->module, kernels);
    return result ? result : cu.cuMemAlloc_v2(&work->memory, 4);
}

int main(int count, char **words)
{
    const char *wanted = count > 1 ? words[1] : "number";
    char name[64] = "";
    uint32_t down = 0;
    struct work work = {NULL, NULL, 0};
    CUresult result = set_up(&work, name, sizeof name);
    if (result)
        return explain("setting up", result);
    result = count == 4 ? launch_from_file(words[1], words[2], words[3]) : do_as_asked(&work, wanted);
    if (!result && work.memory)
        result = cu.cuMemcpyDtoH_v2(&down, work.memory, 4);
    if (result)
        return explain(wanted, result);
    printf("%u on %s\n", down, name);
    return 0;
}
