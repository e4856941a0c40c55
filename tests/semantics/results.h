/* results.h - what a device answered to the cases, as a file: lines of text (device, driver, date), an empty line, then
 * a zstd frame with a record for each case.
 */
#ifndef TESTS_SEMANTICS_RESULTS_H
#define TESTS_SEMANTICS_RESULTS_H

#include "semantics/run.h"

struct semantics_answer {
    char *name;
    uint64_t digest;
    uint8_t state; /* enum semantics_state */
    int32_t error;
    uint8_t bytes; /* of each result */
    uint32_t count;
    const unsigned char *results; /* count * bytes; only when it RAN */
};
struct semantics_answers {
    char *head;
    struct semantics_answer *answers; /* by name */
    size_t count;
    unsigned char *storage;
};

/* Result `index` of a case in what its unit wrote. */
uint64_t semantics_result(const struct semantics_case *of, const unsigned char *output, uint32_t index);
/* NULL, or what is wrong. */
const char *semantics_answers_write(const struct semantics_corpus *corpus, const struct semantics_run *run,
                                    const char *head, const char *path);
const char *semantics_answers_read(const char *path, struct semantics_answers **out);
void semantics_answers_destroy(struct semantics_answers *answers);
/* The answer to this very case; NULL: there is none. */
const struct semantics_answer *semantics_answer(const struct semantics_answers *answers,
                                                const struct semantics_case *to);

#endif
