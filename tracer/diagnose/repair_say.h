/* repair_say.h - a repair in words: the cause that it shows, and its finding. */
#ifndef WSDBG_DIAGNOSE_REPAIR_SAY_H
#define WSDBG_DIAGNOSE_REPAIR_SAY_H

#include "diagnose/phrase.h"
#include "diagnose/repair.h"

struct rounds {
    struct wsdbg_case *c;
    struct wsdbg_replay *replay;
    struct wsdbg_repairs repairs;
    enum wsdbg_confidence confidence; /* of the finding */
};

enum wsdbg_cause wsdbg_repair_cause(const struct wsdbg_repair *repair);
/* The barrier that a repair changes, or all its stages. */
struct wsdbg_phrase wsdbg_repair_subject(const struct rounds *rounds, const struct wsdbg_repair *repair);
/* What the kernel does with the change. */
const char *wsdbg_repair_outcome(const struct wsdbg_repair *repair);
/* " at gemm.cu:132": where a step of an agent is. */
struct wsdbg_phrase wsdbg_repair_at_step(const struct rounds *rounds, uint32_t agent, uint32_t step);
/* The barrier that a repair changes, an index in snapshot.barriers; WSDBG_NONE. */
static inline uint32_t wsdbg_repair_row(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    return rounds->replay->barriers[repair->barrier].row;
}
static inline const struct wsdbg_replay_agent *wsdbg_repair_agent(const struct rounds *rounds, uint32_t number)
{
    return &rounds->replay->agents[number];
}
/* Whether it changes what one warp does. */
static inline bool wsdbg_repair_is_one(const struct wsdbg_repair *repair)
{
    return wsdbg_set_count(&repair->warps) == 1;
}
/* A finding about the barrier that a repair changes, and the role of its warps; NULL when memory ran out. */
struct wsdbg_finding *wsdbg_repair_find(struct rounds *rounds, const struct wsdbg_repair *repair);
/* Adds the finding of a repair, without evidence. */
void wsdbg_repair_say(struct rounds *rounds, const struct wsdbg_repair *repair);

/* The same, of repairs of named barriers (repair_say_named.c). */
void wsdbg_repair_say_early(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_stay(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_unmade(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named_apart(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named_less(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named_round(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named_mates(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_block(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named_id(struct rounds *rounds, const struct wsdbg_repair *repair);

/* ... of repairs of waits (repair_say_parity.c). */
void wsdbg_repair_say_drift(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_first(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_site(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_shift(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_afresh(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_astray(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_token(struct rounds *rounds, const struct wsdbg_repair *repair);

#endif
