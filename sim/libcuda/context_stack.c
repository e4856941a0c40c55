/* context_stack.c - the contexts of the calling thread: a stack, the last one is current; and contexts found by handle.
 *
 * Reads and writes: thread-local stacks, which may hold contexts that were destroyed.
 */
#include <stdatomic.h>

#include "libcuda/context.h"

/* The last one is current. */
static _Thread_local struct context *stack[DRIVER_CONTEXT_STACK];
static _Thread_local unsigned stack_depth;
static _Thread_local uint64_t thread_number;
static atomic_uint_least64_t threads_seen;

struct context *context_current(void)
{
    return stack_depth ? stack[stack_depth - 1] : NULL;
}

uint64_t context_thread(void)
{
    if (!thread_number)
        thread_number = atomic_fetch_add(&threads_seen, 1) + 1;
    return thread_number;
}

bool context_stack_is_full(void)
{
    return stack_depth == DRIVER_CONTEXT_STACK;
}

bool context_push(struct context *context)
{
    if (context_stack_is_full())
        return false;
    stack[stack_depth++] = context;
    return true;
}

void context_pop(void)
{
    stack_depth -= stack_depth > 0;
}

CUresult context_find(CUcontext handle, struct context **out)
{
    struct context *context = handle ? handle : context_current();
    if (!context || !handle_is(&driver.handles, context, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->is_destroyed)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *out = context;
    return CUDA_SUCCESS;
}
