/* forms.h - the instructions that a row of the table allows, one by one: every choice of its suffixes. */
#ifndef TESTS_SEMANTICS_FORMS_H
#define TESTS_SEMANTICS_FORMS_H

#include "ptx/parse_table.h"

enum { SEMANTICS_FORM_MOST = 700 }; /* instructions of a form that has more: so many, spread over all of them */

struct semantics_form {
    unsigned operation;
    const struct ptx_slot *slots;
    uint32_t slot_count;
    char opcode[256];                         /* "add.rn.f32" */
    struct wsdbg_ptx_instruction instruction; /* types, rounding, flags ... as the parser has them */
};
typedef void (*semantics_form_visit)(void *context, const struct semantics_form *form);

/* Calls `visit` for each instruction of the row that can mean something. */
void semantics_each_form(const struct ptx_table *table, unsigned operation, semantics_form_visit visit, void *context);

#endif
