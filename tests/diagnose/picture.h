/* picture.h - hand-made snapshots of the machine's state for tests: warps that stand somewhere, barrier words, and
 * which instructions each warp has behind it or can still reach.  No events, no histories.
 */
#ifndef TEST_DIAGNOSE_PICTURE_H
#define TEST_DIAGNOSE_PICTURE_H

#include "diagnose/finding.h"

/* A snapshot that grows; every CTA has the same number of warps, all RUNNING at first. */
struct picture {
    struct wsdbg_snapshot snapshot;
    uint32_t ctas, warps;
    struct wsdbg_reach *pending; /* reaches as they were stated, in any order */
    size_t pending_count;
};

void picture_init(struct picture *p, uint32_t ctas, uint32_t warps, uint32_t registers);
void picture_deinit(struct picture *p);
/* All CTAs of the picture are one cluster, with ranks in their order. */
void picture_cluster(struct picture *p);

void picture_role(struct picture *p, uint32_t id, const char *name, uint32_t first_warp, uint32_t last_warp);
void picture_name(struct picture *p, uint32_t id, const char *name, uint32_t stages, uint32_t arriving,
                  uint32_t waiting);
/* An mbarrier in every CTA at 0x400 + id * 0x40 + stage * 8; returns the row of CTA 0. */
uint32_t picture_mbarrier(struct picture *p, uint32_t id, uint32_t stage, uint32_t phase, uint32_t pending,
                          uint32_t expected, int64_t bytes);
/* Any other object, in every CTA; returns the row of CTA 0, the others follow. */
uint32_t picture_object(struct picture *p, enum wsdbg_barrier_kind kind, uint32_t id);

/* The same warps of every CTA. */
void picture_exit(struct picture *p, uint32_t first_warp, uint32_t last_warp);
void picture_wait(struct picture *p, uint32_t first_warp, uint32_t last_warp, enum wsdbg_warp_state state,
                  uint32_t barrier, uint32_t parity);
void picture_count(struct picture *p, uint32_t first_warp, uint32_t last_warp, uint32_t count);
void picture_holds(struct picture *p, uint32_t first_warp, uint32_t last_warp, uint32_t registers, uint32_t asked);
/* One warp of one CTA, by its row; `barrier` is the row of its own CTA. */
void picture_leave(struct picture *p, uint32_t row);
void picture_stand(struct picture *p, uint32_t row, enum wsdbg_warp_state state, uint32_t barrier, uint32_t parity);
/* Another part of the warp: other lanes. */
void picture_part(struct picture *p, uint32_t warp, enum wsdbg_warp_state state, uint32_t barrier, uint32_t parity);

/* An instruction on `places` barriers from `address` on, 8 bytes apart; places 0: at an address nobody knows. */
uint32_t picture_access(struct picture *p, enum wsdbg_access_kind kind, uint32_t address, uint32_t places,
                        uint32_t count, enum wsdbg_lanes lanes);
void picture_reach(struct picture *p, uint32_t first_warp, uint32_t last_warp, uint32_t access, uint8_t least,
                   uint8_t most, uint8_t after);

void picture_reach_of(struct picture *p, uint32_t row, uint32_t access, uint8_t least, uint8_t most, uint8_t after);

/* Whoever comes through the wait reaches the arrival. */
void picture_answer(struct picture *p, uint32_t wait, uint32_t arrival);
/* A way leads from the wait through the expect_tx back to the wait, and passes no arrival. */
void picture_bare_expect(struct picture *p, uint32_t wait, uint32_t expect);

/* Two looks 200 ms apart that saw the same; without it there is one. */
void picture_still(struct picture *p);
/* Puts the rows in order; judge: then the diagnosis. */
void picture_ready(struct picture *p);
void picture_judge(struct picture *p, struct wsdbg_diagnosis *out);

enum { PICTURE_NOT_SAID = -1 };

/* Judges the picture and prints what is said.  How sure the surest finding of this cause is; PICTURE_NOT_SAID: there is
 * none. */
int picture_confidence_of(struct picture *p, enum wsdbg_cause cause);

/* Judges the snapshot as after error 719 with this exception; the snapshot is then as before. */
void picture_judge_fault(struct wsdbg_snapshot *snapshot, struct wsdbg_exception *stopped, struct wsdbg_diagnosis *out);

#define MBARRIER_AT(id, stage) (0x400u + (id)*0x40u + (stage)*8u)

#endif
