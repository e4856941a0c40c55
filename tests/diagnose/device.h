/* device.h - a small model of an SM for tests: runs warp programs with the true rules of mbarriers, the
 * register pool, named barriers and bulk copies until nothing moves, and gives the snapshot that the ring
 * would give.  So a test states a kernel, not a state it believes the kernel would end in.
 */
#ifndef TEST_DIAGNOSE_DEVICE_H
#define TEST_DIAGNOSE_DEVICE_H

#include "model/snapshot.h"

struct device;

/* Ends the test program where the model itself fails; unlike assert also in an optimised build. */
void must(bool holds);

/* CTAs of `warps` warps; clusters of `cluster` neighbours (1 = none); registers a thread at launch. */
struct device *device_create(uint32_t ctas, uint32_t warps, uint32_t cluster, uint32_t registers);
void device_destroy(struct device *device);

/* Rows of the name table. */
void device_role(struct device *device, uint32_t id, const char *name);
void device_mbarrier(struct device *device, uint32_t id, const char *name, uint32_t stages, bool first_free,
                     uint32_t arriving, uint32_t waiting);
void device_named(struct device *device, uint32_t id, const char *name, uint32_t arriving, uint32_t waiting);

/* Appends to the program of one warp.  An iteration may be WSDBG_NO_ITERATION. */
void role(struct device *device, uint32_t cta, uint32_t warp, uint32_t id);
void init(struct device *device, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t arrivals);
void wait(struct device *device, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t parity,
          uint32_t iteration);
void arrive(struct device *device, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
            uint32_t lanes);
void arrive_remote(struct device *device, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage,
                   uint32_t iteration, uint32_t rank);
void arrive_expect(struct device *device, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage,
                   uint32_t iteration, uint32_t bytes);
void expect(struct device *device, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
            uint32_t bytes);
void copy(struct device *device, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
          uint32_t bytes, uint32_t multicast);
void lost_copy(struct device *device, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
               uint32_t bytes); /* issued, never lands */
void request(struct device *device, uint32_t cta, uint32_t warp, uint32_t registers);
void release(struct device *device, uint32_t cta, uint32_t warp, uint32_t registers);
void named_sync(struct device *device, uint32_t cta, uint32_t warp, uint32_t id, uint32_t threads);
void named_arrive(struct device *device, uint32_t cta, uint32_t warp, uint32_t id, uint32_t threads);
void cluster_sync(struct device *device, uint32_t cta, uint32_t warp);
/* Polls a word of global memory until write_word; writer: enum wsdbg_poll_writer.  Of one word all CTAs know. */
void poll(struct device *device, uint32_t cta, uint32_t warp, uint32_t word, uint32_t writer);
void write_word(struct device *device, uint32_t cta, uint32_t warp, uint32_t word);
/* griddepcontrol.wait for a grid that never ends. */
void grid_wait(struct device *device, uint32_t cta, uint32_t warp);
void tile(struct device *device, uint32_t cta, uint32_t warp, uint32_t iteration, uint32_t index);
void work(struct device *device, uint32_t cta, uint32_t warp, uint32_t steps); /* busy, no events */
void leave(struct device *device, uint32_t cta, uint32_t warp);
/* The warp's program stops for `steps` before its operation `at`; false when it has fewer. */
bool device_delay(struct device *device, uint32_t cta, uint32_t warp, uint32_t at, uint32_t steps);

/* Runs until nothing moves; `seed` orders the warps.  True if every warp left. */
bool device_run(struct device *device, uint32_t seed);

/* Runs at most `steps` turns more; false once nothing moves. */
bool device_run_for(struct device *device, uint32_t seed, uint32_t steps);

/* One turn of one warp, for a schedule of the caller's own: its BEGIN, an operation, or the start of one that waits.
 * Copies that it issues land when device_land says so: the oldest one of that mbarrier. */
void device_step(struct device *device, uint32_t cta, uint32_t warp);
void device_land(struct device *device, uint32_t cta, uint32_t barrier, uint32_t stage);
/* How many operations of its program the warp has behind it. */
size_t device_at(const struct device *device, uint32_t cta, uint32_t warp);

/* The state as a snapshot with the last `depth` events a warp (0 = histories were not read). */
void device_snapshot(const struct device *device, uint32_t depth, struct wsdbg_snapshot *out);

#endif
