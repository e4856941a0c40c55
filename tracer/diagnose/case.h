/* case.h - one group of CTAs that can block each other: a CTA, or all CTAs of one cluster.
 *
 * Reads: the snapshot.  Holds: the group's warps under local numbers (0..warp_count-1), what is known about
 * completeness, and the findings the rules make about it.
 */
#ifndef WSDBG_DIAGNOSE_CASE_H
#define WSDBG_DIAGNOSE_CASE_H

#include <stdarg.h>

#include "diagnose/finding.h"

enum { WSDBG_GROUP_WARPS = 4 }; /* warps of a warpgroup */
#define WSDBG_WARP_THREADS 32u

/* 16 CTAs of 32 warps is the most the hardware has; twice that is a snapshot not to be believed. */
#define WSDBG_CASE_WARPS_MAX 1024u

/* A set of local warp numbers. */
struct wsdbg_warp_set {
    uint64_t words[WSDBG_CASE_WARPS_MAX / 64];
};

static inline void wsdbg_set_add(struct wsdbg_warp_set *set, uint32_t warp)
{
    set->words[warp / 64] |= 1ull << (warp % 64);
}

static inline void wsdbg_set_remove(struct wsdbg_warp_set *set, uint32_t warp)
{
    set->words[warp / 64] &= ~(1ull << (warp % 64));
}

static inline bool wsdbg_set_has(const struct wsdbg_warp_set *set, uint32_t warp)
{
    return set->words[warp / 64] >> (warp % 64) & 1;
}

/* Adds all of `other`. */
static inline void wsdbg_set_join(struct wsdbg_warp_set *set, const struct wsdbg_warp_set *other)
{
    for (size_t i = 0; i < WSDBG_CASE_WARPS_MAX / 64; i++)
        set->words[i] |= other->words[i];
}

uint32_t wsdbg_set_count(const struct wsdbg_warp_set *set);
bool wsdbg_set_meets(const struct wsdbg_warp_set *a, const struct wsdbg_warp_set *b);

struct wsdbg_ledger;
struct wsdbg_polls;
struct wsdbg_wait_graph;
struct wsdbg_replay;

struct wsdbg_case {
    const struct wsdbg_snapshot *snapshot;
    uint32_t grid;
    const uint32_t *ctas; /* indices in snapshot.ctas, by cluster rank */
    uint32_t cta_count;
    uint32_t *warps; /* local number -> index in snapshot.warps; a CTA's warps are neighbours */
    uint32_t warp_count;
    bool all_seen;                      /* every warp of every CTA of the cluster is in the snapshot */
    bool all_whole;                     /* ... and nothing is missing from any history */
    bool history_any;                   /* at least one history was read */
    bool quiet;                         /* still long enough that no transfer can be under way */
    bool faulted;                       /* the context died of an error */
    bool of_machine;                    /* known from the GPU's state and the code, without events: see code_case.h */
    bool still;                         /* ... and two looks apart in time saw the same of it */
    bool moved;                         /* ... or not: then nothing of it is more than possible */
    const struct wsdbg_snapshot *shown; /* of a record: the machine's state beside it; NULL = there is none */
    const uint32_t *shown_warps;        /* ... and where that has a warp of the record; WSDBG_NONE = nowhere */
    struct wsdbg_warp_set stuck;        /* who other evidence about the same warps shows to be stuck */
    const struct wsdbg_polls *polls;    /* of the snapshot: poll_writers.h; NULL = other cases are not known */
    struct wsdbg_ledger *ledger;
    struct wsdbg_wait_graph *graph;
    struct wsdbg_replay *standing; /* wsdbg_replay_standing makes it when it is first asked for */
    struct wsdbg_replay *failing;  /* ... or this one: wsdbg_replay_failing */
    bool ends_elsewhere;           /* there is no `standing`, though the kernel was followed in all orders */
    bool was_replayed;
    struct wsdbg_finding *findings;
    size_t finding_count;
    bool no_memory; /* some finding could not be kept */
};

