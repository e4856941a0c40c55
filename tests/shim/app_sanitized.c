/* app_sanitized.c - a program that is built with one sanitizer after the other, for sanitizers_test.c.
 *
 *   app_sanitized dlsym DEFECT     none | use-after-free | race | unknown-value | leak
 *
 * Launches from several threads on the libcuda that it finds, copies, prints what came of it, and then makes its defect.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

enum { THREADS = 4, ROUNDS = 5, LAUNCHES = 20 };

struct app_calls cu;
static CUcontext context;
static int counter;

/* What the fake driver leaves behind is its own. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libcuda.so\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fputs(dlerror(), stderr);
        exit(98);
    }
#define X(name, exported, types) cu.name = (CUresult(*) types)dlsym(library, #exported);
    FAKE_CALLS(X)
#undef X
}

/* What is called next finds values on its stack that MSan does not know. */
static __attribute__((noinline)) void leave_unknown_values(void)
{
    char unknown[32768];
    __asm__ volatile("" : : "r"(unknown) : "memory");
}

/* A grid of no CTA; twice, since a refusal is compared with those before it. */
static int be_refused(CUfunction function)
{
    leave_unknown_values();
    int result = cu.cuLaunchKernel(function, 0, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    leave_unknown_values();
    return result && cu.cuLaunchKernel(function, 0, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == result ? 0 : 1;
}

static int work_once(CUdeviceptr memory)
{
    static const char zeros[256];
    CUmodule module = NULL;
    CUfunction function = NULL;
    int result = cu.cuModuleLoadData(&module, FAKE_PROBED_IMAGE);
    if (!result)
        result = cu.cuModuleGetFunction(&function, module, "probed");
    if (!result)
        result = be_refused(function);
    for (int i = 0; i < LAUNCHES && !result; i++) {
        leave_unknown_values();
        result = cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
        result = result ? result : cu.cuMemcpyHtoD(memory, zeros, sizeof zeros);
        result = result ? result : cu.cuCtxSynchronize();
    }
    return result ? result : cu.cuModuleUnload(module);
}

static void *work(void *unused)
{
    CUdeviceptr memory = 0;
    int result = cu.cuCtxSetCurrent(context);
    (void)unused;
    if (!result)
        result = cu.cuMemAlloc(&memory, 256);
    for (int i = 0; i < ROUNDS && !result; i++)
        result = work_once(memory);
    if (!result)
        result = cu.cuMemFree(memory);
    return (void *)(intptr_t)result;
}

static void *count(void *unused)
{
    for (int i = 0; i < 1000; i++)
        counter++;
    return unused;
}

static void race(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, count, NULL);
    count(NULL);
    pthread_join(thread, NULL);
}

static void *lose(void *unused)
{
    char *volatile memory = malloc(16);
    memory[0] = 'x';
    return unused;
}

/* In a thread of its own: no stack or register that lasts has the address, which a leak detector would then take for
 * known. */
static void leak(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, lose, NULL);
    pthread_join(thread, NULL);
}

static void make(const char *defect)
{
    char *volatile memory = malloc(16);
    if (strcmp(defect, "race") == 0)
        race();
    if (strcmp(defect, "unknown-value") == 0 && memory[3] == 'x')
        puts("x");
    if (strcmp(defect, "leak") == 0)
        leak();
    free(memory);
    if (strcmp(defect, "use-after-free") == 0 && memory[3] == 'x')
        puts("x");
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    void *result = NULL;
    if (argc != 3)
        return 97;
    load();
    printf("init %d\n", cu.cuInit(0));
    printf("context %d\n", cu.cuCtxCreate(&context, NULL, 0, 0));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        printf("thread %d\n", (int)(intptr_t)result);
    }
    printf("end %d\n", cu.cuCtxDestroy(context));
    fflush(stdout);
    make(argv[2]);
    return 7;
}
