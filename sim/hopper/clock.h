/* clock.h - which instructions of a kernel let a clock decide something, and which registers hold what clocks decided.
 *
 * Made by prepare.c, once a kernel.  Read by prepare.c (what an instruction is), spin.c and deadlock.c (whether a warp
 * is where it was).
 */
#ifndef WSDBG_HOPPER_CLOCK_H
#define WSDBG_HOPPER_CLOCK_H

#include <stdbool.h>

#include "base/error.h"
#include "ptx/program.h"

struct hopper_clock_uses;

/* *out is NULL where the kernel reads no clock.  The caller destroys *out. */
struct wsdbg_error *hopper_clock_uses_create(const struct wsdbg_ptx_program *program,
                                             const struct wsdbg_ptx_function *function, struct hopper_clock_uses **out);
void hopper_clock_uses_destroy(struct hopper_clock_uses *uses);

/* What this instruction does to memory, to other lanes, or to the way of its thread depends on a clock. */
bool hopper_clock_matters(const struct hopper_clock_uses *uses, uint32_t instruction);

/* A clock decides whether a thread comes by this instruction, although that changes nothing but registers. */
bool hopper_clock_may_pass_by(const struct hopper_clock_uses *uses, uint32_t instruction);

/* Words of a set with a bit a register. */
size_t hopper_clock_set_words(const struct hopper_clock_uses *uses);
/* Fills `set` with the registers that depend on a clock when a thread is at this instruction. */
void hopper_clock_registers(const struct hopper_clock_uses *uses, uint32_t instruction, uint64_t *set);

#endif
