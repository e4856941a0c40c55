/* observed_twice.c - a program with two preloaded observers and a library that links NCCL.  The other observer must see
 * each call once.  Exit status: 0; 1 = it did not. */
#include <dlfcn.h>
#include <stdio.h>

int framework_group(void);

enum { CALLS = 3 };

int main(void)
{
    const int *seen = dlsym(RTLD_DEFAULT, "other_observer_calls");
    int failed = 0;
    for (int i = 0; i < CALLS; i++)
        failed += framework_group() != 0;
    if (failed || !seen || *seen != CALLS)
        printf("%d calls failed, the other observer saw %d\n", failed, seen ? *seen : -1);
    return failed || !seen || *seen != CALLS;
}
