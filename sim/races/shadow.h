/* shadow.h - who last wrote and who has read since, of each byte of a memory; kept by 16 bytes that were used alike.
 *
 * One shadow is of the shared memory of a cluster (addresses: rank << 24 | offset) or of global memory in one grid.
 */
#ifndef WSDBG_RACES_SHADOW_H
#define WSDBG_RACES_SHADOW_H

#include "races/history.h"

struct race_shadow;
struct race_shadow *race_shadow_create(void); /* NULL: no memory */
void race_shadow_destroy(struct race_shadow *shadow);

/* What an access finds: an earlier one that it does not follow, or follows without a fence that it needs. */
enum race_kind {
    RACE_WRITE_WRITE,
    RACE_READ_WRITE,
    RACE_FENCE_PROXY,
    RACE_FENCE_INIT,
    RACE_FENCE_MAP,
    RACE_USE_BEFORE_INIT,
    RACE_ACCUMULATOR,
    RACE_NO_WGMMA_FENCE,
    RACE_KINDS
};
struct race_find {
    void (*found)(void *context, enum race_kind kind, uint64_t address, const struct race_access *earlier,
                  bool earlier_writes, const struct race_access *later, bool later_writes);
    void *context;
};
/* One access, of any number of ranges.  `access` and `knowledge` (of who does or issues it) stay the caller's,
 * unchanged until the last range. */
struct race_visit {
    struct race_shadow *shadow;
    const struct race_access *access;
    const struct race_knowledge *knowledge;
    const struct race_find *find;
    bool is_write;
    uint32_t number;
    uint64_t address;
    uint32_t checked_write, checked_reads;
    uint32_t reads_before, reads_after;
};
void race_visit_begin(struct race_visit *visit, struct race_shadow *shadow, const struct race_access *access,
                      bool is_write, const struct race_knowledge *knowledge, const struct race_find *find);
void race_visit_range(struct race_visit *visit, uint64_t address, uint32_t byte_count);
/* The last write of the byte; NULL = none. */
const struct race_access *race_shadow_written(const struct race_shadow *shadow, uint64_t address);

#endif
