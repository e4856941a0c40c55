/* launch_site.h - where in the program a kernel was launched, or NCCL was called, in words; and which launches may have
 * made a grid. */
#ifndef WSDBG_MODEL_LAUNCH_SITE_H
#define WSDBG_MODEL_LAUNCH_SITE_H

#include "model/snapshot.h"

enum { WSDBG_SITE_PLACE_BYTES = 400, WSDBG_SITE_TEXT_BYTES = 4096 };

/* Whether the launch may have made a grid of the context that still runs.  What was captured runs by graph launches. */
bool wsdbg_launch_may_run(const struct wsdbg_snapshot *snapshot, uint32_t launch, uint32_t context);

/* Whether the launch table has all launches of the context's process that may still run.  A launch that left the table
 * may, unless a marker says that it is done. */
bool wsdbg_has_all_launches(const struct wsdbg_snapshot *snapshot, uint32_t context);

/* The launches that may have made the grid, oldest first; the first `most` of them in `out`.  Returns how many.  *all:
 * false where there may be others, which left the table. */
size_t wsdbg_grid_launches(const struct wsdbg_snapshot *snapshot, uint32_t grid, uint32_t *out, size_t most, bool *all);

/* The place in the program: "train.py:12 in step, called from train.py:40 in main".  Frames of libraries that stand
 * between the program and the driver are left out.  "?" = not known. */
void wsdbg_launch_site_place(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch_site *site, char *out,
                             size_t bytes);
/* The same without the caller: "train.py:12 in step". */
void wsdbg_launch_site_line(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch_site *site, char *out,
                            size_t bytes);
/* "launched at train.py:12 in step", "graph launched at …; put into a graph at …, after copy, before store".  If
 * several places are possible, it names them.  "" = nothing was kept. */
void wsdbg_grid_site_text(const struct wsdbg_snapshot *snapshot, uint32_t grid, char *out, size_t bytes);
/* The site of a call of NCCL; NULL = none is known. */
const struct wsdbg_launch_site *wsdbg_collective_site(const struct wsdbg_snapshot *snapshot, uint32_t collective);

#endif
