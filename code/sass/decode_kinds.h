/* decode_kinds.h - an operand of each kind, made of its numbers.  Private to decode_operands.c. */
#ifndef WSDBG_SASS_DECODE_KINDS_H
#define WSDBG_SASS_DECODE_KINDS_H

#include "sass/decode_form.h"

#define REGISTER_BYTES 4

static inline int64_t signed_bits(const struct wsdbg_instruction *in, unsigned first, unsigned count)
{
    const uint32_t value = bits(in, first, count), sign = 1u << (count - 1);
    return (int64_t)(value ^ sign) - (int64_t)sign;
}

static inline struct wsdbg_operand general(uint32_t number, unsigned registers)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_REGISTER,
                                  .number = (uint8_t)number,
                                  .uniform = WSDBG_URZ,
                                  .registers = (uint8_t)registers};
}

static inline struct wsdbg_operand uniform(uint32_t number, unsigned registers)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_UNIFORM,
                                  .number = (uint8_t)number,
                                  .uniform = WSDBG_URZ,
                                  .registers = (uint8_t)registers};
}

static inline struct wsdbg_operand predicate(uint32_t number, bool is_negated, bool is_uniform)
{
    return (struct wsdbg_operand){.kind = is_uniform ? WSDBG_OPERAND_UNIFORM_PREDICATE : WSDBG_OPERAND_PREDICATE,
                                  .number = (uint8_t)number,
                                  .uniform = WSDBG_URZ,
                                  .registers = 1,
                                  .is_negated = is_negated};
}

static inline struct wsdbg_operand number(int64_t value)
{
    return (struct wsdbg_operand){
        .kind = WSDBG_OPERAND_IMMEDIATE, .number = WSDBG_RZ, .uniform = WSDBG_URZ, .registers = 1, .value = value};
}

static inline struct wsdbg_operand memory(uint32_t base, uint32_t uniform_base, int64_t offset, unsigned registers)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_MEMORY,
                                  .number = (uint8_t)base,
                                  .uniform = (uint8_t)uniform_base,
                                  .registers = (uint8_t)registers,
                                  .value = offset};
}

static inline struct wsdbg_operand constant(const struct wsdbg_instruction *in, uint32_t base, unsigned registers)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_CONSTANT,
                                  .number = (uint8_t)base,
                                  .uniform = WSDBG_URZ,
                                  .bank = (uint8_t)bits(in, 54, 5),
                                  .registers = (uint8_t)registers,
                                  .value = bits(in, 38, 16)};
}

static inline unsigned registers_of_bytes(unsigned byte_count)
{
    return byte_count > REGISTER_BYTES ? byte_count / REGISTER_BYTES : 1;
}

#endif
