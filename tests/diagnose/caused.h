/* caused.h - what tests say of a result: assertions of cmocka, whose header comes before. */
#ifndef TEST_DIAGNOSE_CAUSED_H
#define TEST_DIAGNOSE_CAUSED_H

#include "kernels.h"

/* Something runs and hangs, for that cause first of all. */
static inline void assert_cause(const struct result *result, enum wsdbg_cause cause)
{
    assert_true(result->snapshot.grids[0].running);
    assert_true(result->diagnosis.finding_count > 0);
    assert_string_equal(wsdbg_cause_name(result->diagnosis.findings[0].cause), wsdbg_cause_name(cause));
    assert_true(result->diagnosis.hang);
}

#endif
