/* phrases.h - longer words that several views use: a grid, a warp with its role, an event.  Reads the snapshot. */
#ifndef VIEWER_PHRASES_H
#define VIEWER_PHRASES_H

#include "store/report.h"
#include "viewer/view.h"

/* "gemm_cooperative, grid 77 (running)" */
void viewer_grid_text(const struct wsdbg_snapshot *snapshot, uint32_t grid, char *out, size_t bytes);
/* Draws it as the title of the rows below. */
void viewer_draw_grid_title(const struct wsdbg_snapshot *snapshot, uint32_t grid, struct viewer_canvas *canvas);
/* "CTA (2,0,0)" */
void viewer_cta_text(const struct wsdbg_snapshot *snapshot, uint32_t cta, char *out, size_t bytes);
/* "warp 4 (consumer 0)"; "?" for an index that is none. */
void viewer_warp_text(const struct wsdbg_snapshot *snapshot, uint32_t warp, char *out, size_t bytes);
/* "mbarrier wait begin full[3] parity 0, iteration 19, line 222": an event of a warp. */
void viewer_event_text(const struct wsdbg_snapshot *snapshot, uint32_t warp, const struct wsdbg_history_event *event,
                       char *out, size_t bytes);
/* Newest GPU time stamp of the context that a warp runs in. */
uint64_t viewer_gpu_now_ns(const struct wsdbg_snapshot *snapshot, uint32_t warp);
/* The moment that "for how long" is counted to for a process: of several nodes not all were looked at at once. */
uint64_t viewer_seen_ns(const struct viewer_picture *picture, uint32_t process_id);
/* The same for what runs in a context. */
uint64_t viewer_context_seen_ns(const struct viewer_picture *picture, uint32_t context);
/* Time since the slots changed, counted to the picture's now, that of the longest of a group; "" for warps that left.
 */
void viewer_warps_time_text(const struct viewer_picture *picture, const struct wsdbg_report_warps *warps, char *out,
                            size_t bytes);
/* A place, cut at its beginning where it is wider than `columns`: its end tells more. */
void viewer_tail_text(const char *place, int columns, char *out, size_t bytes);
/* The sentence for a view without rows. */
const char *viewer_nothing_text(const struct viewer_context *context);

#endif
