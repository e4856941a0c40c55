/* place.h - a place in a kernel's code in a word or two. */
#ifndef WSDBG_MODEL_PLACE_H
#define WSDBG_MODEL_PLACE_H

#include "model/snapshot.h"

enum { WSDBG_PLACE_BYTES = 96 };

/* "gemm.cu:222" where the kernel has line information, else "gemm_kernel+0x1a0"; "" where neither is known.  Of a place
 * in inlined code it is the line at which the author's own code calls a wrapper of a barrier or a copy; of code in no
 * wrapper it is the innermost line in the kernel's own file (base/inlined.h). */
void wsdbg_place_text(const struct wsdbg_snapshot *snapshot, uint32_t site, char out[WSDBG_PLACE_BYTES]);
/* Whether a place that was kept with a site is another line than the site's own: then it is further out. */
bool wsdbg_place_is_elsewhere(const struct wsdbg_site *site, const char *place);
/* The same with every level, innermost first: "barrier.h:301 < pipeline.hpp:88 < gemm.cu:222". */
void wsdbg_place_levels(const struct wsdbg_snapshot *snapshot, uint32_t site, char *out, size_t bytes);
/* The line of a source file that the place comes from: the place's own or the first outwards from it; 0 = none. */
uint32_t wsdbg_place_line(const struct wsdbg_snapshot *snapshot, uint32_t site, const char *file);
/* Whether any source line of the site is known. */
bool wsdbg_place_has_lines(const struct wsdbg_snapshot *snapshot, uint32_t site);
/* A module's row (index < module_count); where its probes name no source file, source_path is the one that can show the
 * most sites at which its warps wait, the outermost of as many; else that of the place of any of its sites. */
struct wsdbg_module wsdbg_place_module(const struct wsdbg_snapshot *snapshot, size_t module);
/* The name of the file without its folders. */
const char *wsdbg_place_file(const char *path);

#endif
