/* ptx_registers.h - numbers for the registers of a PTX kernel that matter to its barriers and its control flow, as few
 * as machine code has.
 */
#ifndef WSDBG_TRANSLATE_PTX_REGISTERS_H
#define WSDBG_TRANSLATE_PTX_REGISTERS_H

#include "base/error.h"
#include "ptx/program.h"
#include "sass/definitions.h"

struct wsdbg_ptx_registers {
    struct wsdbg_ptx_number {
        uint8_t kind; /* enum wsdbg_operand_kind: REGISTER, PREDICATE, UNIFORM_PREDICATE; NONE = it has no number */
        uint16_t number;
    } * numbers; /* by register of the kernel */
    uint32_t count;
    uint32_t own_end;      /* the first instruction behind the kernel's own ones: of functions that it calls */
    bool is_local_private; /* only loads and stores of local memory get at it */
};

/* What no register has: a predicate that nothing writes. */
#define WSDBG_PTX_UNKNOWN_PREDICATE (WSDBG_PT - 1)

/* Gives numbers to the registers that addresses of barriers, their counts and branches are made of; of a register of 64
 * bits the number stands for the low half.  Two that are never needed at the same time may have the same. */
struct wsdbg_error *wsdbg_ptx_registers_create(const struct wsdbg_ptx_program *program,
                                               const struct wsdbg_ptx_function *function,
                                               struct wsdbg_ptx_registers *out);
void wsdbg_ptx_registers_destroy(struct wsdbg_ptx_registers *registers);

/* Whether the instruction waits or signals: its operands and its guard matter. */
bool wsdbg_ptx_is_access(uint16_t operation);
#endif
