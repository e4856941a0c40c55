/* mutants.h - all mutants of a module's PTX, in an order that the same text and options always give. */
#ifndef WSDBG_MUTATE_MUTANTS_H
#define WSDBG_MUTATE_MUTANTS_H

#include <stdio.h>

#include "operators.h"

struct mutants_options {
    const char *kernel;  /* part of its name; NULL = all of them */
    uint32_t threads[3]; /* sides of the CTA; 0 = as the kernel says, else 1 */
    long pick;           /* the mutant that is made; -1 = none */
};

/* Writes a row for each mutant, or only for the one that is picked: number, kernel, operator, place (instruction in the
 * kernel), line of the PTX, causes that are right, barrier, warps to blame (bits in hex), divided by tabs.  *text is
 * the text of the one that is picked, which the caller frees; NULL where there is no such mutant; *count says how many
 * there are, of which the picked one was the last that was looked at. */
struct wsdbg_error *mutants_list(const struct source *source, const struct mutants_options *options, FILE *rows,
                                 char **text, long *count);

#endif
