/* rows.h - tests of single instructions: PTX text with named registers, and cases of inputs and the result expected.
 *
 * The text reads a, b, c (32 bits), A, B, C (64 bits) or ha, hb, hc (16 bits), which hold a case's inputs, and
 * predicate q (lowest bit of c), and writes d, D, hd or p; also free: e, f, E, F, r, s (predicates).  The case's number
 * is the lane's.
 */
#ifndef TESTS_HOPPER_ROWS_H
#define TESTS_HOPPER_ROWS_H

#include "hopper/machine.h"

enum { ROW_CASES = 16 };
enum row_result { ROW_32, ROW_64, ROW_16, ROW_PREDICATE };
struct row {
    const char *text;
    enum row_result result;
    struct row_case {
        uint64_t a, b, c, expected;
    } cases[ROW_CASES]; /* ends with one that is all zeros, unless full; `count` says more */
    unsigned count;     /* 0: up to the last one that is not all zeros */
};
/* Runs every case of every row; the failure names the row's text, the inputs and both results. */
void rows_check(const struct row *rows, size_t count);

#endif
