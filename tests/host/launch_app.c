/* launch_app.c - a program whose kernel hangs on the simulator: it waits for 64 threads at a barrier, and has 32.
 *
 *   launch_app WAY     how the kernel gets to the GPU; main() has the ways
 *
 * The line of each launch that matters ends with a comment, SITE and a word: launch_test.sh looks for it.  Other
 * launches follow, from another thread and another stream, before main() waits.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry stuck() { bar.sync 1, 64; ret; }\n"
                          ".visible .entry first() { ret; }\n"
                          ".visible .entry quick() { ret; }\n";

struct config {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    const void *attributes;
    unsigned attribute_count;
};

struct node {
    void *function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
    void *kernel, *context;
};

static struct {
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*load)(void **, const void *);
    int (*function)(void **, void *, const char *);
    int (*stream)(void **, unsigned);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    int (*launch_ex)(const struct config *, void *, void **, void **);
    int (*launch_cooperative)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                              void **);
    int (*begin_capture)(void *, int);
    int (*end_capture)(void *, void **);
    int (*instantiate)(void **, void *, uint64_t);
    int (*launch_graph)(void *, void *);
    int (*create_graph)(void **, unsigned);
    int (*add_node)(void **, void *, const void *, size_t, const struct node *);
    int (*synchronize)(void);
} cuda;

static void *context, *stuck, *first, *quick, *stream, *other_stream;

static void check(int status)
{
    if (status) {
        fprintf(stderr, "launch_app: CUDA error %d\n", status);
        exit(3);
    }
}

static void prepare(void)
{
    static const struct {
        const char *name;
        void *to;
    } functions[] = {{"cuInit", &cuda.init},
                     {"cuDevicePrimaryCtxRetain", &cuda.retain},
                     {"cuCtxSetCurrent", &cuda.set_current},
                     {"cuModuleLoadData", &cuda.load},
                     {"cuModuleGetFunction", &cuda.function},
                     {"cuStreamCreate", &cuda.stream},
                     {"cuLaunchKernel", &cuda.launch},
                     {"cuLaunchKernelEx", &cuda.launch_ex},
                     {"cuLaunchCooperativeKernel", &cuda.launch_cooperative},
                     {"cuStreamBeginCapture_v2", &cuda.begin_capture},
                     {"cuStreamEndCapture", &cuda.end_capture},
                     {"cuGraphInstantiateWithFlags", &cuda.instantiate},
                     {"cuGraphLaunch", &cuda.launch_graph},
                     {"cuGraphCreate", &cuda.create_graph},
                     {"cuGraphAddKernelNode_v2", &cuda.add_node},
                     {"cuCtxSynchronize", &cuda.synchronize}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *module = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = library ? dlsym(library, functions[i].name) : NULL;
        if (!found) {
            fprintf(stderr, "launch_app: no %s\n", functions[i].name);
            exit(3);
        }
        memcpy(functions[i].to, &found, sizeof found);
    }
    check(cuda.init(0));
    check(cuda.retain(&context, 0));
    check(cuda.set_current(context));
    check(cuda.load(&module, ptx));
    check(cuda.function(&stuck, module, "stuck"));
    check(cuda.function(&first, module, "first"));
    check(cuda.function(&quick, module, "quick"));
    check(cuda.stream(&stream, 1));
    check(cuda.stream(&other_stream, 1));
}

static void launch_quick(int count)
{
    for (int i = 0; i < count; i++)
        check(cuda.launch(quick, 1, 1, 1, 32, 1, 1, 0, other_stream, NULL, NULL));
}

static void *launch_more(void *count)
{
    check(cuda.set_current(context));
    launch_quick(*(const int *)count);
    return NULL;
}

static void launch_from_thread(int count)
{
    pthread_t thread;
    pthread_create(&thread, NULL, launch_more, &count);
    pthread_join(thread, NULL);
}

/* ---- the ways ---- */

static __attribute__((noinline)) void plain(void)
{
    check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE plain */
}

static __attribute__((noinline)) void extended(void)
{
    const struct config config = {{1, 1, 1}, {32, 1, 1}, 0, stream, NULL, 0};
    check(cuda.launch_ex(&config, stuck, NULL, NULL)); /* SITE extended */
}

static __attribute__((noinline)) void cooperative(void)
{
    check(cuda.launch_cooperative(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL)); /* SITE cooperative */
}

/* The frame does not fit into the piece of stack that is kept: the caller is not known, the line is. */
static __attribute__((noinline)) void deep(void)
{
    volatile char room[16384];
    room[0] = room[sizeof room - 1] = 1;
    check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE deep */
    room[1] = room[0];
}

