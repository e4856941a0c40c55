/* code_parts.h - the modules and kernels that struct wsdbg_code keeps, for its files: code.c reads modules and finds
 * instructions, code_kernels.c finds out what the threads of a kernel do.
 */
#ifndef WSDBG_MACHINE_CODE_PARTS_H
#define WSDBG_MACHINE_CODE_PARTS_H

#include "machine/code.h"

struct wsdbg_code_module {
    uint64_t context, handle;
    unsigned char *bytes;
    size_t byte_count;
    struct wsdbg_cubin *cubin;  /* NULL = not readable, or no machine code: */
    struct wsdbg_ptx_code *ptx; /* NULL likewise */
    uint32_t architecture;      /* of the machine code, 90 = sm_90; 0 = not known */
    struct wsdbg_lines *lines;
    bool lines_tried;
    struct wsdbg_code_function *functions; /* with an address, ordered by it */
    size_t function_count;
    uint64_t compared; /* the look it was last compared in */
    char reason[160];  /* why it is not readable */
};

struct wsdbg_code {
    struct wsdbg_code_module **modules;
    size_t module_count, module_capacity;
    struct wsdbg_code_kernel **kernels;
    size_t kernel_count, kernel_capacity;
    uint64_t look;
};

void wsdbg_code_free_kernel(struct wsdbg_code_kernel *kernel);

#endif
