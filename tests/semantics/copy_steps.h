/* copy_steps.h - what every test of an asynchronous copy does around it.
 *
 * A wait gives up after a while: whether the bytes came is a result as well.
 */
#ifndef TESTS_SEMANTICS_COPY_STEPS_H
#define TESTS_SEMANTICS_COPY_STEPS_H

#include "semantics/body.h"

enum {
    SEMANTICS_COPY_BARRIER = 32768, /* in dynamic shared memory; before it, bytes that are copied */
    SEMANTICS_COPY_SHARED = SEMANTICS_COPY_BARRIER + 64
};

/* Thread 0 runs `copy` (r100: shared address, r101: the mbarrier's, l20: global address) after all see what was
 * written; then all wait until `bytes` came, when they complete on the mbarrier, or the group ended. r110 = 1: they
 * did. */
void semantics_write_copy(struct semantics_body *body, const char *copy, unsigned bytes, bool by_group);
/* Waits for phase 0 of the mbarrier at r101; r110 = 1: it ended.  `label` is one of the body's. */
void semantics_write_wait(struct semantics_body *body, unsigned label);

#endif
