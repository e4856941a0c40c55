/* follow.h - follows one thread from an instruction on, starting with its registers as they are: which instructions it
 * may reach, and what its registers hold there.
 *
 * It goes along every way that the thread may take.  Where ways meet, a register stays known if all bring one value.
 * Reads: a graph, registers, what thread_step.h asks for.  A called piece of code is passed, not entered, and nothing
 * is known behind it.
 */
#ifndef WSDBG_SASS_FOLLOW_H
#define WSDBG_SASS_FOLLOW_H

#include "sass/thread_step.h"

struct wsdbg_follow;

struct wsdbg_follow_start {
    const struct wsdbg_graph *graph;
    uint32_t instruction;                   /* the next one that the thread executes */
    const struct wsdbg_thread_state *state; /* its registers before that */
    struct wsdbg_thread_world world;
    wsdbg_instruction_set stops; /* no way leads through one of these; NULL = none */
};

/* What `start` points to must outlive *out, which the caller destroys. */
struct wsdbg_error *wsdbg_follow_create(const struct wsdbg_follow_start *start, struct wsdbg_follow **out);
void wsdbg_follow_destroy(struct wsdbg_follow *follow); /* NULL is fine */

/* False where some way could not be followed to its end: it branches through a register, or the code is too large.  The
 * answers for the places that were reached may then be wrong. */
bool wsdbg_follow_is_whole(const struct wsdbg_follow *follow);
/* Whether the thread may reach an instruction, and its registers before that executes. */
bool wsdbg_follow_at(const struct wsdbg_follow *follow, uint32_t instruction, struct wsdbg_thread_state *state);
/* Whether every way executes the instruction, but for ways that never end or wait for ever. */
bool wsdbg_follow_must_execute(const struct wsdbg_follow *follow, uint32_t instruction);

#endif
