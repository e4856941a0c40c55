/* input.h - the modules in a file, one after another: whatever the file is, a cubin, fatbins, PTX, a program, library
 * or object of the host, an archive of those.
 *
 * Reads a file of unknown origin; holds one module at a time, and of a fatbin nothing.
 */
#ifndef WSDBG_LINT_INPUT_H
#define WSDBG_LINT_INPUT_H

#include "base/progress.h"
#include "lint/file_span.h"
#include "sass/fatbin.h"

enum wsdbg_lint_form { WSDBG_LINT_CUBIN, WSDBG_LINT_FATBIN, WSDBG_LINT_PTX };

struct wsdbg_lint_part {
    enum wsdbg_lint_form form;
    struct wsdbg_file_span span; /* of the file */
    struct wsdbg_image bytes;    /* a zero byte behind them; valid during the call.  Of a fatbin, which may be longer
                                  * than memory, none */
    const char *name;            /* where in the file, "fatbin 3", "gemm.o fatbin 1"; "" = the file is this one part */
};

struct wsdbg_lint_input_visitor {
    void *context;
    struct wsdbg_progress *progress; /* bytes of the file; may be NULL */
    /* `file_bytes` is the whole file's length.  An error ends the walk. */
    struct wsdbg_error *(*part)(void *context, const struct wsdbg_lint_part *part, uint64_t file_bytes);
    /* A place that cannot be read; what comes after it is.  Takes the error. */
    void (*left_out)(void *context, const char *name, struct wsdbg_error *error);
};

/* Visits all parts of the file, in their order.  *parts is how many there were, those left out included.  BAD_INPUT
 * where the file is none of these, or cut short so that nothing of it can be read. */
struct wsdbg_error *wsdbg_lint_input_walk(const char *path, const struct wsdbg_lint_input_visitor *visitor,
                                          size_t *parts);

#endif
