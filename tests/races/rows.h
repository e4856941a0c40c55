/* rows.h - small PTX kernels with one race or one missing fence each, and their corrected twins. */
#ifndef TESTS_RACES_ROWS_H
#define TESTS_RACES_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct race_row {
    const char *name, *code; /* code: what must be reported of the broken kernel */
    const char *before, *broken, *fixed, *after;
    struct race_launch {
        uint32_t grid, block, cluster; /* grid 0 = 1; cluster 0 = none */
    } launch;
};
enum { RACE_TEXT_BYTES = 20000 };

const struct race_row *race_rows(size_t *count);
/* The PTX of a module with the kernel `main`.  Its parameters `in` and `out` are addresses of 64 KiB of zeros each. */
void race_row_text(const struct race_row *row, bool is_fixed, char text[RACE_TEXT_BYTES]);

#endif
