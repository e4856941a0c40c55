/* shapes.c - programs of many shapes in which a kernel hangs while other work goes on, and the same ones healthy.
 *
 * Usage: shapes MODE [--healthy] [--seconds S]      shapes --list
 *
 * Reads: nothing.  Writes: what it does, a line each; "ok STEPS" when all results were right.  The hung form goes on
 * with its other work for S seconds and then waits for the kernel that hangs (capture and capture-left-unseen leave
 * it); the healthy form does checked work in its place and ends after S seconds.  Status: 0 good, 1 a CUDA error or a
 * wrong result, 2 bad option, 77 no driver or too few devices.
 */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../demo_kernels/common/arguments.h"
#include "shapes.h"

#define PROGRAM "shapes"
enum { FAILED = 1, BAD_OPTION = 2, SKIPPED = 77 };
enum { LATE_CONTEXTS = 3 };

double shapes_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void shapes_say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

void shapes_say_ok(uint64_t steps)
{
    printf("ok %llu\n", (unsigned long long)steps);
    fflush(stdout);
}

struct wsdbg_error *shapes_work(const struct shapes *s, struct lane *lanes, unsigned count, unsigned but)
{
    struct wsdbg_error *error = NULL;
    uint64_t steps = 0;
    while (!error && shapes_now() < s->until) {
        for (unsigned i = 0; !error && i < count; i++)
            error = i == but ? NULL : lane_step(&lanes[i]);
        for (unsigned i = 0; !error && i < count; i++)
            error = i == but ? NULL : lane_check(&lanes[i]);
    }
    for (unsigned i = 0; i < count; i++)
        steps += i == but ? 0 : lanes[i].steps;
    if (!error && steps)
        shapes_say_ok(steps);
    return error;
}

/* The kernel that hangs, in lane `bad`, while the others work; or work in all. */
static struct wsdbg_error *hang_beside_work(const struct shapes *s, struct lane *lanes, unsigned count, unsigned bad)
{
    if (s->healthy)
        return shapes_work(s, lanes, count, LANES_MAX);
    struct wsdbg_error *error = lane_hang(&lanes[bad]);
    if (!error)
        shapes_say("hangs now");
    if (!error)
        error = shapes_work(s, lanes, count, bad);
    return error ? error : lane_wait(&lanes[bad]);
}

/* ---- the modes ---- */

static struct wsdbg_error *two_lanes(const struct shapes *s, int first, int second)
{
    struct lane lanes[2] = {0};
    struct wsdbg_error *error = lane_open(&s->device, &s->more, first, MBARRIER, &lanes[0]);
    if (!error)
        error = lane_open(&s->device, &s->more, second, MBARRIER, &lanes[1]);
    if (!error)
        error = hang_beside_work(s, lanes, 2, 1);
    lane_close(&lanes[1]);
    lane_close(&lanes[0]);
    return error;
}

static struct wsdbg_error *contexts(const struct shapes *s)
{
    return two_lanes(s, SHARED_CONTEXT, 0);
}

static struct wsdbg_error *devices(const struct shapes *s)
{
    int count = 0;
    struct wsdbg_error *error = device_check(&s->device, s->device.cu.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (error)
        return error;
    if (count < 2)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "one device alone: two are needed");
    return two_lanes(s, 0, 1);
}

static struct wsdbg_error *in_one_context(const struct shapes *s, unsigned count, unsigned bad, const char *kernel)
{
    struct lane lanes[LANES_MAX] = {0};
    struct wsdbg_error *error = NULL;
    for (unsigned i = 0; !error && i < count; i++)
        error = lane_open(&s->device, &s->more, SHARED_CONTEXT, kernel, &lanes[i]);
    if (!error)
        error = hang_beside_work(s, lanes, count, bad);
    for (unsigned i = 0; i < count; i++)
        lane_close(&lanes[i]);
    return error;
}

static struct wsdbg_error *streams(const struct shapes *s)
{
    return in_one_context(s, LANES_MAX, 3, TRANSACTION);
}

static struct wsdbg_error *cluster(const struct shapes *s)
{
    return in_one_context(s, 2, 1, CLUSTER);
}

static struct wsdbg_error *late(const struct shapes *s)
{
    for (int i = 0; i < LATE_CONTEXTS; i++) {
        struct lane lane;
        struct wsdbg_error *error = lane_open(&s->device, &s->more, 0, MBARRIER, &lane);
        lane_close(&lane);
        if (error)
            return error;
        shapes_say("a context came and went");
    }
    return two_lanes(s, 0, 0);
}

