/* opener.cu - opens a plugin in each way, and runs its kernel.
 *
 *     opener PLUGIN [works | hangs | apart]
 *
 * works: in every way but dlmopen.  hangs: with a kernel that waits for ever.  apart: with dlmopen, in a namespace of its own.
 *
 * Built with -DOWN_KERNEL it has a kernel and a static runtime of its own, beside those of the plugin.  Built with
 * -DLINKED it is linked with the plugin instead.  Exit status: 0 where each result was right.
 */
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

typedef int run_plugin(int with, int hangs);

static int failed;

static void expect(const char *what, int got, int expected)
{
    if (got == expected)
        return;
    printf("%s: got %d, expected %d\n", what, got, expected);
    failed = 1;
}

#ifdef OWN_KERNEL
__global__ void store(int *value, int with)
{
    *value = with;
}

static void run_own(int with)
{
    int *value = nullptr, got = -1;
    cudaMalloc(&value, sizeof *value);
    store<<<1, 1>>>(value, with);
    cudaMemcpy(&got, value, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(value);
    expect("own kernel", got, with);
}
#else
static void run_own(int)
{
}
#endif

#ifdef LINKED
extern "C" run_plugin plugin_run;
#else
static void open_and_run(const char *how, void *library, int with, int hangs)
{
    run_plugin *run = library ? (run_plugin *)dlsym(library, "plugin_run") : nullptr;
    if (!run)
        printf("%s: %s\n", how, dlerror());
    expect(how, run ? run(with, hangs) : -1, with);
    if (library)
        dlclose(library);
}
#endif

int main(int argc, char **argv)
{
    const int hangs = argc > 2 && strcmp(argv[2], "hangs") == 0;
    run_own(3);
#ifdef LINKED
    expect("linked", plugin_run(4, hangs), 4);
#else
    if (argc < 2)
        return 2;
    if (argc > 2 && strcmp(argv[2], "apart") == 0) {
        for (int times = 0; times < 2; times++)
            open_and_run("apart", dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW), 20 + times, 0);
        return failed;
    }
    for (int times = 0; times < 3; times++)
        open_and_run("opened again", dlopen(argv[1], RTLD_LAZY), 10 + times, hangs);
    open_and_run("at once", dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL), 5, hangs);
    open_and_run("deepbind", dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND), 6, hangs);
#endif
    run_own(8);
    return failed;
}
