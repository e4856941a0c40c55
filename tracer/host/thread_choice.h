/* thread_choice.h - which threads of a process are read: the main one, those inside a waiting call, those that run
 * Python. */
#ifndef WSDBG_HOST_THREAD_CHOICE_H
#define WSDBG_HOST_THREAD_CHOICE_H

#include "host/process_threads.h"
#include "host/python_stack.h"

enum { WSDBG_HOST_STACKS_MAX = 64 };

struct wsdbg_host_choice {
    uint32_t thread_id;
    bool has_python; /* the interpreter knows it: */
    struct wsdbg_python_thread python;
};

struct wsdbg_host_choices {
    struct wsdbg_host_choice rows[WSDBG_HOST_STACKS_MAX];
    size_t count;
    uint64_t left_out; /* threads that matter and for which there is no room */
};

/* threads: all of the process, ascending.  waiting: those inside a call, as the observer knows.  python: those of the
 * interpreter. */
void wsdbg_host_choose(uint32_t process_id, const uint32_t *threads, size_t thread_count, const uint32_t *waiting,
                       size_t waiting_count, const struct wsdbg_python_thread *python, size_t python_count,
                       struct wsdbg_host_choices *out);

/* The kernel's number of a Python thread, one of `threads`; 0 = not known.  CPython before 3.11 keeps only the
 * pthread_t: the C library's own struct of the thread, which has the number. */
uint32_t wsdbg_python_thread_number(const struct wsdbg_python_thread *thread, struct wsdbg_host_memory *memory,
                                    const uint32_t *threads, size_t thread_count);

#endif
