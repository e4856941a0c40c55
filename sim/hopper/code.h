/* code.h - a module's instructions, prepared for execution: executors found, operands turned into places.
 *
 * Made by: prepare.c, once a module.  Read by: step.c (every step), operand.c, the executors.
 * A place is where 32 values lie: an offset, and which of the step's bases it is from.  An immediate lies in the code's
 * constants 64 bits wide and, HOPPER_CONSTANT_32 behind it, 32 bits wide; what a lane's place, thread or CTA decides
 * (special registers, addresses of shared variables) is computed into the scratch base before the instruction, in both
 * widths as well.
 */
#ifndef WSDBG_HOPPER_CODE_H
#define WSDBG_HOPPER_CODE_H

#include "hopper/execute.h"

enum hopper_base { HOPPER_OF_WARP, HOPPER_OF_CODE, HOPPER_OF_STEP, HOPPER_BASES = 4 /* a place has two bits for it */ };
#define HOPPER_BASE_SHIFT 30
#define HOPPER_PLACE_WIDE (1u << 29) /* a 64-bit register's */
#define HOPPER_OFFSET_MASK (HOPPER_PLACE_WIDE - 1)
enum {
    HOPPER_BYTES_32 = 4 * HOPPER_LANES,
    HOPPER_BYTES_64 = 8 * HOPPER_LANES,
    HOPPER_CONSTANT_32 = HOPPER_BYTES_64,
    HOPPER_CONSTANT_BYTES = HOPPER_BYTES_64 + HOPPER_BYTES_32
};

/* Where a kernel's registers lie in a warp. */
struct hopper_registers {
    const struct wsdbg_ptx_function *function;
    uint32_t *offsets;
    uint32_t byte_count;
    struct hopper_clock_uses *clocks; /* NULL = it reads no clock; see clock.h */
};

typedef enum hopper_outcome hopper_executor(struct hopper_step *step);

struct hopper_op {
    hopper_executor *execute;
    const struct hopper_registers *frame;
    const struct wsdbg_ptx_instruction *instruction;
    uint32_t guard;       /* offset of the predicate, NONE = always */
    uint32_t guard_flips; /* all ones: where it is false */
    bool is_last;         /* of its function: going on means to return */
    bool has_scratch;
    bool clock_matters; /* a clock decides what it does: see clock.h */
    bool is_plain;                           /* it computes or loads: it touches no other lanes, and wakes nobody */
    uint8_t type_bytes;                      /* of the instruction's type */
    uint8_t lane_bytes;                      /* of ld and st whose values are as wide as their registers; 0 else */
    uint8_t probe;                           /* enum hopper_probe_class */
    uint8_t wide;                            /* bit n: operand n is a 64-bit register */
    uint32_t places[WSDBG_PTX_OPERANDS_MAX]; /* of an ADDRESS: its base register's; NONE = no values */
};

struct hopper_code {
    const struct wsdbg_ptx_program *program;
    struct hopper_op *ops;           /* one an instruction */
    uint32_t *vector_places;         /* of the elements in program->vectors */
    struct hopper_registers *frames; /* one a function */
    unsigned char *constants;
    size_t constant_bytes;
    bool uses_groups_memory;                /* an instruction reads %reserved_smem_offset_1 */
    uint64_t global_address, const_address; /* where the module's variables lie */
};

#endif
