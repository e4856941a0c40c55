/* queue.c - operations in the order of their streams; see queue.h.
 *
 * Copies and fills are done with the lock away; the stream keeps its operation meanwhile.
 * Reads and writes: streams, memory that operations name, launches of the gpu.
 */
#include "libcuda/queue.h"

#include <string.h>

#include "libcuda/capture.h"
#include "libcuda/explore.h"
#include "libcuda/memory.h"

/* ---- order ---- */

static bool is_ordered_with(enum stream_kind kind, enum stream_kind other)
{
    switch (kind) {
    case STREAM_LEGACY:
        return other == STREAM_BLOCKING;
    case STREAM_BLOCKING:
        return other == STREAM_LEGACY;
    case STREAM_NON_BLOCKING:
        return false;
    case STREAM_EVERYTHING:
        return true;
    }
    return false;
}

static bool is_first_of_all(const struct operation *operation)
{
    const struct stream *own = operation->stream;
    for (const struct stream *other = own->context->streams; other; other = other->next)
        if (other != own && is_ordered_with(own->kind, other->kind) && other->first &&
            other->first->sequence < operation->sequence)
            return false;
    return true;
}

/* The comparisons are those of cuStreamWaitValue: cyclic >=, ==, any bit of, not all bits of. */
static bool value_is_reached(const struct value_operation *wait)
{
    const uint64_t mask = wait->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    const uint64_t now = wait->bytes == 4 ? __atomic_load_n((const uint32_t *)wait->address, __ATOMIC_ACQUIRE)
                                          : __atomic_load_n((const uint64_t *)wait->address, __ATOMIC_ACQUIRE);
    switch (wait->comparison) {
    case 0:
        return wait->bytes == 4 ? (int32_t)(uint32_t)(now - wait->value) >= 0 : (int64_t)(now - wait->value) >= 0;
    case 1:
        return now == (wait->value & mask);
    case 2:
        return (now & wait->value & mask) != 0;
    }
    return (~(now | wait->value) & mask) != 0;
}

/* A launch that may overlap with the one in front of it, which runs. */
static bool may_overlap(const struct operation *before, const struct operation *operation)
{
    return before->kind == OPERATION_LAUNCH && before->state == OPERATION_RUNS && operation->kind == OPERATION_LAUNCH &&
           operation->launch.is_programmatic;
}

static bool can_begin(const struct operation *operation)
{
    if (operation->kind == OPERATION_WAIT_EVENT && !operation->mark->is_done && !operation->mark->is_lost)
        return false;
    if (operation->kind == OPERATION_LAUNCH && explore_holds(operation->stream->context))
        return false;
    return is_first_of_all(operation) &&
           (operation->kind != OPERATION_WAIT_VALUE || value_is_reached(&operation->value));
}

/* The stream's next operation if it can begin now; *before is the launch that it overlaps with. */
static struct operation *find_next(const struct stream *stream, struct operation **before)
{
    *before = NULL;
    for (struct operation *operation = stream->first; operation; operation = operation->next) {
        if (operation->state == OPERATION_WAITS)
            return can_begin(operation) ? operation : NULL;
        if (!operation->next || !may_overlap(operation, operation->next))
            return NULL;
        *before = operation;
    }
    return NULL;
}

/* ---- the work ---- */

static void copy(const struct copy_operation *copy)
{
    for (size_t slice = 0; slice < copy->depth; slice++) {
        const unsigned char *from = copy->from + slice * copy->from_slice;
        unsigned char *to = copy->to + slice * copy->to_slice;
        const bool is_plain = copy->from_pitch == copy->width_bytes && copy->to_pitch == copy->width_bytes;
        if (is_plain)
            memmove(to, from, copy->width_bytes * copy->height);
        for (size_t row = 0; row < copy->height && !is_plain; row++)
            memmove(to + row * copy->to_pitch, from + row * copy->from_pitch, copy->width_bytes);
    }
}

static void fill_row(unsigned char *to, const struct fill_operation *fill)
{
    if (fill->value_bytes == 1)
        memset(to, (int)fill->value, fill->width);
    for (size_t i = 0; i < fill->width && fill->value_bytes != 1; i++)
        memcpy(to + i * fill->value_bytes, &fill->value, fill->value_bytes);
}

static void fill(const struct fill_operation *fill)
{
    for (size_t row = 0; row < fill->height; row++)
        fill_row(fill->to + row * fill->pitch_bytes, fill);
}

