/* protocol.h - small protocols of warps over mbarriers, named barriers and the cluster barrier, what one step of them
 * does, and what can come of them: a search through every schedule.
 *
 * The semantics are written here a second time, apart from the engine and from the model device, as plainly as they can
 * be: protocols_test.c holds the diagnosis against them.
 */
#ifndef TEST_DIAGNOSE_PROTOCOL_H
#define TEST_DIAGNOSE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROTOCOL_WARPS = 6, /* of all CTAs */
    PROTOCOL_CTAS = 2,
    PROTOCOL_STEPS = 20,
    PROTOCOL_FAMILIES = 2,
    PROTOCOL_BARRIERS = 4, /* mbarriers of a CTA: families x stages */
    PROTOCOL_NAMED = 2,
    PROTOCOL_UNIT_BYTES = 16,
    PROTOCOL_ROLES = 3,
};

enum step_kind {
    STEP_ARRIVE,
    STEP_ARRIVE_EXPECT,
    STEP_EXPECT,
    STEP_COPY, /* brings one unit, at any time later */
    STEP_WAIT,
    STEP_NAMED_SYNC,
    STEP_NAMED_ARRIVE,
    STEP_CLUSTER_SYNC,
};

struct step {
    uint8_t kind;
    uint8_t barrier; /* of the CTA: family * stages + stage; or the number of a named barrier */
    uint8_t parity;
    uint8_t rank;   /* CTA whose barrier it is */
    uint8_t amount; /* lanes that arrive, units expected, warps of a named barrier */
    uint8_t iteration;
};

struct family {
    bool first_free;
    uint32_t arriving, waiting; /* roles */
};

/* What was done to a protocol that was right. */
enum defect {
    DEFECT_NONE,
    DEFECT_ARRIVAL_DROPPED,
    DEFECT_ARRIVAL_DOUBLED,
    DEFECT_PARITY,
    DEFECT_COUNT_HIGH,
    DEFECT_COUNT_LOW,
    DEFECT_BYTES,
    DEFECT_COPY_DROPPED,
    DEFECT_CUT_SHORT,
    DEFECT_SWAPPED,
    DEFECT_NAMED,
    DEFECT_MANY,
    DEFECT_WILD /* never was right */
};

struct protocol {
    uint32_t ctas, warps, stages; /* warps of a CTA; all CTAs are one cluster */
    struct step steps[PROTOCOL_WARPS][PROTOCOL_STEPS];
    uint8_t lengths[PROTOCOL_WARPS]; /* then it leaves */
    uint8_t roles[PROTOCOL_WARPS];
    uint8_t counts[PROTOCOL_BARRIERS];
    struct family families[PROTOCOL_FAMILIES];
    bool names, iterations; /* told to the diagnosis */
    enum defect defect;
};

/* One state. */
struct moment {
    uint8_t at[PROTOCOL_WARPS];
    uint8_t came; /* warps that stand at a sync and are counted there */
    bool fault;   /* an arrival found its count spent */
    uint8_t phases[PROTOCOL_CTAS][PROTOCOL_BARRIERS];
    uint8_t pending[PROTOCOL_CTAS][PROTOCOL_BARRIERS];
    int8_t units[PROTOCOL_CTAS][PROTOCOL_BARRIERS];   /* still missing */
    uint8_t flying[PROTOCOL_CTAS][PROTOCOL_BARRIERS]; /* copies under way */
    uint8_t gathered[PROTOCOL_CTAS][PROTOCOL_NAMED];  /* warps that have reached a named barrier */
};

/* A transition: a warp takes a step, or a copy to a barrier lands. */
enum { PROTOCOL_TRANSITIONS = PROTOCOL_WARPS + PROTOCOL_CTAS * PROTOCOL_BARRIERS };

struct moment protocol_start(const struct protocol *p);
/* False: it cannot be taken now, nothing has changed. */
bool protocol_take(const struct protocol *p, struct moment *m, uint32_t transition);

static inline uint32_t protocol_warps(const struct protocol *p)
{
    const uint32_t warps = p->ctas * p->warps;
    return warps < PROTOCOL_WARPS ? warps : PROTOCOL_WARPS; /* the compiler does not know that there are no more */
}

static inline bool protocol_left(const struct protocol *p, const struct moment *m, uint32_t warp)
{
    return m->at[warp] == p->lengths[warp];
}

bool protocol_finished(const struct protocol *p, const struct moment *m);
/* The warp stands at a step that cannot be taken now. */
bool protocol_blocked(const struct protocol *p, const struct moment *m, uint32_t warp);

/* ---- protocol_make.c ---- */

/* A protocol of this number, the same each time. */
struct protocol protocol_make(uint64_t number);
/* The same protocol before defects were put in; false: it is a wild one, which has no correct form. */
bool protocol_make_right(uint64_t number, struct protocol *out);
uint32_t protocol_random(uint64_t *state, uint32_t below);
void protocol_print(const struct protocol *p, const struct moment *m);

/* ---- protocol_search.c ---- */

/* Everything that can come of a moment. */
struct search {
    struct moment *moments; /* [0] is the start */
    uint32_t *parents;
    uint8_t *transitions; /* that led here from the parent */
    uint32_t *table;
    size_t count, room;
    bool complete;  /* all of it was seen */
    bool finishes;  /* every warp leaves, in at least one schedule */
    uint32_t moved; /* warps that go on from where they stood, in at least one schedule */
};

void search_init(struct search *s, size_t room);
void search_deinit(struct search *s);
void search_from(struct search *s, const struct protocol *p, const struct moment *start);
/* Whether no schedule from the beginning hangs or faults.  False too where the search has no room for all states. */
bool search_always_finishes(struct search *s, const struct protocol *p);
/* Nothing can happen any more. */
bool protocol_is_over(const struct protocol *p, const struct moment *m);

#endif
