/* output.h - a file that a command writes: never over another one, and gone again when the work fails. */
#ifndef WSDBG_CMD_OUTPUT_H
#define WSDBG_CMD_OUTPUT_H

#include <stdio.h>

#include "base/error.h"

struct wsdbg_output {
    FILE *file;
    const char *path; /* NULL = stdout */
};

/* Creates the file at `path`, which stays the caller's; "-" and NULL are stdout. */
struct wsdbg_error *wsdbg_output_open(const char *path, struct wsdbg_output *out);
/* Closes.  With an error, or where not all could be written, the file is removed; returns the error. */
struct wsdbg_error *wsdbg_output_close(struct wsdbg_output *output, struct wsdbg_error *error);

#endif
