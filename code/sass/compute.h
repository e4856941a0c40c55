/* compute.h - arithmetic on sets of values, for the instructions that calculate addresses, counts and conditions. */
#ifndef WSDBG_SASS_COMPUTE_H
#define WSDBG_SASS_COMPUTE_H

#include "sass/decode.h"
#include "sass/values.h"

/* True where the result can be calculated from the sources. */
bool wsdbg_compute_follows(const struct wsdbg_instruction *instruction);
/* VIMNMX, VIADDMNMX: whether the values are words: neither two halves each, nor raised to 0. */
bool wsdbg_compute_is_of_words(const struct wsdbg_instruction *instruction);
/* Several registers of less than 32 bits, which PTX writes at once, each with a part of a word. */
bool wsdbg_compute_is_narrow(const struct wsdbg_instruction *instruction);
/* How many words lie between those that two written registers get: not 0 where PTX writes several at once. */
unsigned wsdbg_compute_words_apart(const struct wsdbg_instruction *instruction);
/* Which 32 bits of the result a written register (as definitions.h numbers them) is, the lowest being 0. */
unsigned wsdbg_compute_part(const struct wsdbg_instruction *instruction, unsigned reg);
/* The result's part from the sources' sets. */
struct wsdbg_values wsdbg_compute(const struct wsdbg_instruction *instruction, unsigned part,
                                  const struct wsdbg_values *sources);
/* A special register other than the thread's index. */
struct wsdbg_values wsdbg_compute_special(const struct wsdbg_operand *operand);
/* True for the thread's index in x (0), y or z. */
bool wsdbg_compute_is_thread(const struct wsdbg_operand *operand, unsigned *dimension);
/* That index: of `count` threads from `first` on, or with 0 of all; threads: how many the CTA has in this dimension. */
struct wsdbg_values wsdbg_compute_thread(unsigned dimension, const struct wsdbg_values *threads, uint32_t first,
                                         uint32_t count);
/* An operand's negation or inversion. */
struct wsdbg_values wsdbg_compute_modified(const struct wsdbg_operand *operand, const struct wsdbg_values *value);
/* RZ, URZ or an immediate. */
bool wsdbg_compute_is_number(const struct wsdbg_operand *operand, uint32_t *number);

/* Whether a comparison of these sets always holds, or never: false where it may be either. */
bool wsdbg_compute_compares(const struct wsdbg_instruction *compare, const struct wsdbg_values sources[2], bool *holds);
/* What a comparison and its third source, a predicate, make together: 0 false, 1 true, 2 either. */
unsigned wsdbg_compute_combined(const struct wsdbg_instruction *compare, unsigned compared, unsigned third);
/* True where `reg`, a predicate, being `holds` says that the comparison of its sources 0 and 1 came out so. */
bool wsdbg_compute_decides(const struct wsdbg_instruction *compare, unsigned reg, bool holds);
/* True where the outcome `holds` says that the comparison's third source, a predicate, has the same value. */
bool wsdbg_compute_third_decides(const struct wsdbg_instruction *compare, bool holds);
/* PLOP3: true where the outcome `holds` leaves its source only one value. */
bool wsdbg_compute_table_decides(const struct wsdbg_instruction *logic, unsigned source, bool holds, bool *value);
/* Relations of source 0 to source 1 (`mirrored`: of 1 to 0) where the comparison comes out as `holds`; 0 = none known.
 */
unsigned wsdbg_compute_relations(const struct wsdbg_instruction *compare, bool holds, bool mirrored);
/* The predicate by which `source` of a selection is taken, and when; WSDBG_REGISTER_NONE where there is none. */
unsigned wsdbg_compute_selector(const struct wsdbg_instruction *instruction, unsigned source, bool *holds);

#endif