/* Streams of any context may wait for the mark. */
static void tell_of_mark(void)
{
    for (struct context *context = driver.contexts; context; context = context->next)
        queue_kick(context);
}

static void submit(struct operation *operation, struct operation *before)
{
    struct context *context = operation->stream->context;
    int driver_error = CUDA_ERROR_LAUNCH_FAILED;
    operation->launch.launch.after = before ? before->launch.run : NULL;
    explore_before(operation);
    if (context->failure) {
        operation_finish(operation);
        return;
    }
    struct wsdbg_error *error =
        wsdbg_gpu_submit(context->gpu, &operation->launch.launch, &driver_error, &operation->launch.run);
    if (!error) {
        operation->state = OPERATION_RUNS;
        context->running++;
        context->is_deadlocked = false;
        queue_kick(context);
        return;
    }
    driver_say_error(operation->launch.launch.function->name, error);
    operation->launch.run = NULL;
    operation_finish(operation);
    context_fail(context, driver_error);
}

static void begin(struct operation *operation, struct operation *before)
{
    struct context *context = operation->stream->context;
    operation->state = OPERATION_RUNS;
    switch (operation->kind) {
    case OPERATION_LAUNCH:
        submit(operation, before);
        return;
    case OPERATION_CALL:
        calls_add(operation);
        return;
    case OPERATION_COPY:
    case OPERATION_FILL:
        driver_unlock();
        if (operation->kind == OPERATION_COPY)
            copy(&operation->copy);
        else
            fill(&operation->fill);
        driver_lock();
        break;
    case OPERATION_RECORD:
        operation->mark->is_done = true;
        operation->mark->time_ns = wsdbg_gpu_time_ns(context->gpu);
        tell_of_mark();
        break;
    case OPERATION_FREE:
        memory_free(context, operation->address);
        break;
    case OPERATION_WRITE_VALUE:
        if (operation->value.bytes == 4)
            __atomic_store_n((uint32_t *)operation->value.address, (uint32_t)operation->value.value, __ATOMIC_RELEASE);
        else
            __atomic_store_n((uint64_t *)operation->value.address, operation->value.value, __ATOMIC_RELEASE);
        break;
    case OPERATION_WAIT_EVENT:
    case OPERATION_WAIT_VALUE:
        break;
    }
    operation_finish(operation);
}

/* Begins one operation of the stream; false when none can be. */
static bool begin_next(struct stream *stream)
{
    struct operation *before;
    struct operation *next = stream->context->failure ? NULL : find_next(stream, &before);
    if (next)
        begin(next, before);
    return next != NULL;
}

bool queue_begin(struct context *context)
{
    bool any = false;
    for (struct stream *stream = context->streams; stream;) {
        const bool began = begin_next(stream);
        any |= began;
        stream = began ? context->streams : stream->next; /* the list may have changed */
    }
    return any;
}

/* ---- what calls of the API do ---- */

CUresult queue_add(struct stream *stream, struct operation *operation)
{
    struct context *context = stream->context;
    if (stream->capture)
        return capture_operation(stream, operation);
    const CUresult implicit = capture_forbids_legacy(stream);
    if (implicit != CUDA_SUCCESS) {
        operation_destroy(operation);
        return implicit;
    }
    operation->stream = stream;
    operation->sequence = ++driver.sequence;
    if (stream->last)
        stream->last->next = operation;
    else
        stream->first = operation;
    stream->last = operation;
    stream->waiting++; /* keeps it while the lock is away */
    while (begin_next(stream))
        continue;
    stream->waiting--;
    queue_kick(context);
    return context->failure;
}

bool queue_is_idle(const struct stream *stream)
{
    return !stream->first;
}

static bool is_waited_for(const struct stream *stream, uint64_t sequence)
{
    return stream->first && stream->first->sequence <= sequence;
}

static CUresult state_of(const struct context *context)
{
    return context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : context->failure;
}

CUresult queue_wait(struct stream *stream)
{
    if (stream->capture)
        return capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    struct context *context = stream->context;
    const uint64_t sequence = driver.sequence;
    stream->waiting++;
    while (state_of(context) == CUDA_SUCCESS && is_waited_for(stream, sequence))
        driver_wait();
    stream->waiting--;
    pthread_cond_broadcast(&driver.progress);
    return state_of(context);
}

static bool any_is_waited_for(const struct context *context, uint64_t sequence)
{
    for (const struct stream *stream = context->streams; stream; stream = stream->next)
        if (is_waited_for(stream, sequence))
            return true;
    return false;
}

