/* thread_read.h - one thread: what it does, its Python frames, its native ones.
 *
 * A thread that sleeps in the kernel all the time has one stack, which is read once.  Any other one is read twice, and
 * what both readings have counts.  If it stays where it is, it gets some time to fall asleep (patience_ms).
 */
#ifndef WSDBG_HOST_THREAD_READ_H
#define WSDBG_HOST_THREAD_READ_H

#include "host/native_unwind.h"
#include "host/thread_choice.h"

enum { WSDBG_HOST_PYTHON_ROWS = WSDBG_PYTHON_INNER_FRAMES + WSDBG_PYTHON_OUTER_FRAMES + 1 };

/* What is read from; python and codes are NULL where there is no interpreter. */
struct wsdbg_host_reader {
    pid_t process;
    struct wsdbg_host_memory *memory;
    struct wsdbg_host_modules *modules;
    const struct wsdbg_python *python;
    struct wsdbg_python_codes *codes;
    unsigned *patience_ms; /* left to wait until threads sleep; all threads of the process share it */
};

/* A frame as it goes into the snapshot. */
struct wsdbg_host_python_row {
    struct wsdbg_host_frame frame;
    bool is_entry; /* C called it */
};

struct wsdbg_host_thread_picture {
    bool is_gone; /* the thread has ended: nothing else holds */
    enum wsdbg_host_motion motion;
    long system_call;                                            /* -1 = none, or not known */
    struct wsdbg_host_python_row python[WSDBG_HOST_PYTHON_ROWS]; /* innermost first */
    size_t python_count;
    const char *python_end;           /* why it is not whole, NULL = it is */
    struct wsdbg_native_stack native; /* none where the thread was not asleep */
};

/* A Python frame with the names and the line that its code has now. */
struct wsdbg_host_python_row wsdbg_host_python_row(const struct wsdbg_host_reader *reader,
                                                   const struct wsdbg_python_frame *frame);

/* The picture is large: the caller keeps one for all threads. */
void wsdbg_host_thread_read(const struct wsdbg_host_reader *reader, const struct wsdbg_host_choice *choice,
                            struct wsdbg_host_thread_picture *out);

#endif
