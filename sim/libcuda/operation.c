/* operation.c - operations and marks: made, and taken off their streams when they are done.
 *
 * Reads and writes: streams' lists.  Tells those who wait, and the context's thread.
 */
#include "libcuda/operation.h"

#include <stdlib.h>
#include <string.h>

struct mark *mark_create(void)
{
    struct mark *mark = calloc(1, sizeof *mark);
    if (mark)
        mark->users = 1;
    return mark;
}

void mark_release(struct mark *mark)
{
    if (mark && --mark->users == 0)
        free(mark);
}

void queue_kick(struct context *context)
{
    context->kicks++;
    pthread_cond_signal(&context->work);
}

struct operation *operation_create(enum operation_kind kind)
{
    struct operation *operation = calloc(1, sizeof *operation);
    if (operation)
        operation->kind = kind;
    return operation;
}

struct operation *operation_copy(const struct operation *operation)
{
    struct operation *copy = operation_create(operation->kind);
    if (!copy)
        return NULL;
    *copy = (struct operation){.kind = operation->kind};
    if (operation->kind == OPERATION_LAUNCH) {
        const size_t byte_count = (size_t)operation->launch.function->code->parameter_bytes + 1;
        copy->launch = operation->launch;
        copy->launch.parameters = malloc(byte_count);
        copy->launch.launch.parameters = copy->launch.parameters;
        if (copy->launch.parameters)
            memcpy(copy->launch.parameters, operation->launch.parameters, byte_count);
    } else if (operation->kind == OPERATION_COPY) {
        copy->copy = operation->copy;
    } else if (operation->kind == OPERATION_FILL) {
        copy->fill = operation->fill;
    } else if (operation->kind == OPERATION_CALL) {
        copy->call = operation->call;
    } else {
        copy->value = operation->value;
    }
    if (operation->kind == OPERATION_LAUNCH && !copy->launch.parameters) {
        operation_destroy(copy);
        return NULL;
    }
    return copy;
}

void operation_destroy(struct operation *operation)
{
    if (!operation)
        return;
    if (operation->kind == OPERATION_LAUNCH)
        free(operation->launch.parameters);
    else if (operation->kind == OPERATION_COPY)
        free(operation->copy.staged);
    else if (operation->kind == OPERATION_RECORD || operation->kind == OPERATION_WAIT_EVENT)
        mark_release(operation->mark);
    free(operation);
}

void operation_finish(struct operation *operation)
{
    struct stream *stream = operation->stream;
    operation->state = OPERATION_DONE;
    while (stream->first && stream->first->state == OPERATION_DONE) {
        struct operation *first = stream->first;
        stream->first = first->next;
        if (!stream->first)
            stream->last = NULL;
        if (first->kind == OPERATION_LAUNCH && first->launch.run)
            wsdbg_gpu_forget(stream->context->gpu, first->launch.run);
        operation_destroy(first);
    }
    pthread_cond_broadcast(&driver.progress);
    queue_kick(stream->context);
}
