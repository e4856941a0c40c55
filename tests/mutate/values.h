/* values.h - what is known of a kernel's registers without running it: their values in a thread, which warps execute an
 * instruction, and where the array begins that an operand points into.
 *
 * Reads: a parsed program.  A register that several instructions write has a known value only where all of them write
 * the same.  Values from memory, parameters, other lanes or the clock are not known.
 */
#ifndef WSDBG_MUTATE_VALUES_H
#define WSDBG_MUTATE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ptx/program.h"

struct values;

/* Where a CTA's own shared memory begins. */
#define SHARED_FIRST 1024

/* `threads`: the CTA's sides.  The program must outlive *out, which the caller destroys. */
struct wsdbg_error *values_create(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *kernel,
                                  const uint32_t threads[3], struct values **out);
void values_destroy(struct values *values);

/* The warps, as bits, of which some lane may execute the instruction, which is one of the kernel. */
uint32_t values_warps(const struct values *values, uint32_t instruction);
uint32_t values_all_warps(const struct values *values);
/* The operand's value with 0 for each unknown part.  For an element of an array that is the array's address, because
 * the index is unknown.  *is_exact: every part was known. */
int64_t values_base(struct values *values, const struct wsdbg_ptx_operand *operand, bool *is_exact);
/* False: the value is not known, or the CTA's first and last threads differ in it.  Other threads are not asked. */
bool values_constant(struct values *values, const struct wsdbg_ptx_operand *operand, int64_t *out);

/* How many instructions of the kernel write a register, and the number of one of them. */
uint32_t values_writer_count(const struct values *values, uint32_t reg);
uint32_t values_writer(const struct values *values, uint32_t reg, uint32_t number);
/* Whether an instruction of the kernel reads the register. */
bool values_is_read(const struct values *values, uint32_t reg);
/* Whether the result of instruction `from` may reach the operand through at most `steps` instructions. */
bool values_flows(const struct values *values, uint32_t from, const struct wsdbg_ptx_operand *to, unsigned steps);

#endif