/* Collects the group; `ctas` must outlive it.  The caller deinits. */
struct wsdbg_error *wsdbg_case_init(const struct wsdbg_snapshot *snapshot, uint32_t grid, const uint32_t *ctas,
                                    uint32_t cta_count, struct wsdbg_case *out);
void wsdbg_case_deinit(struct wsdbg_case *c);
/* Rows that point outside the snapshot would be read later: such a grid is not judged. */
bool wsdbg_grid_is_sound(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid);

/* The case's number of a warp row of the snapshot; WSDBG_NONE = it is not of the case. */
static inline uint32_t wsdbg_case_local_warp(const struct wsdbg_case *c, uint32_t row)
{
    uint32_t warp = 0;
    while (warp < c->warp_count && c->warps[warp] != row)
        warp++;
    return warp < c->warp_count ? warp : WSDBG_NONE;
}

static inline const struct wsdbg_warp_row *wsdbg_case_warp(const struct wsdbg_case *c, uint32_t warp)
{
    return &c->snapshot->warps[c->warps[warp]];
}

/* Whether two warps are of one warpgroup. */
static inline bool wsdbg_case_are_mates(const struct wsdbg_case *c, uint32_t a, uint32_t b)
{
    const struct wsdbg_warp_row *one = wsdbg_case_warp(c, a), *other = wsdbg_case_warp(c, b);
    return one->cta == other->cta && one->warp / WSDBG_GROUP_WARPS == other->warp / WSDBG_GROUP_WARPS;
}

/* The lanes that the warp had at launch, one bit each; 0 = not known. */
uint32_t wsdbg_case_lanes_at_launch(const struct wsdbg_case *c, uint32_t warp);

/* A warp's events, oldest first: its history, or its last event alone where no history was read. */
const struct wsdbg_history_event *wsdbg_case_events(const struct wsdbg_case *c, uint32_t warp, uint32_t *count);

/* Position of a CTA (index in snapshot.ctas) in c->ctas; WSDBG_NONE = not of this group. */
uint32_t wsdbg_case_cta(const struct wsdbg_case *c, uint32_t cta);
/* Row of the mbarrier at an offset of the shared memory of a CTA (index in snapshot.ctas), WSDBG_NONE. */
uint32_t wsdbg_case_mbarrier_at(const struct wsdbg_case *c, uint32_t cta, uint32_t offset);

/* Whether all warps of the set have exited. */
bool wsdbg_case_have_exited(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps);

/* The cause where a warp of this CTA waits for warps that have exited: PEER_EXITED if all of these are of other CTAs,
 * which have left as a whole; else WAKER_EXITED. */
enum wsdbg_cause wsdbg_case_cause_of_exit(const struct wsdbg_case *c, const struct wsdbg_warp_set *exited,
                                          uint32_t cta);
/* How many CTAs of the cluster have left as a whole: seen so, or not there. */
uint32_t wsdbg_case_ctas_left(const struct wsdbg_case *c);

/* What the evidence allows at most: nothing is proven without histories or while slots still move.  The rules for the
 * machine's state know their own limits (wsdbg_code_cap). */
enum wsdbg_confidence wsdbg_case_cap(const struct wsdbg_case *c, enum wsdbg_confidence wanted);

/* A new finding of the group; NULL when memory ran out (remembered in no_memory).  Valid until the next one. */
struct wsdbg_finding *wsdbg_case_find(struct wsdbg_case *c, enum wsdbg_cause cause, enum wsdbg_confidence confidence,
                                      uint32_t cta, uint32_t barrier);

/* Adds evidence rows; `finding` may be NULL (then nothing happens). */
void wsdbg_evidence_warp(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void wsdbg_evidence_barrier(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t barrier, const char *format,
                            ...) __attribute__((format(printf, 4, 5)));
void wsdbg_evidence_event(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp,
                          const struct wsdbg_history_event *event, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void wsdbg_evidence_text(struct wsdbg_case *c, struct wsdbg_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
