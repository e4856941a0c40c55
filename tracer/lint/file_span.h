/* file_span.h - a stretch of an open file, read piece by piece: a file of any length in bounded memory.
 *
 * Read, not mapped: a file that is cut short meanwhile is an error and not a signal.
 */
#ifndef WSDBG_LINT_FILE_SPAN_H
#define WSDBG_LINT_FILE_SPAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct wsdbg_file_span {
    int descriptor;
    uint64_t first, byte_count;
};

/* Opens a regular file as a whole; *out's descriptor is the caller's to close. */
struct wsdbg_error *wsdbg_file_span_open(const char *path, struct wsdbg_file_span *out);
/* The part [first, first + byte_count) of the span.  BAD_INPUT with `what` where it does not lie within. */
struct wsdbg_error *wsdbg_file_span_part(const struct wsdbg_file_span *span, uint64_t first, uint64_t byte_count,
                                         const char *what, struct wsdbg_file_span *out);
/* Reads byte_count bytes from `offset` on. */
struct wsdbg_error *wsdbg_file_span_read(const struct wsdbg_file_span *span, uint64_t offset, void *out,
                                         size_t byte_count);
/* Reads all of the span, at most `most` bytes, and a zero byte behind them.  The caller frees *out. */
struct wsdbg_error *wsdbg_file_span_read_all(const struct wsdbg_file_span *span, uint64_t most, unsigned char **out);

#endif
