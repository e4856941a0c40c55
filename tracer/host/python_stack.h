/* python_stack.h - the Python threads of a process, and the frames of each. */
#ifndef WSDBG_HOST_PYTHON_STACK_H
#define WSDBG_HOST_PYTHON_STACK_H

#include "host/python_code.h"

/* A thread as the interpreter knows it. */
struct wsdbg_python_thread {
    uint64_t state;       /* address */
    uint64_t interpreter; /* whose it is */
    uint64_t pthread;     /* pthread_t */
    uint32_t thread_id;   /* the kernel's number; 0 = the interpreter does not keep it */
    uint64_t frame;       /* the innermost one, 0 = it runs no Python */
};

/* All threads of all interpreters, `most` at most; returns how many.  *end: why there may be more, NULL = these are
 * all. */
size_t wsdbg_python_threads(const struct wsdbg_python *python, struct wsdbg_host_memory *memory,
                            struct wsdbg_python_thread *out, size_t most, const char **end);

/* The innermost frame of a thread as it is now, 0 = it runs no Python.  False: the thread is not there any more. */
bool wsdbg_python_thread_frame(const struct wsdbg_python *python, struct wsdbg_host_memory *memory,
                               const struct wsdbg_python_thread *thread, uint64_t *out);

struct wsdbg_python_frame {
    uint64_t address, code;
    int64_t offset_bytes; /* of the instruction in the code; below 0: it has not begun */
    bool is_entry;        /* C called it: what is further out belongs to another run of the interpreter */
};

enum { WSDBG_PYTHON_INNER_FRAMES = 96, WSDBG_PYTHON_OUTER_FRAMES = 32 };

/* The innermost frames and the outermost ones; those between them are counted. */
struct wsdbg_python_stack {
    struct wsdbg_python_frame frames[WSDBG_PYTHON_INNER_FRAMES + WSDBG_PYTHON_OUTER_FRAMES]; /* innermost first */
    size_t count;
    uint64_t left_out; /* behind the first WSDBG_PYTHON_INNER_FRAMES */
    const char *end;   /* why it is not whole, NULL = it is */
};

/* As it is at this moment, which is one moment only if the thread does not run: read twice and compare. */
void wsdbg_python_stack_read(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, uint64_t frame,
                             struct wsdbg_python_stack *out);
/* Where an instruction of the frame's code is: *offset_bytes from the code's first one.  instruction: as the frame has
 * it, a pointer or an index.  copy: which copy of the code runs, 0 = there is one.  False: it could not be read. */
bool wsdbg_python_offset(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, uint64_t code,
                         uint32_t copy, uint64_t instruction, int64_t *offset_bytes);
/* What two readings of a thread have in common, from the outermost frame on. */
struct wsdbg_python_agreement {
    size_t frames;   /* that are the same */
    bool goes_on_in; /* the next frame is the same too, but for the instruction in it */
    bool all;        /* both are whole and alike */
};
/* None where one of them is not whole. */
struct wsdbg_python_agreement wsdbg_python_stacks_agree(const struct wsdbg_python_stack *a,
                                                        const struct wsdbg_python_stack *b);

#endif
