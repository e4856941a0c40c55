/* jit.c - see jit.h.  Reads and writes: the program's arrays of options and values. */
#include "libcuda/jit.h"

#include <stdint.h>
#include <stdio.h>

/* CUjit_option.  The value of a size is the number itself, not a pointer to it. */
enum { WALL_TIME = 2, INFO_LOG = 3, INFO_LOG_BYTES = 4, ERROR_LOG = 5, ERROR_LOG_BYTES = 6 };

struct jit jit_begin(unsigned count, const int *options, void **values)
{
    struct jit jit = {NULL, 0, NULL};
    char *info = NULL;
    size_t info_bytes = 0;
    for (unsigned i = 0; options && values && i < count; i++) {
        const size_t number = (uintptr_t)values[i] & UINT32_MAX;
        switch (options[i]) {
        case INFO_LOG:
            info = values[i];
            break;
        case ERROR_LOG:
            jit.errors = values[i];
            break;
        case INFO_LOG_BYTES:
            info_bytes = number;
            values[i] = NULL;
            break;
        case ERROR_LOG_BYTES:
            jit.error_bytes = number;
            jit.errors_written = &values[i];
            values[i] = NULL;
            break;
        case WALL_TIME:
            values[i] = NULL; /* a float, 0 */
            break;
        }
    }
    if (info && info_bytes)
        info[0] = '\0';
    if (jit.errors && jit.error_bytes)
        jit.errors[0] = '\0';
    return jit;
}

void jit_complain(struct jit *jit, const char *text)
{
    if (!jit || !jit->errors || !jit->error_bytes)
        return;
    const int length = snprintf(jit->errors, jit->error_bytes, "%s", text);
    const size_t written = length < (int)jit->error_bytes ? (size_t)length : jit->error_bytes - 1;
    *jit->errors_written = (void *)written;
}
