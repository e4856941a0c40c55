/* code_case.h - what a case knows from the GPU's own state and its code instead of histories: the words of mbarriers,
 * and for each warp the instructions that it must have executed, may have executed and can still reach.
 *
 * Reads: parts, sites, barriers, accesses and reaches of the snapshot.  Everything is a question; nothing is kept.
 * A warp whose place in the code is not known may reach anything.
 */
#ifndef WSDBG_DIAGNOSE_CODE_CASE_H
#define WSDBG_DIAGNOSE_CODE_CASE_H

#include "diagnose/case.h"

/* A set of access kinds. */
typedef uint32_t wsdbg_access_kinds;
#define WSDBG_KIND(kind) (1u << (kind))
/* What counts against an mbarrier's pending arrivals. */
#define WSDBG_KINDS_ARRIVAL                                                                                     \
    (WSDBG_KIND(WSDBG_ACCESS_ARRIVE) | WSDBG_KIND(WSDBG_ACCESS_ARRIVE_EXPECT) | WSDBG_KIND(WSDBG_ACCESS_DROP) | \
     WSDBG_KIND(WSDBG_ACCESS_COPY_ARRIVE))
/* What announces bytes, and what brings them. */
#define WSDBG_KINDS_EXPECT (WSDBG_KIND(WSDBG_ACCESS_ARRIVE_EXPECT) | WSDBG_KIND(WSDBG_ACCESS_EXPECT))
#define WSDBG_KINDS_BYTES (WSDBG_KIND(WSDBG_ACCESS_COPY) | WSDBG_KIND(WSDBG_ACCESS_COMPLETE))
#define WSDBG_KINDS_NAMED (WSDBG_KIND(WSDBG_ACCESS_NAMED_SYNC) | WSDBG_KIND(WSDBG_ACCESS_NAMED_ARRIVE))

/* Whether a kind is one of the set.  A damaged session's rows may have any number there. */
static inline bool wsdbg_is_of_kinds(uint32_t kind, wsdbg_access_kinds kinds)
{
    return kind < 32 && kinds >> kind & 1;
}

/* True where the case rests on the machine's state: it shows where some warp stands, or no warp has an event. */
bool wsdbg_case_is_of_machine(const struct wsdbg_case *c);

/* What the newest two looks, apart in time, say of the case.  Still: they saw the same, so what the hardware had under
 * way has ended.  Moved: a barrier of it has another word.  Neither: there was one look, or nobody compared. */
enum wsdbg_motion { WSDBG_MOTION_UNKNOWN, WSDBG_MOTION_STILL, WSDBG_MOTION_MOVED };
enum wsdbg_motion wsdbg_case_motion(const struct wsdbg_case *c);

/* Whether there were two looks at the case's process. */
bool wsdbg_case_looked_twice(const struct wsdbg_case *c);
/* Whether something of the case was seen to move: between two looks, or, by the record, just now.  From one picture
 * that is not known. */
bool wsdbg_case_saw_movement(const struct wsdbg_case *c);

/* Whether it is known what the threads of a walk do, up to the kernel's end.  What a guess decided is not. */
static inline bool wsdbg_walk_is_known(const struct wsdbg_walk_row *walk)
{
    return walk->is_whole && !walk->is_guessed;
}

/* The walk of most of a warp's lanes; NULL = it has none. */
const struct wsdbg_walk_row *wsdbg_code_walk(const struct wsdbg_case *c, uint32_t warp);
/* Whether a warp that takes the step may have taken it already, or stands there. */
bool wsdbg_code_may_have_taken(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_step_row *step);

/* The parts of a warp. */
const struct wsdbg_part *wsdbg_code_parts(const struct wsdbg_case *c, uint32_t warp, uint32_t *count);
/* Lanes of a warp that have left the kernel, as they were seen. */
uint32_t wsdbg_code_lanes_gone(const struct wsdbg_case *c, uint32_t warp);

/* Whether an access is one of a barrier of the case, as far as its operands could be followed. */
enum wsdbg_match {
    WSDBG_MATCH_NO,
    WSDBG_MATCH_OPEN, /* its address is not known: it may be any */
    WSDBG_MATCH_MAY,  /* the barrier is among several that it may name */
    WSDBG_MATCH_ONE   /* it names this one */
};
enum wsdbg_match wsdbg_access_match(const struct wsdbg_case *c, const struct wsdbg_access_row *access,
                                    uint32_t barrier);
/* False where the barrier is another CTA's and the warp's access can only name one of its own CTA. */
bool wsdbg_access_is_near(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_access_row *access,
                          uint32_t barrier);

