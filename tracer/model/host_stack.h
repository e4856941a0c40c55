/* host_stack.h - a host thread's stack in a line, and the thread in a few words. */
#ifndef WSDBG_MODEL_HOST_STACK_H
#define WSDBG_MODEL_HOST_STACK_H

#include "model/snapshot.h"

enum { WSDBG_HOST_STACK_TEXT_BYTES = 1536, WSDBG_HOST_THREAD_TEXT_BYTES = 320, WSDBG_HOST_MOTION_TEXT_BYTES = 48 };

/* The waiting call that a thread is inside, as the observer saw it; "" = none. */
const char *wsdbg_host_call_of(const struct wsdbg_host_thread *threads, size_t count, uint32_t process_id,
                               uint32_t thread_id);

/* "main thread of process 4711", "thread 4720 (pin_memory) of rank 1"; `process` as wsdbg_process_short_text has it. */
void wsdbg_host_thread_text(const char *process, bool is_main, const struct wsdbg_host_stack *stack, char *out,
                            size_t bytes);
/* ", sleeps in futex", ", runs", "" where it is not known. */
void wsdbg_host_motion_text(const struct wsdbg_host_stack *stack, char *out, size_t bytes);
/* Whether both threads are of one process, do the same, and have the same frames. */
bool wsdbg_host_stacks_are_alike(const struct wsdbg_host_stack *a, const struct wsdbg_host_stack *b,
                                 const struct wsdbg_host_frame *frames);

/* "train.py:12 in step", "cudaStreamSynchronize", "libfoo.so+0x1a0", "9876 frames". */
void wsdbg_host_frame_text(const struct wsdbg_host_frame *frame, char *out, size_t bytes);

/* Whether the stack is that of the main thread of the process with this number. */
bool wsdbg_host_stack_is_main(const struct wsdbg_snapshot *snapshot, const struct wsdbg_host_stack *stack,
                              uint32_t process_id);
/* The innermost Python frame of a process's main thread (row in snapshot.processes); "" = none.  False: the stack is
 * not known as a whole, so there may be one. */
bool wsdbg_host_python_line(const struct wsdbg_snapshot *snapshot, uint32_t process, char *out, size_t bytes);

/* The stack from the outside in: "train.py:40 in <module> > train.py:12 in step > cuStreamSynchronize".  Of a long one
 * the middle is left out.  call: wsdbg_host_call_of(); it stands where wsdbg's own frames are, else at the end.  Native
 * frames without a name are left out where others have one. */
void wsdbg_host_stack_text(const struct wsdbg_host_stack *stack, const struct wsdbg_host_frame *frames,
                           const char *call, char *out, size_t bytes);

/* The same from the inside out, for a line that is cut at its end: "cuStreamSynchronize < train.py:12 in step < …". */
void wsdbg_host_stack_levels(const struct wsdbg_host_stack *stack, const struct wsdbg_host_frame *frames,
                             const char *call, char *out, size_t bytes);

/* Whether a frame is in a library of wsdbg's. */
bool wsdbg_host_frame_is_ours(const struct wsdbg_host_frame *frame);
/* Whether it is in one of the libraries that stand for the driver and the CUDA runtime on the simulator. */
bool wsdbg_host_frame_is_simulators(const struct wsdbg_host_frame *frame);
/* Whether it is a function of the C library that starts every program or thread. */
bool wsdbg_host_frame_is_start(const struct wsdbg_host_frame *frame);

#endif
