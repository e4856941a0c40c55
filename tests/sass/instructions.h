/* instructions.h - instructions of machine code that tests write by hand, their operands in nvdisasm's order:
 *
 *     {OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(1), NUMBER(4), ZERO)}
 */
#ifndef TEST_SASS_INSTRUCTIONS_H
#define TEST_SASS_INSTRUCTIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sass/decode.h"

/* clang-format off */
#define OPERAND(k, ...) {.kind = WSDBG_OPERAND_##k, __VA_ARGS__}
#define R(n) OPERAND(REGISTER, .number = (n), .registers = 1)
#define ZERO R(WSDBG_RZ)
#define P(n) OPERAND(PREDICATE, .number = (n), .registers = 1)
#define ALWAYS P(WSDBG_PT)
#define NUMBER(n) OPERAND(IMMEDIATE, .value = (n), .registers = 1)
#define SPECIAL(n) OPERAND(SPECIAL, .value = (n), .registers = 1)
#define CONSTANT(offset) OPERAND(CONSTANT, .number = WSDBG_RZ, .value = (offset), .registers = 1)
#define U(n) OPERAND(UNIFORM, .number = (n), .registers = 1)
#define AT_UNIFORM(n) OPERAND(MEMORY, .number = WSDBG_RZ, .uniform = (n), .registers = 1)
#define AT(reg, offset) OPERAND(MEMORY, .number = (reg), .uniform = WSDBG_URZ, .value = (offset), .registers = 1)
#define PAIR_AT(reg) OPERAND(MEMORY, .number = (reg), .uniform = WSDBG_URZ, .registers = 2)
#define OP(name) .operation = WSDBG_OP_##name, .is_whole = true
#define TO(...) .destinations = {__VA_ARGS__}, \
    .destination_count = sizeof (struct wsdbg_operand[]){__VA_ARGS__} / sizeof(struct wsdbg_operand)
#define FROM(...) .sources = {__VA_ARGS__}, \
    .source_count = sizeof (struct wsdbg_operand[]){__VA_ARGS__} / sizeof(struct wsdbg_operand)
#define UNGUARDED .guard = WSDBG_PT
/* clang-format on */

#endif
