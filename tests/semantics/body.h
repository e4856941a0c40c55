/* body.h - units whose kernel is written by hand, a piece of text for each case.
 *
 * Declared for the text: p, q, s (predicates), h<16> (16 bits), r<256> (32), l<32> (64); %t the thread, %lane, %in and
 * %out the addresses of what is read and written, %i and %o the same with 8 bytes for each thread before; %policy a
 * cache policy; `near`, `%near`: 8192 bytes of shared memory.
 */
#ifndef TESTS_SEMANTICS_BODY_H
#define TESTS_SEMANTICS_BODY_H

#include "ptx/parse_table.h"
#include "semantics/corpus.h"

struct semantics_body {
    struct semantics_corpus *corpus;
    struct semantics_unit *unit;
    FILE *text;
    char *bytes;
    size_t byte_count;
    uint64_t input_digest, case_digest; /* of what is read; of the case's text so far */
    unsigned labels;
};

/* Fills *body, which must stay where it is. */
void semantics_body_begin(struct semantics_body *body, struct semantics_corpus *corpus, const char *name,
                          uint32_t threads);
/* The unit reads `words` numbers of 64 bits, which are copied.  Before the first case. */
void semantics_body_input(struct semantics_body *body, const uint64_t *words, size_t count);
/* Begins a case; false: ptxas refuses it, and nothing may be written for it. */
bool semantics_body_case(struct semantics_body *body, const char *name);
void semantics_body_write(struct semantics_body *body, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A result of the case: each thread's register, `part` behind the case's name ("" = only one). */
void semantics_body_result(struct semantics_body *body, unsigned operation, const char *name, const char *part,
                           const char *from, unsigned bytes);
void semantics_body_end(struct semantics_body *body);

struct ptx_table *semantics_table(void); /* or the program ends; freed with free() */

#endif
