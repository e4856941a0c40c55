/* python_lines.h - from an instruction of a code object to its line. */
#ifndef WSDBG_HOST_PYTHON_LINES_H
#define WSDBG_HOST_PYTHON_LINES_H

#include <stddef.h>

#include "base/optional.h"
#include "python/python_layout.h"

/* The line of the instruction that begins `offset_bytes` behind the code's first one; below 0: the code has not begun,
 * and the line is its first one.  Not known: the table says that the instruction has no line, or it does not reach so
 * far. */
struct wsdbg_optional_u32 wsdbg_python_line(enum wsdbg_python_lines kind, const unsigned char *table, size_t bytes,
                                            uint32_t first_line, int64_t offset_bytes);

#endif
