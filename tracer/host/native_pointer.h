/* native_pointer.h - the frame pointer of a frame that was compiled with one, where no inner frame has saved it. */
#ifndef WSDBG_HOST_NATIVE_POINTER_H
#define WSDBG_HOST_NATIVE_POINTER_H

#include <elfutils/libdw.h>

#include "host/process_memory.h"

struct wsdbg_native_body {
    Dwarf_CFI *cfi;
    uint64_t address; /* in the file, of the instruction that runs or has called */
    uint64_t bias;    /* the process's address less the file's */
    uint64_t sp;      /* there */
};

/* Computes rbp from the size that the function's first instructions give its frame.  It counts only if a return address
 * lies where the frame's then is, and the call before it leads to this very function.  False: not known. */
bool wsdbg_native_find_pointer(struct wsdbg_host_memory *memory, const struct wsdbg_native_body *body, uint64_t *out);

#endif
