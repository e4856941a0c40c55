/* thread_choice.c - see thread_choice.h.  Reads: lists of threads, structs of the C library.  Writes: nothing. */
#include "host/thread_choice.h"

/* glibc on x86-64: a thread's struct begins with a pointer to itself, and has another one and the kernel's number at
 * places that have not changed since 2.4. */
enum { GLIBC_SELF = 16, GLIBC_NUMBER = 720 };

static uint32_t number_by_pthread(uint64_t pthread, struct wsdbg_host_memory *memory)
{
    uint64_t first, self;
    uint32_t number;
    if (!wsdbg_host_read_word(memory, pthread, &first) || first != pthread ||
        !wsdbg_host_read_word(memory, pthread + GLIBC_SELF, &self) || self != pthread ||
        !wsdbg_host_read(memory, pthread + GLIBC_NUMBER, &number, sizeof number))
        return 0;
    return number;
}

/* A child of fork() may have the number that its parent's thread had. */
uint32_t wsdbg_python_thread_number(const struct wsdbg_python_thread *thread, struct wsdbg_host_memory *memory,
                                    const uint32_t *threads, size_t thread_count)
{
    if (thread->thread_id && wsdbg_host_threads_have(threads, thread_count, thread->thread_id))
        return thread->thread_id;
    const uint32_t number = number_by_pthread(thread->pthread, memory);
    return wsdbg_host_threads_have(threads, thread_count, number) ? number : 0;
}

static void choose(struct wsdbg_host_choices *out, uint32_t thread_id)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->rows[i].thread_id == thread_id)
            return;
    if (out->count < WSDBG_HOST_STACKS_MAX)
        out->rows[out->count++] = (struct wsdbg_host_choice){.thread_id = thread_id};
    else
        out->left_out++;
}

/* Of several interpreters one runs on a thread at a time: the state that has frames counts. */
static void give_python(struct wsdbg_host_choices *out, const struct wsdbg_python_thread *thread)
{
    for (size_t i = 0; i < out->count; i++) {
        struct wsdbg_host_choice *row = &out->rows[i];
        if (row->thread_id == thread->thread_id && (!row->has_python || !row->python.frame)) {
            row->has_python = true;
            row->python = *thread;
        }
    }
}

void wsdbg_host_choose(uint32_t process_id, const uint32_t *threads, size_t thread_count, const uint32_t *waiting,
                       size_t waiting_count, const struct wsdbg_python_thread *python, size_t python_count,
                       struct wsdbg_host_choices *out)
{
    out->count = 0;
    out->left_out = 0;
    if (wsdbg_host_threads_have(threads, thread_count, process_id))
        choose(out, process_id);
    for (size_t i = 0; i < waiting_count; i++)
        if (wsdbg_host_threads_have(threads, thread_count, waiting[i]))
            choose(out, waiting[i]);
    for (size_t i = 0; i < python_count; i++)
        if (python[i].frame && python[i].thread_id)
            choose(out, python[i].thread_id);
    for (size_t i = 0; i < python_count; i++)
        if (python[i].thread_id)
            give_python(out, &python[i]);
}