CUresult queue_wait_all(struct context *context)
{
    const CUresult forbidden = capture_forbids_waiting(context);
    if (forbidden != CUDA_SUCCESS)
        return forbidden;
    const uint64_t sequence = driver.sequence;
    context->everything->waiting++;
    while (state_of(context) == CUDA_SUCCESS && any_is_waited_for(context, sequence))
        driver_wait();
    context->everything->waiting--;
    pthread_cond_broadcast(&driver.progress);
    return state_of(context);
}

#define EACH_OPERATION(context, operation)                                                \
    for (const struct stream *stream = (context)->streams; stream; stream = stream->next) \
        for (const struct operation *operation = stream->first; operation; operation = operation->next)

bool queue_frees(const struct context *context, uint64_t address)
{
    EACH_OPERATION (context, operation)
        if (operation->kind == OPERATION_FREE && operation->address == address)
            return true;
    return false;
}

static bool is_used(const struct context *context, const struct wsdbg_gpu_module *module)
{
    EACH_OPERATION (context, operation)
        if (operation->kind == OPERATION_LAUNCH && operation->launch.launch.module == module)
            return true;
    return false;
}

CUresult queue_wait_for_module(struct context *context, const struct wsdbg_gpu_module *module)
{
    CUresult result = queue_wait_all(context);
    while (result == CUDA_SUCCESS && is_used(context, module)) /* another thread launched it meanwhile */
        result = queue_wait_all(context);
    return result;
}

CUresult queue_add_and_wait(struct stream *stream, struct operation *operation)
{
    stream->waiting++;
    CUresult result = queue_add(stream, operation);
    stream->waiting--;
    return result == CUDA_SUCCESS ? queue_wait(stream) : result;
}

/* ---- ends ---- */

/* The state of a launch whose operation is begun.  After a fault all launches are over; one of them says why. */
static void collect_launch(struct context *context, struct operation *operation)
{
    const enum wsdbg_grid_state state = wsdbg_gpu_state(operation->launch.run);
    if (state == WSDBG_GRID_FAULTED) {
        const struct wsdbg_gpu_fault *fault = wsdbg_gpu_fault(operation->launch.run);
        if (fault && !context->failure) {
            driver_say("%s", fault->text);
            context->failure = fault->driver_error;
        }
    } else if (state == WSDBG_GRID_DONE) {
        context->running--;
        operation_finish(operation);
    }
}

void queue_collect(struct context *context)
{
    for (struct stream *stream = context->streams; stream; stream = stream->next) {
        struct operation *next;
        for (struct operation *operation = stream->first;
             operation && operation->kind == OPERATION_LAUNCH && operation->state != OPERATION_WAITS;
             operation = next) {
            next = operation->next;
            if (operation->state == OPERATION_RUNS && operation->launch.run)
                collect_launch(context, operation);
        }
    }
}

/* Whoever does it now finishes it. */
static bool is_in_hand(const struct operation *operation)
{
    return operation->state == OPERATION_RUNS && (operation->kind != OPERATION_LAUNCH || !operation->launch.run);
}

static void give_up(struct context *context, struct operation *operation)
{
    if (operation->kind == OPERATION_LAUNCH && operation->launch.run)
        wsdbg_gpu_forget(context->gpu, operation->launch.run);
    if (operation->kind == OPERATION_RECORD) {
        operation->mark->is_lost = true;
        tell_of_mark();
    }
    operation_destroy(operation);
}

static void drop_stream(struct stream *stream)
{
    struct operation *operation = stream->first, *next;
    stream->first = stream->last = NULL;
    for (; operation; operation = next) {
        next = operation->next;
        operation->next = NULL;
        /* A callback is told of the failure, a host function is not called. */
        if (operation->state == OPERATION_WAITS && operation->kind == OPERATION_CALL && operation->call.callback) {
            operation->state = OPERATION_RUNS;
            calls_add(operation);
        }
        if (!is_in_hand(operation)) {
            give_up(stream->context, operation);
            continue;
        }
        if (stream->last)
            stream->last->next = operation;
        else
            stream->first = operation;
        stream->last = operation;
    }
}

void queue_drop(struct context *context)
{
    for (struct stream *stream = context->streams; stream; stream = stream->next)
        drop_stream(stream);
    context->running = 0;
    pthread_cond_broadcast(&driver.progress);
}

void context_fail(struct context *context, CUresult error)
{
    if (!context->failure)
        context->failure = error;
    queue_drop(context);
    queue_kick(context);
}
