/* code_rows.h - machine code around the places where warps stand, as rows of the source view. */
#ifndef VIEWER_CODE_ROWS_H
#define VIEWER_CODE_ROWS_H

#include "viewer/view.h"

/* Warps that stand at an instruction. */
struct viewer_code_site {
    uint32_t function, offset_bytes;
    uint32_t warp; /* an example */
    uint64_t data; /* of the row that says who they are; drawn by the view */
};

/* The row of an instruction; its number in snapshot.code is the object's part. */
#define VIEWER_CODE_LINE (1ull << 48)
#define VIEWER_CODE_GAP (2ull << 48)   /* instructions between that were not kept */
#define VIEWER_CODE_TITLE (3ull << 48) /* the function's name; object: index in functions */
#define VIEWER_CODE_PART(data) ((data) >> 48 << 48)

/* Whether code of this function was kept. */
bool viewer_code_known(const struct wsdbg_snapshot *snapshot, uint32_t function);
/* Adds the functions that `sites` lie in (ordered by function and offset) with their sites.  False when out of memory.
 */
bool viewer_code_add(const struct wsdbg_snapshot *snapshot, const struct viewer_code_site *sites, size_t count,
                     struct viewer_rows *rows);
/* Draws a row of one of the kinds above; `stuck`: a site is at it. */
void viewer_code_draw(const struct wsdbg_snapshot *snapshot, const struct viewer_row *row, bool stuck,
                      struct viewer_canvas *canvas);

#endif
