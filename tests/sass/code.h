/* code.h - small pieces of code for tests, written as a row an instruction. */
#ifndef WSDBG_TESTS_SASS_CODE_H
#define WSDBG_TESTS_SASS_CODE_H

#include "sass/flow.h"

#define NOWHERE (-1)

struct step {
    enum wsdbg_operation operation;
    int target;         /* row, or NOWHERE */
    bool is_guarded;    /* by P0 */
    uint64_t cases;     /* BRX: the rows that its table leads to, a bit each; 0 = nobody knows */
};

/* The graph of rows that are all well formed; the caller destroys it. */
struct wsdbg_graph *graph_of(const struct step *steps, size_t count);

#endif
