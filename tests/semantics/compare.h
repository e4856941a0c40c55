/* compare.h - what a run gave beside what another device answered. */
#ifndef TESTS_SEMANTICS_COMPARE_H
#define TESTS_SEMANTICS_COMPARE_H

#include "semantics/results.h"

struct semantics_difference {
    uint32_t differing; /* results of the case */
    uint32_t first;     /* the first of them */
    bool is_outcome;    /* one of the two has no results: an error instead */
};

/* True: the results of case `of`, or the error it ended with, are as good as the answer. */
bool semantics_agrees(const struct semantics_case *of, const struct semantics_outcome *outcome,
                      const unsigned char *output, const struct semantics_answer *answer,
                      struct semantics_difference *difference);
/* A few lines: instruction, inputs, expected, got. */
void semantics_print_difference(FILE *to, const struct semantics_case *of, const struct semantics_outcome *outcome,
                                const unsigned char *output, const struct semantics_answer *answer,
                                const struct semantics_difference *difference);

#endif
