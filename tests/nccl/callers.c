/* callers.c - opens libraries that call NCCL, each with private symbols, and prints which copy each call reached:
 * nccl_callers LIBRARY...  It goes round twice, because the observer looks a call site up only once. */
#include <dlfcn.h>
#include <stdio.h>

static int call(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    int (*function)(void) = handle ? (int (*)(void))dlsym(handle, "start_group") : NULL;
    return function ? function() : -1;
}

int main(int count, char **arguments)
{
    for (int round = 0; round < 2; round++)
        for (int i = 1; i < count; i++)
            printf("%s%d", round || i > 1 ? " " : "", call(arguments[i]));
    printf("\n");
    return 0;
}
