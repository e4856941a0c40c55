/* native_unwind.h - the native frames of a thread, from its program counter and stack pointer alone.
 *
 * A thread that sleeps in the kernel tells no other register.  One that a frame needs and that no inner frame has saved
 * is not known; the stack ends there, and says so.
 */
#ifndef WSDBG_HOST_NATIVE_UNWIND_H
#define WSDBG_HOST_NATIVE_UNWIND_H

#include "host/native_modules.h"

enum { WSDBG_NATIVE_FRAMES_MAX = 128 };

struct wsdbg_native_frame {
    uint64_t pc;
    uint64_t address; /* in the file: of the instruction that runs or has called */
    uint32_t file;    /* in the maps' files */
};

struct wsdbg_native_stack {
    struct wsdbg_native_frame frames[WSDBG_NATIVE_FRAMES_MAX]; /* innermost first */
    size_t count;
    const char *end; /* why it is not whole, NULL = it is */
};

void wsdbg_native_unwind(struct wsdbg_host_modules *modules, struct wsdbg_host_memory *memory, uint64_t pc, uint64_t sp,
                         struct wsdbg_native_stack *out);

#endif