/* The child outlives nobody. */
static void idle_child(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static struct wsdbg_error *forked(const struct shapes *s)
{
    const pid_t child = fork();
    if (child == 0)
        idle_child();
    struct wsdbg_error *error =
        child < 0 ? wsdbg_error_create(WSDBG_ERROR_OTHER, "fork failed") : in_one_context(s, 2, 1, MBARRIER);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    return error;
}

struct worker {
    pthread_t thread;
    const struct shapes *shapes;
    struct lane lane;
    bool hangs, started;
    struct wsdbg_error *error;
};

static void *work_in_thread(void *argument)
{
    struct worker *worker = argument;
    worker->error = hang_beside_work(worker->shapes, &worker->lane, 1, worker->hangs ? 0 : LANES_MAX);
    return NULL;
}

/* Each lane has a thread of its own. */
static struct wsdbg_error *threads(const struct shapes *s)
{
    struct worker workers[LANES_MAX] = {0};
    struct shapes calm = *s;
    struct wsdbg_error *error = NULL;
    calm.healthy = true;
    for (unsigned i = 0; !error && i < LANES_MAX; i++) {
        workers[i].hangs = !s->healthy && i == 3;
        workers[i].shapes = workers[i].hangs ? s : &calm;
        error = lane_open(&s->device, &s->more, SHARED_CONTEXT, MBARRIER, &workers[i].lane);
    }
    for (unsigned i = 0; !error && i < LANES_MAX; i++)
        workers[i].started = pthread_create(&workers[i].thread, NULL, work_in_thread, &workers[i]) == 0;
    for (unsigned i = 0; i < LANES_MAX; i++) {
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
        if (!error)
            error = workers[i].error;
        else
            wsdbg_error_destroy(workers[i].error);
        lane_close(&workers[i].lane);
    }
    return error;
}

/* ---- the command line ---- */

static const struct mode {
    const char *name;
    struct wsdbg_error *(*run)(const struct shapes *);
    const char *kernel, *story;
} modes[] = {
    {"contexts", contexts, MBARRIER, "two contexts of one device, the hang in the second"},
    {"devices", devices, MBARRIER, "two devices, the hang on the second"},
    {"graph", shapes_graph, MBARRIER, "the kernel is a node of a graph"},
    {"capture", shapes_capture, TRANSACTION, "a capture is open for the first S seconds of the hang"},
    {"capture-left", shapes_capture_left, TRANSACTION, "a capture never ends, the host waits"},
    {"capture-left-unseen", shapes_capture_left_unseen, TRANSACTION, "a capture never ends, the host asks nothing"},
    {"cluster", cluster, CLUSTER, "the kernel is launched in clusters"},
    {"streams", streams, TRANSACTION, "one of eight streams hangs"},
    {"late", late, MBARRIER, "contexts came and went before"},
    {"fork", forked, MBARRIER, "a child process does nothing"},
    {"threads", threads, MBARRIER, "eight host threads launch, the kernel of one hangs"},
};
#define MODE_COUNT (sizeof modes / sizeof modes[0])

/* name, cause, kernel, story */
static void print_modes(void)
{
    for (size_t i = 0; i < MODE_COUNT; i++)
        printf("%s\t%s\twait_%s\t%s\n", modes[i].name, hang_find(modes[i].kernel)->cause, modes[i].kernel,
               modes[i].story);
}

static int complain(const char *word, const char *what)
{
    fprintf(stderr, PROGRAM ": '%s' %s (usage: shapes MODE [--healthy] [--seconds S], shapes --list)\n", word, what);
    return BAD_OPTION;
}

static int parse(int argc, char **argv, struct shapes *out, bool *list)
{
    static const struct option table[] = {{"healthy", no_argument, NULL, 'h'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {NULL, 0, NULL, 0}};
    int id;
    opterr = 0;
    while ((id = getopt_long(argc, argv, ":", table, NULL)) != -1) {
        if (id == '?' || id == ':')
            return complain(argv[optind - 1], id == ':' ? "needs a value" : "is no option");
        if (id == 's' && argument_number(PROGRAM, "seconds", optarg, 1, 60, &out->seconds))
            return BAD_OPTION;
        out->healthy |= id == 'h';
        *list |= id == 'l';
    }
    if (*list ? optind != argc : optind + 1 != argc)
        return complain(optind < argc ? argv[argc - 1] : "MODE", optind < argc ? "is one word too many" : "is missing");
    return 0;
}

static const struct mode *find_mode(const char *name)
{
    for (size_t i = 0; i < MODE_COUNT; i++)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    return NULL;
}

static int run(const struct mode *mode, struct shapes *s)
{
    struct wsdbg_error *error = shapes_open(&s->device, &s->more);
    s->until = shapes_now() + (double)s->seconds;
    if (!error)
        error = mode->run(s);
    if (!error)
        return 0;
    const int status = wsdbg_error_code(error) == WSDBG_ERROR_NOT_FOUND ? SKIPPED : FAILED;
    fprintf(stderr, PROGRAM ": %s: %s\n", mode->name, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return status;
}

int main(int argc, char **argv)
{
    struct shapes shapes = {.seconds = 3};
    bool list = false;
    const int bad = parse(argc, argv, &shapes, &list);
    if (bad)
        return bad;
    if (list) {
        print_modes();
        return 0;
    }
    const struct mode *mode = find_mode(argv[optind]);
    return mode ? run(mode, &shapes) : complain(argv[optind], "is no mode");
}
