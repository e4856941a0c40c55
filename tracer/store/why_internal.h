/* why_internal.h - private to the room: the answer between its making and its printing. */
#ifndef WSDBG_STORE_WHY_INTERNAL_H
#define WSDBG_STORE_WHY_INTERNAL_H

#include "diagnose/account.h"
#include "store/fold.h"
#include "store/load.h"
#include "store/why.h"

enum { WSDBG_WHY_WHO_BYTES = 160, WSDBG_WHY_ANSWERS = 8, WSDBG_WHY_HOPS = 48 };

/* Warps of one CTA, or of several of its cluster, that do the same. */
struct wsdbg_why_group {
    struct wsdbg_report_warps words;
    uint32_t *warps; /* indices in snapshot.warps */
    size_t warp_count;
    char who[WSDBG_WHY_WHO_BYTES]; /* "warps 4-7 (consumer 0)", "ranks 0-1 warp 0 (producer)" */
    size_t rank_bytes;             /* of "ranks 0-1 " */
};

/* How a hop ends. */
enum wsdbg_why_end {
    WSDBG_WHY_GOES_ON,   /* the hops below it */
    WSDBG_WHY_RING,      /* back to a wait that this way came through */
    WSDBG_WHY_SHOWN,     /* its hops stand above */
    WSDBG_WHY_NO_WAIT,   /* waits for nobody */
    WSDBG_WHY_LEFT,      /* has exited */
    WSDBG_WHY_NOBODY,    /* waits, and nobody is known who could end that */
    WSDBG_WHY_NOT_JUDGED /* waits, and no diagnosis was made that would know */
};

struct wsdbg_why_hop {
    unsigned depth;
    struct wsdbg_why_group group;
    const char *how;  /* why the group is one that could end the wait a hop above, NULL there */
    uint32_t barrier; /* index in snapshot.barriers of what it waits on, or WSDBG_NONE */
    enum wsdbg_why_end end;
};

struct wsdbg_why_hops {
    struct wsdbg_why_hop *hops; /* each followed by the hops below it */
    size_t count;
    bool cut;      /* there were more */
    bool *reached; /* by warp of the snapshot: stands in a hop */
};

/* Warps that had the same part in a barrier's present phase. */
struct wsdbg_why_part {
    struct wsdbg_why_group group;
    unsigned shares;                      /* enum wsdbg_share */
    uint32_t arrived, threads;            /* of a warp of which only some threads arrived, else 0 */
    struct wsdbg_history_event last_deed; /* of all of them; kind NONE = none, or they differ */
};

/* How a finding concerns the object. */
enum wsdbg_why_relation {
    WSDBG_WHY_UNRELATED,
    WSDBG_WHY_NEAR,    /* it is about the same CTA or cluster */
    WSDBG_WHY_LEADS,   /* the object waits for what it is about */
    WSDBG_WHY_CONCERNS /* it is about the object */
};

struct wsdbg_why_answer {
    uint32_t cta;                   /* index in snapshot.ctas */
    uint32_t barrier;               /* index in snapshot.barriers; WSDBG_NONE = the answer is about warps */
    struct wsdbg_why_group group;   /* the warps */
    uint32_t same_ctas, other_ctas; /* CTAs of the grid that have such an object: in the same state, in another one */
    uint32_t finding;               /* index in report.findings, or WSDBG_NONE */
    enum wsdbg_why_relation relation;
    struct wsdbg_why_hops hops;
    struct wsdbg_account account; /* of a barrier */
    struct wsdbg_why_part *parts;
    size_t part_count;
};

struct wsdbg_why {
    struct wsdbg_loaded loaded;
    struct wsdbg_report report;
    bool of_finding;  /* nothing was asked for: the first finding's objects */
    char others[256]; /* what else goes by that name, "" = nothing */
    struct wsdbg_why_answer answers[WSDBG_WHY_ANSWERS];
    size_t answer_count;
};

/* What a question's object may be, found in the snapshot. */
struct wsdbg_why_found {
    uint32_t cta;     /* index in snapshot.ctas */
    uint32_t barrier; /* WSDBG_NONE = the warps below */
    struct wsdbg_members warps;
    char others[256];
};

/* Which object of which CTA is meant: of several the one of the first finding, else one that is waited on. */
struct wsdbg_error *wsdbg_why_find(const struct wsdbg_loaded *loaded, const struct wsdbg_why_question *question,
                                   struct wsdbg_why_found *out);

/* Groups warps (indices in snapshot.warps, each once) by what they do.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_why_groups(const struct wsdbg_snapshot *snapshot, const uint32_t *warps, size_t warp_count,
                                     struct wsdbg_why_group **out, size_t *count);
void wsdbg_why_groups_destroy(struct wsdbg_why_group *groups, size_t count);

/* From these warps on, who could end their waits; a hop of depth 0 for each group of them.  `out` is owned by the
 * caller. */
struct wsdbg_error *wsdbg_why_walk(const struct wsdbg_loaded *loaded, const uint32_t *warps, size_t warp_count,
                                   struct wsdbg_why_hops *out);
void wsdbg_why_hops_deinit(struct wsdbg_why_hops *hops);

/* The barrier's words. */
struct wsdbg_report_barriers wsdbg_why_barrier_words(const struct wsdbg_snapshot *snapshot, uint32_t barrier);

/* Which finding concerns the answer's object: needs its hops. */
void wsdbg_why_relate(const struct wsdbg_loaded *loaded, struct wsdbg_why_answer *answer);

#endif
