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
/* Adds the finding of a repair, without evidence. */
void wsdbg_repair_say(struct rounds *rounds, const struct wsdbg_repair *repair);

/* The same, of repairs of named barriers (repair_say_named.c). */
void wsdbg_repair_say_early(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named_round(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_block(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named(struct rounds *rounds, const struct wsdbg_repair *repair);
void wsdbg_repair_say_named_id(struct rounds *rounds, const struct wsdbg_repair *repair);

#endif
