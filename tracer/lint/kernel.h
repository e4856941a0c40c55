/* kernel.h - what a rule reads of one kernel.  What is costly is made when a rule first asks for it.
 *
 * Everything handed out is the kernel's and holds until its rules are through.  One thread.
 */
#ifndef WSDBG_LINT_KERNEL_H
#define WSDBG_LINT_KERNEL_H

#include "lint/finding.h"
#include "lint/module.h"
#include "lint/scan.h"
#include "sass/access.h"
#include "sass/graph.h"

/* Launch facts, from the cubin or else from the PTX's directives; 0 = not said. */
struct wsdbg_lint_launch {
    uint32_t threads_most;        /* of a CTA, in all: .maxntid */
    uint32_t threads_required;    /* .reqntid */
    bool is_one_dimensional;      /* y and z of the size that is known are 1 */
    uint32_t blocks_per_sm_least; /* .minnctapersm: PTX alone has it */
    uint32_t cluster[3];
    uint32_t registers;      /* a thread has at launch, as the compiler counted: rounded up to 8 they are allocated */
    uint32_t registers_most; /* what the compiler was held to */
    uint64_t shared_bytes;   /* static, with what the system keeps */
    uint32_t stack_bytes;
};

struct wsdbg_lint_parts; /* kernel.c's */

struct wsdbg_lint_kernel {
    struct wsdbg_lint_module *module;
    const char *symbol;                          /* as the linker sees it */
    char name[512];                              /* as its author wrote it, as far as that can be told */
    const struct wsdbg_cubin_function *function; /* NULL: PTX alone */
    unsigned code_interests; /* enum wsdbg_lint_interest: what the machine code holds; 0 of PTX alone */
    unsigned ptx_interests;  /* what the PTX of the whole module holds, perhaps in other kernels */
    struct wsdbg_lint_launch launch;
    struct wsdbg_lint_parts *parts;
};

/* The control flow of the machine code.  Only of kernels with a `function`. */
struct wsdbg_error *wsdbg_lint_graph(struct wsdbg_lint_kernel *kernel, const struct wsdbg_graph **out);
/* Its waits, arrivals and the like, with the operands as far as they follow from the code. */
struct wsdbg_error *wsdbg_lint_accesses(struct wsdbg_lint_kernel *kernel, const struct wsdbg_access **out,
                                        size_t *count);
/* What is known of the launch, for the functions of sass/: the CTA's size where .reqntid says it. */
const struct wsdbg_launch_values *wsdbg_lint_launch_values(struct wsdbg_lint_kernel *kernel);
/* The PTX of the same module and the kernel in it; both NULL where there is none, or it has not this kernel. */
void wsdbg_lint_ptx(struct wsdbg_lint_kernel *kernel, const struct wsdbg_ptx_program **program,
                    const struct wsdbg_ptx_function **function);

/* Places.  That of an instruction of the machine code, by its number in the graph; of one of the PTX, by its number in
 * the program, with the source's line where the PTX or the cubin's tables say it; of the kernel as a whole. */
struct wsdbg_lint_place wsdbg_lint_place_of_code(struct wsdbg_lint_kernel *kernel, uint32_t instruction);
struct wsdbg_lint_place wsdbg_lint_place_of_ptx(struct wsdbg_lint_kernel *kernel, uint32_t instruction);
struct wsdbg_lint_place wsdbg_lint_place_of_kernel(void);

/* Made by lint.c.  A symbol of a function in the module's cubin, or with function NULL one in its PTX. */
struct wsdbg_error *wsdbg_lint_kernel_open(struct wsdbg_lint_module *module,
                                           const struct wsdbg_cubin_function *function,
                                           const struct wsdbg_ptx_function *ptx, struct wsdbg_lint_kernel *out);
void wsdbg_lint_kernel_close(struct wsdbg_lint_kernel *kernel);

#endif
