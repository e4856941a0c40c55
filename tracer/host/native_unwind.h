/* native_unwind.h - the native frames of a thread, from its program counter and stack pointer.
 *
 * A thread that sleeps in the kernel tells no other register.  One that a frame needs and that no inner frame has saved
 * is not known; the stack ends there, and says so.  A launch site has the other registers too, and only a piece of the
 * stack.
 */
#ifndef WSDBG_HOST_NATIVE_UNWIND_H
#define WSDBG_HOST_NATIVE_UNWIND_H

#include "host/native_modules.h"

enum { WSDBG_NATIVE_FRAMES_MAX = 128 };

struct wsdbg_native_frame {
    uint64_t pc;
    uint64_t address; /* in the file: of the instruction that runs or has called */
    uint32_t file;    /* in the maps' files */
    uint64_t cfa;     /* below it lies the return address; 0 = not known */
};

struct wsdbg_native_stack {
    struct wsdbg_native_frame frames[WSDBG_NATIVE_FRAMES_MAX]; /* innermost first */
    size_t count;
    const char *end; /* why it is not whole, NULL = it is */
};

/* Where to begin. */
struct wsdbg_native_start {
    uint64_t pc, sp;
    const uint64_t *kept; /* rbx, rbp, r12, r13, r14, r15; NULL = not known */
    uint64_t stack_end;   /* the stack is known below this address; 0 = all of it is */
};

void wsdbg_native_unwind(struct wsdbg_host_modules *modules, struct wsdbg_host_memory *memory,
                         const struct wsdbg_native_start *start, struct wsdbg_native_stack *out);

#endif
