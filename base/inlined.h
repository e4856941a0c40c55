/* inlined.h - which functions that were inlined into a kernel only wrap a barrier's or a copy's instruction.
 *
 * A warp that waits stands in `mbarrier.try_wait`, inlined through a wrapper or three.  What its author looks for is
 * the line that calls the outermost of them.  So the place of an instruction is that of the first level, from the
 * innermost outwards, whose function is no wrapper.  In doubt a function is none: the line shown is then too far in,
 * while a wrapper too much would hide the author's own line.
 */
#ifndef WSDBG_BASE_INLINED_H
#define WSDBG_BASE_INLINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define WSDBG_NOT_INLINED UINT32_MAX

/* One level of a place in the source, as tables of lines have them: rows name the row of the call. */
struct wsdbg_inlined_row {
    const char *function; /* that the line is in, "" = the kernel, or not known */
    const char *file;
    uint32_t line;
    uint32_t caller; /* a row before this one: the call that it was inlined at, WSDBG_NOT_INLINED */
    uint32_t kernel; /* that the row is in; a kernel's rows lie behind each other */
};

/* Writes for each row whether its function is a wrapper:
 *  - by its file, a header of the CUDA toolkit, of cute, cutlass/arch or cutlass/pipeline;
 *  - by its name (wrapper_name.h), where all that it becomes, with what is inlined into it, comes of a few lines;
 *  - by its shape: it is as small, a kernel calls it in several places of the source, and it has one wait at most.  So
 *    is `wait_full(bar, phase)` of anybody's own header;
 *  - what a small wrapper's file or a library has inlined into such a wrapper, but no lambda of a user.
 * A row without a caller or without a function's name is in none. */
struct wsdbg_error *wsdbg_inlined_wrappers(const struct wsdbg_inlined_row *rows, size_t count, bool *is_wrapper);

struct wsdbg_inlined_level {
    const char *file;
    bool is_wrapper;
};

/* Which of an instruction's levels (innermost first, count > 0) is its place: the first in no wrapper.  Where the
 * innermost is in none it is the innermost in the kernel's own file: a helper that works says less than its call. */
size_t wsdbg_inlined_place(const struct wsdbg_inlined_level *levels, size_t count);
/* Whether a file only calls the kernel of a template: cutlass/device_kernel.h.  It is no kernel's own. */
bool wsdbg_is_launcher_file(const char *file);

#endif
