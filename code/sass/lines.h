/* lines.h - from an instruction to the source lines it was compiled from: .debug_line, with inlined calls.
 *
 * Reads bytes of unknown origin, of a cubin as ptxas makes it (DWARF 2 and the extended opcode 0x90, hopper's own).
 */
#ifndef WSDBG_SASS_LINES_H
#define WSDBG_SASS_LINES_H

#include "sass/cubin.h"

struct wsdbg_lines;

enum { WSDBG_PLACE_LEVELS_MAX = 32 }; /* of a place that are looked at */

/* The file of a place in PTX that has no line information of its own: its lines are the PTX's. */
#define WSDBG_FILE_OF_PTX "PTX"

/* One level of a place in the source: the innermost first, then the calls it was inlined at. */
struct wsdbg_line {
    const char *file; /* as the compiler had it; the table's */
    uint32_t line;
    const char *function; /* of this level, "" = not noted; the table's */
    bool is_wrapper;      /* that function only wraps a barrier's or a copy's instruction: base/inlined.h */
};

/* NOT_FOUND where the cubin was compiled without -lineinfo, BAD_INPUT where its table is damaged.  The image must
 * outlive *out. */
struct wsdbg_error *wsdbg_lines_open(const struct wsdbg_image *cubin, struct wsdbg_lines **out);
/* The same with lines of the PTX that the cubin was compiled from (wsdbg_cubin_ptx); files and functions are "". */
struct wsdbg_error *wsdbg_lines_open_ptx(const struct wsdbg_image *cubin, struct wsdbg_lines **out);
void wsdbg_lines_close(struct wsdbg_lines *lines);

/* Levels of the instruction `offset_bytes` into a function's code; at most `most` are written.  0 = not known. */
size_t wsdbg_lines_find(const struct wsdbg_lines *lines, const struct wsdbg_cubin_function *function,
                        uint64_t offset_bytes, struct wsdbg_line *out, size_t most);
/* The number of the level that is named as the place (base/inlined.h), of `count` > 0 levels of one instruction. */
size_t wsdbg_lines_place(const struct wsdbg_line *levels, size_t count);

#endif
