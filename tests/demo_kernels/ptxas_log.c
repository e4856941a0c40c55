/* ptxas_log.c - see ptxas_log.h.  Reads a text file. */
#include "ptxas_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

void ptxas_log_read(const char *path, struct ptxas_log *out)
{
    char line[512];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    memset(out, 0, sizeof *out);
    while (fgets(line, sizeof line, file)) {
        struct ptxas_kernel kernel = {.registers = -1, .stack_bytes = -1};
        struct ptxas_kernel *last = out->count ? &out->kernel[out->count - 1] : &kernel;
        const char *used = strstr(line, "Used ");
        if (strstr(line, "warning") || strstr(line, "C7508") || strstr(line, "C7510"))
            out->warnings++;
        if (sscanf(line, "ptxas info : Compiling entry function '%63[^']'", kernel.name) == 1) {
            assert_true(out->count < PTXAS_KERNELS_MAX);
            out->kernel[out->count++] = kernel;
        } else if (strstr(line, "bytes stack frame")) {
            sscanf(line, " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &last->stack_bytes,
                   &last->spill_store_bytes, &last->spill_load_bytes);
        } else if (used) {
            sscanf(used, "Used %d registers", &last->registers);
        }
    }
    fclose(file);
}
