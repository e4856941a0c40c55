/* float.h - floating-point values of every PTX type, exact in a double; see float.c.
 *
 * f16, bf16, tf32, e4m3, e5m2 and f32 fit in a double with room to spare: arithmetic is done there, rounded to odd
 * where it is not exact, and then rounded once to the type.
 */
#ifndef WSDBG_HOPPER_FLOAT_H
#define WSDBG_HOPPER_FLOAT_H

#include "hopper/execute.h"

/* The value of the type's bits; with FTZ among the flags subnormal numbers of f32 and f16 are zeros. */
double hopper_float_value(uint64_t bits, enum wsdbg_ptx_type type, uint32_t flags);
/* The type's bits of a value: rounded (DEFAULT is RN), then SAT, RELU, SATFINITE, FTZ as flags say.  NaN is the
 * canonical one. */
uint64_t hopper_float_bits(double value, enum wsdbg_ptx_type type, enum wsdbg_ptx_rounding rounding, uint32_t flags);
/* An operand of one lane as a double. */
double hopper_float_source(const struct hopper_step *step, unsigned number, enum wsdbg_ptx_type type, unsigned lane);

/* The same NaN, quiet. */
double hopper_quiet(double not_a_number);
/* A whole number near the value: RN and RNI are to even. */
double hopper_round_whole(double value, enum wsdbg_ptx_rounding rounding);
/* x + y, rounded to odd: rounding the result again to 51 bits or fewer is as if it were rounded once. */
double hopper_add_to_odd(double x, double y);

/* Executors: the rows of integer arithmetic come here where the type is a floating-point one. */
enum hopper_outcome hopper_float_add(struct hopper_step *step);
enum hopper_outcome hopper_float_sub(struct hopper_step *step);
enum hopper_outcome hopper_float_mul(struct hopper_step *step);
enum hopper_outcome hopper_float_div(struct hopper_step *step);
enum hopper_outcome hopper_float_abs(struct hopper_step *step);
enum hopper_outcome hopper_float_neg(struct hopper_step *step);
enum hopper_outcome hopper_float_min(struct hopper_step *step);
enum hopper_outcome hopper_float_max(struct hopper_step *step);

#endif
