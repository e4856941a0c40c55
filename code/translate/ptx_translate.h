/* ptx_translate.h - a PTX kernel in the words of machine code, instruction by instruction, so that what reads machine
 * code (control flow, values of operands, loops that poll) reads it too.
 */
#ifndef WSDBG_TRANSLATE_PTX_TRANSLATE_H
#define WSDBG_TRANSLATE_PTX_TRANSLATE_H

#include "translate/ptx_registers.h"

/* Where a kernel's parameters begin in constant bank 0; the CTA's threads in x, y, z are its first words. */
#define WSDBG_PTX_PARAMETERS 0x210u

/* Special registers of PTX that machine code has none for: their numbers are above all of its own. */
enum {
    WSDBG_SPECIAL_CLUSTER_X = 0x100,
    WSDBG_SPECIAL_CLUSTERS_X = WSDBG_SPECIAL_CLUSTER_X + 3,
    WSDBG_SPECIAL_CTA_OF_CLUSTER_X = WSDBG_SPECIAL_CLUSTERS_X + 3,
    WSDBG_SPECIAL_CLUSTER_SIZE_X = WSDBG_SPECIAL_CTA_OF_CLUSTER_X + 3,
    WSDBG_SPECIAL_CLUSTER_CTAS = WSDBG_SPECIAL_CLUSTER_SIZE_X + 3,
    WSDBG_SPECIAL_END
};

/* Instruction `index` of the program, one of the function's.  What has no counterpart keeps what it writes, and has no
 * sources.  `shared_first`: address of the CTA's shared memory. */
void wsdbg_ptx_translate(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                         const struct wsdbg_ptx_registers *registers, uint32_t shared_first, uint32_t index,
                         struct wsdbg_instruction *out);

#endif
