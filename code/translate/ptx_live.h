/* ptx_live.h - at which places of a PTX kernel its registers are needed: from what writes them to what reads them, on
 * every way between the two.
 */
#ifndef WSDBG_TRANSLATE_PTX_LIVE_H
#define WSDBG_TRANSLATE_PTX_LIVE_H

#include "base/error.h"
#include "ptx/program.h"

/* Some registers that a program names, and one place of each naming. */
struct wsdbg_ptx_naming {
    uint32_t number; /* of the register */
    uint32_t index;  /* of the instruction */
    bool is_read;    /* or written under a guard: what the register held before may count */
};

struct wsdbg_ptx_piece {
    uint32_t first, last; /* instructions */
};

/* Where registers are needed, in pieces of the text.  A register that is needed across a call is needed in all of the
 * function that is called, whose code stands behind the kernel's own. */
struct wsdbg_ptx_live {
    struct wsdbg_ptx_piece *pieces;
    size_t count, capacity;
    size_t *first; /* those of register r are pieces[first[r]] to pieces[first[r + 1] - 1] */
};

/* namings: in the order of the text, what an instruction reads before what it writes.  BAD_INPUT where there are too
 * many pieces.  The caller destroys *out. */
struct wsdbg_error *wsdbg_ptx_live_create(const struct wsdbg_ptx_program *program,
                                          const struct wsdbg_ptx_function *function,
                                          const struct wsdbg_ptx_naming *namings, size_t naming_count,
                                          struct wsdbg_ptx_live *out);
void wsdbg_ptx_live_destroy(struct wsdbg_ptx_live *live);

#endif
