/* place.h - a place in a kernel's code in a word or two. */
#ifndef WSDBG_MODEL_PLACE_H
#define WSDBG_MODEL_PLACE_H

#include "model/snapshot.h"

enum { WSDBG_PLACE_BYTES = 96 };

/* "gemm.cu:222" where the kernel has line information, else "gemm_kernel+0x1a0"; "" where neither is known.  Of a place
 * in inlined code it is the line at which the author's own code calls what comes from other files: the innermost level
 * in the file of the outermost one, wrappers around the whole kernel left aside, which all of its sites share. */
void wsdbg_place_text(const struct wsdbg_snapshot *snapshot, uint32_t site, char out[WSDBG_PLACE_BYTES]);

/* The outermost levels that all sites of a function have: found for all functions at once where the places of many
 * sites are wanted, for wsdbg_place_text goes through all sites for one. */
struct wsdbg_place_stem {
    uint32_t deepest; /* a site with the most levels of those that begin with each other, WSDBG_NONE */
    uint32_t shared;  /* levels */
};
/* One a function of the snapshot; to be freed with free. */
struct wsdbg_error *wsdbg_place_stems_create(const struct wsdbg_snapshot *snapshot, struct wsdbg_place_stem **out);
/* wsdbg_place_text with the stems of the same snapshot. */
void wsdbg_place_text_on(const struct wsdbg_snapshot *snapshot, const struct wsdbg_place_stem *stems, uint32_t site,
                         char out[WSDBG_PLACE_BYTES]);
/* The same with every level, innermost first: "barrier.h:301 < pipeline.hpp:88 < gemm.cu:222". */
void wsdbg_place_levels(const struct wsdbg_snapshot *snapshot, uint32_t site, char *out, size_t bytes);
/* The line of a source file that the place comes from: the innermost one in that file; 0 = none. */
uint32_t wsdbg_place_line(const struct wsdbg_snapshot *snapshot, uint32_t site, const char *file);
/* A module's row (index < module_count); where its probes name no source file, source_path is that of the outermost
 * level of one of its sites. */
struct wsdbg_module wsdbg_place_module(const struct wsdbg_snapshot *snapshot, size_t module);
/* The name of the file without its folders. */
const char *wsdbg_place_file(const char *path);

#endif
