/* mutants.h - lists all mutants of a module's PTX, and makes one of them.  The same text and options always give the
 * same numbers.
 */
#ifndef WSDBG_MUTATE_MUTANTS_H
#define WSDBG_MUTATE_MUTANTS_H

#include <stdio.h>

#include "operators.h"

struct mutants_options {
    const char *kernel;  /* only kernels with this in their name; NULL = all of them */
    uint32_t threads[3]; /* sides of the CTA; 0 = as .reqntid or .maxntid says, else 1 */
    long pick;           /* number of the mutant to make; -1 = none: only list */
};

/* Writes a row for each mutant, or only for the picked one: number, kernel, operator, place (index of the instruction
 * in the kernel), line of the PTX, right causes, barrier, warps to blame (bits in hex), divided by tabs.  *text: the
 * module with the picked mutant, which the caller frees; NULL where there is no such mutant.  *count: how many mutants
 * there are; where the picked one was found, only how many up to that one. */
struct wsdbg_error *mutants_list(const struct source *source, const struct mutants_options *options, FILE *rows,
                                 char **text, long *count);

#endif
