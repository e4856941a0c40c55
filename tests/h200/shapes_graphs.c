/* shapes_graphs.c - the modes of shapes.c with graphs and stream captures.
 *
 * Writes: lines on stdout.  A capture is open in a thread of its own, in mode thread-local: what other threads do
 * spoils no such capture, unless somebody does what no thread may.
 */
#include "shapes.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { NODES = 3, CAPTURED_STEPS = 20 };

/* ---- graphs ---- */

/* step, step or the kernel that hangs, step: one after another. */
static struct wsdbg_error *build_graph(struct lane *lane, bool healthy, struct node_words words[NODES], CUgraph *graph)
{
    CUgraphNode node = NULL;
    struct wsdbg_error *error = lane_call(lane, lane->more->cuGraphCreate(graph, 0), "cuGraphCreate");
    for (int i = 0; !error && i < NODES; i++) {
        const CUgraphNode before = node;
        if (i == 1 && !healthy)
            lane_hang_node(lane, &words[i]);
        else
            lane_step_node(lane, &words[i]);
        error = lane_call(lane, lane->more->cuGraphAddKernelNode(&node, *graph, &before, i > 0, &words[i].node),
                          "cuGraphAddKernelNode");
    }
    return error;
}

static struct wsdbg_error *launch_graph(struct lane *lane, CUgraphExec exec)
{
    return lane_call(lane, lane->more->cuGraphLaunch(exec, lane->device.stream), "cuGraphLaunch");
}

/* Launched over and over. */
static struct wsdbg_error *repeat_graph(const struct shapes *s, struct lane *lane, CUgraphExec exec)
{
    struct wsdbg_error *error = NULL;
    while (!error && shapes_now() < s->until) {
        error = launch_graph(lane, exec);
        lane_count_steps(lane, NODES);
        if (!error)
            error = lane_check(lane);
    }
    if (!error)
        shapes_say_ok(lane->steps);
    return error;
}

static struct wsdbg_error *hang_graph(const struct shapes *s, struct lane lanes[2], CUgraphExec exec)
{
    struct wsdbg_error *error = launch_graph(&lanes[0], exec);
    if (!error)
        shapes_say("hangs now");
    if (!error)
        error = shapes_work(s, lanes, 2, 0);
    return error ? error : lane_wait(&lanes[0]);
}

struct wsdbg_error *shapes_graph(const struct shapes *s)
{
    struct lane lanes[2] = {0};
    struct node_words words[NODES];
    CUgraph made = NULL;
    CUgraphExec exec = NULL;
    struct wsdbg_error *error = lane_open(&s->device, &s->more, SHARED_CONTEXT, MBARRIER, &lanes[0]);
    if (!error)
        error = lane_open(&s->device, &s->more, SHARED_CONTEXT, MBARRIER, &lanes[1]);
    if (!error)
        error = build_graph(&lanes[0], s->healthy, words, &made);
    if (!error)
        error = lane_call(&lanes[0], s->more.cuGraphInstantiateWithFlags(&exec, made, 0), "cuGraphInstantiate");
    if (!error)
        error = s->healthy ? repeat_graph(s, &lanes[0], exec) : hang_graph(s, lanes, exec);
    lane_close(&lanes[1]);
    lane_close(&lanes[0]);
    return error;
}

/* ---- captures ---- */

struct capture {
    const struct shapes *shapes;
    struct lane lane;
    bool is_left; /* begun and never ended */
    pthread_barrier_t begun;
    struct wsdbg_error *error;
};

static struct wsdbg_error *begin_capture(struct lane *lane)
{
    struct wsdbg_error *error = lane_enter(lane);
    return error ? error
                 : lane_call(lane,
                             lane->more->cuStreamBeginCapture(lane->device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                             "cuStreamBeginCapture");
}

/* Steps are captured until the time is over; then the graph must give their result. */
static struct wsdbg_error *end_capture(struct lane *lane)
{
    CUgraph made = NULL;
    CUgraphExec exec = NULL;
    struct wsdbg_error *error =
        lane_call(lane, lane->more->cuStreamEndCapture(lane->device.stream, &made), "cuStreamEndCapture");
    if (!error)
        shapes_say("the capture ended well");
    if (!error)
        error = lane_call(lane, lane->more->cuGraphInstantiateWithFlags(&exec, made, 0), "cuGraphInstantiate");
    if (!error)
        error = launch_graph(lane, exec);
    if (!error)
        error = lane_check(lane);
    if (!error)
        shapes_say_ok(lane->steps);
    return error;
}

static void *capture_in_thread(void *argument)
{
    struct capture *capture = argument;
    struct wsdbg_error *error = begin_capture(&capture->lane);
    if (!error)
        shapes_say("a capture has begun");
    pthread_barrier_wait(&capture->begun);
    if (error || capture->is_left) {
        capture->error = error;
        return NULL;
    }
    for (int i = 0; !error && i < CAPTURED_STEPS; i++) {
        usleep((useconds_t)(capture->shapes->seconds * 1000000 / CAPTURED_STEPS));
        error = lane_step(&capture->lane);
    }
    capture->error = error ? error : end_capture(&capture->lane);
    return NULL;
}

/* What goes on in another stream while the capture is open. */
static struct wsdbg_error *beside_capture(const struct shapes *s, struct lane *lane)
{
    if (s->healthy)
        return shapes_work(s, lane, 1, LANES_MAX);
    struct wsdbg_error *error = lane_hang(lane);
    if (!error)
        shapes_say("hangs now");
    return error;
}

/* Asks the driver nothing until the time is over; nothing can be freed under a kernel that runs. */
static void leave(const struct shapes *s)
{
    while (shapes_now() < s->until)
        usleep(10000);
    shapes_say("left the hang");
    _exit(0);
}

static struct wsdbg_error *with_capture(const struct shapes *s, bool is_left, bool waits)
{
    struct capture capture = {.shapes = s, .is_left = is_left};
    struct lane lane = {0};
    pthread_t thread;
    struct wsdbg_error *error = lane_open(&s->device, &s->more, SHARED_CONTEXT, TRANSACTION, &lane);
    if (!error)
        error = lane_open(&s->device, &s->more, SHARED_CONTEXT, TRANSACTION, &capture.lane);
    if (error)
        return error;
    pthread_barrier_init(&capture.begun, NULL, 2);
    if (pthread_create(&thread, NULL, capture_in_thread, &capture) != 0)
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "no thread could be started");
    pthread_barrier_wait(&capture.begun);
    error = beside_capture(s, &lane);
    pthread_join(thread, NULL);
    if (capture.error) {
        wsdbg_error_destroy(error);
        error = capture.error;
    }
    if (!error && !s->healthy && !waits)
        leave(s);
    if (!error && !s->healthy)
        error = lane_wait(&lane);
    return error;
}

struct wsdbg_error *shapes_capture(const struct shapes *s)
{
    return with_capture(s, false, false);
}

struct wsdbg_error *shapes_capture_left(const struct shapes *s)
{
    return with_capture(s, true, true);
}

struct wsdbg_error *shapes_capture_left_unseen(const struct shapes *s)
{
    return with_capture(s, true, false);
}
