/* inlined.h - which functions that were inlined into a kernel only wrap a barrier's or a copy's instruction.
 *
 * A warp that waits stands in `mbarrier.try_wait`, which was inlined through one or more wrappers.  The kernel's author
 * looks for the line that calls the outermost wrapper.  So wsdbg goes through the levels from the innermost outwards.
 * The place of the instruction is the first level whose function is no wrapper.  In doubt a function counts as no
 * wrapper: then the line shown is too far in.  A function wrongly taken for a wrapper would hide the author's own line.
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

/* Writes for each row whether its function is a wrapper.  A function is a wrapper in four cases:
 *  - Its file is a header of the CUDA toolkit, of cute, cutlass/arch or cutlass/pipeline.
 *  - Its name is one of a wrapper (wrapper_name.h), and it is small: its code, with everything that is inlined into it,
 *    comes from a few lines.
 *  - It is as small, a kernel calls it at several places of the source, and it has at most one wait.  An example is
 *    `wait_full(bar, phase)` in a header of the kernel's author.
 *  - It is inlined into a wrapper, and is in a library or in the file of a small wrapper.  A user's lambda is none.
 * A row without a caller or without a function's name is in no wrapper. */
struct wsdbg_error *wsdbg_inlined_wrappers(const struct wsdbg_inlined_row *rows, size_t count, bool *is_wrapper);

struct wsdbg_inlined_level {
    const char *file;
    bool is_wrapper;
};

/* Returns which of an instruction's levels (innermost first, count > 0) is its place: the first one in no wrapper.  If
 * the innermost level is in no wrapper, the place is the innermost level in the kernel's own file: the call of a helper
 * says more than a line inside it. */
size_t wsdbg_inlined_place(const struct wsdbg_inlined_level *levels, size_t count);
/* Whether a file only calls a template's kernel, as cutlass/device_kernel.h does.  Such a file is no kernel's own. */
bool wsdbg_is_launcher_file(const char *file);

#endif
