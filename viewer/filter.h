/* filter.h - what the reader wants to see: kernel, role, CTA range, state.  Made from one typed line. */
#ifndef VIEWER_FILTER_H
#define VIEWER_FILTER_H

#include "model/snapshot.h"

/* All zero = everything. */
struct viewer_filter {
    char text[128];   /* as typed */
    char kernel[64];  /* part of the kernel's name, "" = any */
    char role[48];    /* role's name, "" = any */
    bool has_cta;
    uint32_t cta_low, cta_high; /* linear index in the grid */
    bool has_state;
    enum wsdbg_warp_state state;
    bool waiting; /* any waiting state */
};

/* "kernel=gemm role=producer cta=0-15 state=WAIT_MBARRIER"; a bare word is a kernel, role or state, whichever
 * there is.  An error names the word that was not understood; `out` is untouched then. */
struct wsdbg_error *viewer_filter_parse(const char *text, const struct wsdbg_snapshot *snapshot,
                                        struct viewer_filter *out);
bool viewer_filter_grid(const struct viewer_filter *filter, const struct wsdbg_snapshot *snapshot, uint32_t grid);
bool viewer_filter_cta(const struct viewer_filter *filter, const struct wsdbg_snapshot *snapshot, uint32_t cta);
bool viewer_filter_warp(const struct viewer_filter *filter, const struct wsdbg_snapshot *snapshot, uint32_t warp);

#endif
