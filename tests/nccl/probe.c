/* probe.c - a program that looks up functions of NCCL.  It must find none before it opens NCCL, and then only those
 * that this NCCL has.  Exit status: 0; 1 = a look-up or a call had another result. */
#include <dlfcn.h>
#include <stdio.h>

static int failed;
int ncclCommShrink(void *comm, int *left_out, int count, void **out, void *config, int flags) __attribute__((weak));

/* The observer defines every hooked function, so a weak reference is never null (docs/LIMITS.md).  The call must return
 * an error of NCCL. */
static int call_by_weak_reference(void)
{
    enum { SYSTEM_ERROR = 2 };
    void *made = NULL;
    return ncclCommShrink ? ncclCommShrink(NULL, NULL, 0, &made, NULL, 0) : SYSTEM_ERROR;
}

static void expect(const char *what, int is_there, int should_be)
{
    if (is_there == should_be)
        return;
    printf("%s is %sthere\n", what, is_there ? "" : "not ");
    failed = 1;
}

int main(void)
{
    expect("ncclAllReduce without NCCL", dlsym(RTLD_DEFAULT, "ncclAllReduce") != NULL, 0);
    expect("an error", dlerror() != NULL, 1);
    expect("ncclAllReduce next, without NCCL", dlsym(RTLD_NEXT, "ncclAllReduce") != NULL, 0);
    expect("ncclCommSplit of the program", dlsym(dlopen(NULL, RTLD_NOW), "ncclCommSplit") != NULL, 0);
    void *nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!nccl)
        return 1;
    expect("ncclAllReduce of NCCL", dlsym(nccl, "ncclAllReduce") != NULL, 1);
    expect("ncclAllReduce of a private NCCL in the program", dlsym(dlopen(NULL, RTLD_NOW), "ncclAllReduce") != NULL, 0);
    expect("ncclAlltoAll, which this NCCL lacks", dlsym(nccl, "ncclAlltoAll") != NULL, 0);
    expect("ncclAlltoAll of all", dlsym(RTLD_DEFAULT, "ncclAlltoAll") != NULL, 0);
    int (*start)(void) = (int (*)(void))dlsym(nccl, "ncclGroupStart"),
        (*end)(void) = (int (*)(void))dlsym(nccl, "ncclGroupEnd");
    expect("a group's result", start() == 0 && end() == 0, 1);
    expect("an error of a function that this NCCL lacks", call_by_weak_reference() == 2, 1);
    expect("an NCCL for all", dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL) != NULL, 1);
    expect("ncclAllReduce of the program", dlsym(dlopen(NULL, RTLD_NOW), "ncclAllReduce") != NULL, 1);
    expect("ncclAlltoAll of the program", dlsym(dlopen(NULL, RTLD_NOW), "ncclAlltoAll") != NULL, 0);
    return failed;
}
