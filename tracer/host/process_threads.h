/* process_threads.h - the threads of a process, and what each of them does in the kernel, as /proc tells. */
#ifndef WSDBG_HOST_PROCESS_THREADS_H
#define WSDBG_HOST_PROCESS_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WSDBG_HOST_THREADS_MAX = 65536, WSDBG_HOST_THREAD_NAME_BYTES = 16 };

/* Thread ids, ascending, WSDBG_HOST_THREADS_MAX at most; *count of them in *out, which the caller frees.  0, or an
 * errno. */
int wsdbg_host_threads_list(pid_t process, uint32_t **out, size_t *count);
bool wsdbg_host_threads_have(const uint32_t *threads, size_t count, uint32_t thread);

/* What a thread did at one moment. */
struct wsdbg_host_moment {
    bool known;      /* false: the thread is gone, or its file may not be read */
    bool in_kernel;  /* it sleeps there; false: it runs, or can */
    long call;       /* number of the system call, -1 = none (as a page fault) */
    uint64_t sp, pc; /* of the program, where it is in the kernel */
    uint64_t turns;  /* how often it has got a processor; 0 = not told */
    int error;       /* errno, where not known */
};
struct wsdbg_host_moment wsdbg_host_moment_of(pid_t process, uint32_t thread);
/* Whether the thread ran nothing of the program in between: its stack is the same at both moments. */
bool wsdbg_host_moments_are_one(const struct wsdbg_host_moment *before, const struct wsdbg_host_moment *after);

/* The thread's name, "" = not known. */
void wsdbg_host_thread_name(pid_t process, uint32_t thread, char out[WSDBG_HOST_THREAD_NAME_BYTES]);
/* "futex", "poll", …; a call that is not known by name as "system call 123".  A number below 0 gives "". */
void wsdbg_host_call_name(long number, char *out, size_t bytes);

#endif
