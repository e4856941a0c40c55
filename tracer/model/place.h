/* place.h - a place in a kernel's code in a word or two. */
#ifndef WSDBG_MODEL_PLACE_H
#define WSDBG_MODEL_PLACE_H

#include "model/snapshot.h"

enum { WSDBG_PLACE_BYTES = 96 };

/* "gemm.cu:222" if the kernel has line information, else "gemm_kernel+0x1a0"; "" if neither is known.  For code inlined
 * from a wrapper of a barrier or a copy, it is the line that calls the outermost wrapper.  For other inlined code, it
 * is the innermost line in the kernel's own file (base/inlined.h). */
void wsdbg_place_text(const struct wsdbg_snapshot *snapshot, uint32_t site, char out[WSDBG_PLACE_BYTES]);
/* Whether the place that was kept with a site is another line than the site's own: a call further out. */
bool wsdbg_place_is_elsewhere(const struct wsdbg_site *site, const char *place);
/* The same with every level, innermost first: "barrier.h:301 < pipeline.hpp:88 < gemm.cu:222". */
void wsdbg_place_levels(const struct wsdbg_snapshot *snapshot, uint32_t site, char *out, size_t bytes);
/* The line of `file` that shows the site: the place's own line if the place is in that file, else the line of the first
 * call outwards from it that is; 0 = none.  A relative path is that of every file whose path ends so. */
uint32_t wsdbg_place_line(const struct wsdbg_snapshot *snapshot, uint32_t site, const char *file);
/* Whether any source line of the site is known. */
bool wsdbg_place_has_lines(const struct wsdbg_snapshot *snapshot, uint32_t site);
/* A copy of a module's row (index < module_count) with a source file.  If the module's probes name none, source_path is
 * the file that can show the most sites where its warps wait; of several such files, the outermost.  If no warp waits,
 * it is the file of any site's place. */
struct wsdbg_module wsdbg_place_module(const struct wsdbg_snapshot *snapshot, size_t module);
/* The name of the file without its folders. */
const char *wsdbg_place_file(const char *path);

#endif