/* Which of the two hangs is not known. */
static __attribute__((noinline)) void twice(void)
{
    check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE twice */
    check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE twice */
}

static __attribute__((noinline)) void again(void)
{
    for (int i = 0; i < 5; i++)
        check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE again */
}

/* More launches of the kernel than are looked at. */
static __attribute__((noinline)) void often(void)
{
    for (int i = 0; i < 1300; i++)
        check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE often */
}

static __attribute__((noinline)) void capture(void **graph)
{
    check(cuda.begin_capture(stream, 0));
    check(cuda.launch(first, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE captured */
    check(cuda.launch(quick, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    check(cuda.end_capture(stream, graph));
}

static __attribute__((noinline)) void graph(void)
{
    void *made = NULL, *ready = NULL;
    capture(&made); /* SITE captures */
    check(cuda.instantiate(&ready, made, 0));
    check(cuda.launch_graph(ready, stream)); /* SITE graph */
}

static __attribute__((noinline)) void node(void)
{
    const struct node what = {stuck, {1, 1, 1}, {32, 1, 1}, 0, NULL, NULL, NULL, NULL};
    void *made = NULL, *ready = NULL, *added = NULL;
    check(cuda.create_graph(&made, 0));
    check(cuda.add_node(&added, made, NULL, 0, &what)); /* SITE added */
    check(cuda.instantiate(&ready, made, 0));
    check(cuda.launch_graph(ready, stream)); /* SITE node */
}

/* Many launches follow: the ring has no room for the site of this one.  main() makes 200 more. */
static __attribute__((noinline)) void lost(void)
{
    check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE lost */
    launch_quick(2048 - 200);
}

/* One launch less: it is the oldest one of which the site is there. */
static __attribute__((noinline)) void kept(void)
{
    check(cuda.launch(stuck, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); /* SITE kept */
    launch_quick(2047 - 200);
}

/* ---- on other stacks ---- */

static ucontext_t back, there;
static char fiber_stack[65536] __attribute__((aligned(4096)));

static void in_fiber(void)
{
    plain();
    swapcontext(&there, &back);
}

static __attribute__((noinline)) void fiber(void)
{
    getcontext(&there);
    there.uc_stack.ss_sp = fiber_stack;
    there.uc_stack.ss_size = sizeof fiber_stack;
    there.uc_link = &back;
    makecontext(&there, in_fiber, 0);
    swapcontext(&back, &there);
}

static void on_signal(int number)
{
    (void)number;
    plain();
}

static __attribute__((noinline)) void in_signal(void)
{
    const stack_t stack = {.ss_sp = fiber_stack, .ss_size = sizeof fiber_stack};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void *in_thread(void *unused)
{
    check(cuda.set_current(context));
    plain(); /* SITE thread */
    return unused;
}

static __attribute__((noinline)) void small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, fiber_stack, sizeof fiber_stack);
    pthread_create(&thread, &attributes, in_thread, NULL);
    pthread_join(thread, NULL);
}

/* The fiber's stack ends with its first page, and nothing is mapped behind it. */
static __attribute__((noinline)) void edge(void)
{
    unsigned char *pages = mmap(NULL, 65536 + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages, 65536, PROT_READ | PROT_WRITE) != 0)
        exit(3);
    getcontext(&there);
    there.uc_stack.ss_sp = pages;
    there.uc_stack.ss_size = 65536;
    there.uc_link = &back;
    makecontext(&there, in_fiber, 0);
    swapcontext(&back, &there);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*way)(void);
    } ways[] = {{"plain", plain},      {"extended", extended}, {"cooperative", cooperative},
                {"deep", deep},        {"twice", twice},       {"again", again},
                {"often", often},      {"graph", graph},       {"node", node},
                {"lost", lost},        {"kept", kept},         {"fiber", fiber},
                {"signal", in_signal}, {"small", small_stack}, {"edge", edge}};
    prepare();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
            ways[i].way(); /* SITE main */
    launch_from_thread(100);
    const char *error = dlerror();
    if (error) /* of a look-up of the observer's */
        fprintf(stderr, "launch_app: %s\n", error);
    dlopen("libof-the-program.so", RTLD_NOW);
    launch_quick(100);
    const char *own = dlerror();
    if (!own) /* a look-up of the observer's took it away */
        fprintf(stderr, "launch_app: the program's own error is gone\n");
    return error || !own ? 4 : cuda.synchronize();
}
