/* values.h - what is known of a kernel's registers without running it: by thread (which warps come to an instruction),
 * and as the lowest address of an array (which barrier an operand names).
 *
 * A register that is written at several places has a value here only where all of them agree.  What comes from memory,
 * parameters, other lanes or the clock is not known.
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

/* The warps, as bits, of which some lane may come to the instruction (of the kernel) and execute it. */
uint32_t values_warps(const struct values *values, uint32_t instruction);
uint32_t values_all_warps(const struct values *values);
/* The operand with 0 for whatever is not known: of an element of an array in a ring, the array's address.  *is_exact:
 * nothing was not known. */
int64_t values_base(struct values *values, const struct wsdbg_ptx_operand *operand, bool *is_exact);
/* False: not the same known value in every thread. */
bool values_constant(struct values *values, const struct wsdbg_ptx_operand *operand, int64_t *out);

/* How many instructions of the kernel write a register, and the number of one of them. */
uint32_t values_writer_count(const struct values *values, uint32_t reg);
uint32_t values_writer(const struct values *values, uint32_t reg, uint32_t number);
/* Whether an instruction of the kernel reads the register. */
bool values_is_read(const struct values *values, uint32_t reg);
/* Whether the value of `from`, an instruction, may come to the operand within `steps` instructions. */
bool values_flows(const struct values *values, uint32_t from, const struct wsdbg_ptx_operand *to, unsigned steps);

#endif
