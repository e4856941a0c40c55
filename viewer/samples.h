/* samples.h - the states of warps as seen from look to look while the viewer is open: the timeline before there
 * are histories.  Bounded memory: the oldest samples go first.  Reads snapshots. */
#ifndef VIEWER_SAMPLES_H
#define VIEWER_SAMPLES_H

#include "model/snapshot.h"

struct viewer_samples;

/* Keeps at most `bytes` of samples.  NULL = no memory. */
struct viewer_samples *viewer_samples_create(size_t bytes);
void viewer_samples_add(struct viewer_samples *samples, const struct wsdbg_snapshot *snapshot, uint64_t now_ns);
/* Oldest and newest sample's host times; false when there are none. */
bool viewer_samples_span(const struct viewer_samples *samples, uint64_t *first_ns, uint64_t *last_ns);
/* The linear index of a CTA (index in the snapshot) that samples go by; one of its own where the launch is not known.
 */
uint32_t viewer_samples_cta(const struct wsdbg_snapshot *snapshot, uint32_t cta);
/* State of a warp (of grid `grid_id`, linear CTA index, warp index) at a host time; UNKNOWN where none was seen. */
enum wsdbg_warp_state viewer_samples_state(const struct viewer_samples *samples, uint64_t grid_id, uint32_t cta,
                                           uint32_t warp, uint64_t time_ns);
void viewer_samples_destroy(struct viewer_samples *samples);

#endif
