/* operators.h - the table of operators: each is one way to break a kernel.
 *
 * An operator's function tries to make its defect at the mutant's instruction.  It returns false where the operator
 * does not apply.  Else it fills the edits and the truth.  The truth follows from the defect alone: it lists every
 * cause that describes the defect correctly.
 */
#ifndef WSDBG_MUTATE_OPERATORS_H
#define WSDBG_MUTATE_OPERATORS_H

#include "mutant.h"

struct operator
{
    const char *name;
    unsigned variants;
    bool (*make)(struct mutant * mutant, unsigned variant);
    const char *(*word)(unsigned variant); /* the variant's name; NULL = there is one variant, without a name */
};

extern const struct operator operators[];
extern const size_t operator_count;

#define OPERATOR(function) bool function(struct mutant *mutant, unsigned variant)
/* operators_arrivals.c */
OPERATOR(operator_init_count);
OPERATOR(operator_init_missing);
OPERATOR(operator_init_late);
OPERATOR(operator_arrive_missing);
OPERATOR(operator_arrive_twice);
OPERATOR(operator_remote_self);
/* operators_bytes.c */
OPERATOR(operator_bytes);
OPERATOR(operator_expect_missing);
OPERATOR(operator_copy_missing);
OPERATOR(operator_mask_self);
/* operators_phase.c */
OPERATOR(operator_parity);
OPERATOR(operator_phase_stuck);
OPERATOR(operator_trip_count);
/* operators_roles.c */
OPERATOR(operator_named_count);
OPERATOR(operator_named_id);
OPERATOR(operator_named_missing);
OPERATOR(operator_block_sync);
OPERATOR(operator_early_return);
OPERATOR(operator_registers);
OPERATOR(operator_registers_missing);
OPERATOR(operator_cluster_missing);
OPERATOR(operator_flag_missing);
OPERATOR(operator_flag_value);
OPERATOR(operator_dependents_missing);
OPERATOR(operator_delay);
#undef OPERATOR

/* Whether no earlier instruction of the kernel belongs to the same wait (operators_phase.c). */
bool is_first_of_wait(const struct subject *subject, uint32_t instruction);

const char *word_of_when(unsigned variant);
const char *word_of_count(unsigned variant);
const char *word_of_bytes(unsigned variant);
const char *word_of_parity(unsigned variant);
const char *word_of_sign(unsigned variant);
const char *word_of_exit(unsigned variant);

#endif