/* How surely a warp can still do something. */
enum wsdbg_can {
    WSDBG_CAN_NOT,
    WSDBG_CAN_DOUBTFUL, /* only through a branch, or at an address, that nobody can follow */
    WSDBG_CAN
};

/* A warp's rows of snapshot.reaches. */
const struct wsdbg_reach *wsdbg_code_reaches(const struct wsdbg_case *c, uint32_t warp, uint32_t *count);
/* Its row of an access; NULL = it has none. */
const struct wsdbg_reach *wsdbg_code_reach(const struct wsdbg_case *c, uint32_t warp, uint32_t access);
/* The access of a reach, NULL where the row is not sound. */
const struct wsdbg_access_row *wsdbg_code_access(const struct wsdbg_case *c, const struct wsdbg_reach *reach);

/* Whether a live warp can still reach an access of these kinds on the barrier once its own wait ends.  WSDBG_NONE as
 * barrier: on any.  *access, if asked for, is the surest such row or WSDBG_NONE. */
enum wsdbg_can wsdbg_code_can(const struct wsdbg_case *c, uint32_t warp, wsdbg_access_kinds kinds, uint32_t barrier,
                              uint32_t *access);
/* Live warps that can. */
struct wsdbg_warp_set wsdbg_code_able(const struct wsdbg_case *c, wsdbg_access_kinds kinds, uint32_t barrier,
                                      enum wsdbg_can at_least);
/* Counts the accesses of these kinds on the barrier that the warp may have executed and can never reach again.  *times,
 * if asked for, is how often it may have executed the most frequent of them (255 = in a loop). */
uint32_t wsdbg_code_behind(const struct wsdbg_case *c, uint32_t warp, wsdbg_access_kinds kinds, uint32_t barrier,
                           uint32_t *times);
/* A live warp can reach an arrival, on the barrier or perhaps on it, which it has never executed as far as is known. It
 * may be the warp's second arrival in one phase. */
bool wsdbg_code_arrives_anew(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier);
/* Whether a warp may have executed an access of these kinds on the barrier.  DOUBTFUL: of some such access it
 * is not known whether the warp reached it, or whether it is of this barrier. */
enum wsdbg_can wsdbg_code_could(const struct wsdbg_case *c, uint32_t warp, wsdbg_access_kinds kinds, uint32_t barrier);
/* Whether the grid's code has such an access at all; *access is the first, or WSDBG_NONE. */
enum wsdbg_match wsdbg_code_has(const struct wsdbg_case *c, wsdbg_access_kinds kinds, uint32_t barrier,
                                uint32_t *access);

/* The role of the first of these warps; where there is none, the only role that is known to signal the barrier. */
struct wsdbg_optional_u32 wsdbg_code_role(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps,
                                          uint32_t barrier);

/* The word of an mbarrier. */
struct wsdbg_barrier_word {
    uint32_t barrier;
    uint32_t phase, pending, expected;
    int64_t bytes;  /* still missing; negative: came early */
    bool untouched; /* nobody has arrived in this phase and no bytes are expected */
};
/* False where the row is no mbarrier or its word is not known. */
bool wsdbg_word_of(const struct wsdbg_case *c, uint32_t barrier, struct wsdbg_barrier_word *out);

/* The next stage of the same barrier in its CTA whose word is known, from row *at on (0 at first); false: none left. */
bool wsdbg_word_next(const struct wsdbg_case *c, uint32_t barrier, uint32_t *at, struct wsdbg_barrier_word *out);

/* Whether the warp waits for whichever of several mbarriers is through first; its row names one of them. */
bool wsdbg_code_waits_for_one_of(const struct wsdbg_case *c, uint32_t warp);
/* The mbarrier that a warp waits on, with the phase it waits for still under way; false: no such wait, or it is for one
 * of several mbarriers. */
bool wsdbg_code_wait(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_barrier_word *out);

/* Whether some warp of its CTA waits on a stage of the mbarrier. */
bool wsdbg_code_is_waited_on(const struct wsdbg_case *c, uint32_t barrier);

/* The wait in which the warp stands, as its record has it: the newest event.  It tells how the record names the
 * barrier.  NULL = the record ends elsewhere. */
const struct wsdbg_history_event *wsdbg_code_recorded_wait(const struct wsdbg_case *c, uint32_t warp);
/* What the evidence allows at most: nothing is proven from one picture, or while some warp stands outside of any wait;
 * where both hold, all is possible only. */
enum wsdbg_confidence wsdbg_code_cap(const struct wsdbg_case *c, enum wsdbg_confidence wanted);

#endif
