/* run.h - runs units on the device behind a libcuda.so.1, each guarded: one that fails or hangs costs the others
 * nothing.
 */
#ifndef TESTS_SEMANTICS_RUN_H
#define TESTS_SEMANTICS_RUN_H

#include "semantics/corpus.h"

enum semantics_state { SEMANTICS_NOT_RUN, SEMANTICS_RAN, SEMANTICS_FAILED, SEMANTICS_NO_ANSWER };

struct semantics_outcome {
    uint32_t state; /* enum semantics_state */
    int32_t error;  /* FAILED: the CUresult; -1: the process died */
    char step[40];  /* of FAILED, NO_ANSWER: the call */
    size_t offset;  /* of the unit's output in `outputs` */
};

struct semantics_run {
    char device[96];
    int driver_version;
    struct semantics_outcome *outcomes; /* of each unit */
    unsigned char *outputs;
    void *shared; /* with the processes that run units */
    size_t shared_bytes;
};

struct semantics_run_options {
    const char *library; /* libcuda.so.1, or a path of one */
    const char *images;  /* a folder with UNIT-NUMBER.cubin; NULL: the driver assembles the text */
    const char *only;    /* units whose name begins so; NULL: all */
    unsigned seconds;    /* for each unit, then it has no answer */
};

/* Runs the units one after another in child processes; the answer is freed with semantics_run_destroy. */
struct semantics_run *semantics_run(const struct semantics_corpus *corpus, const struct semantics_run_options *options);
void semantics_run_destroy(struct semantics_run *run);
/* The unit as PTX that a driver loads; the text is the caller's to free. */
char *semantics_unit_text(const struct semantics_unit *unit);

#endif
