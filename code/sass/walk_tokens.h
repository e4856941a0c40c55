/* walk_tokens.h - which registers hold the token of which arrival on a walk.  Private to the walks.
 *
 * An arrival gives a token, which names the phase of its mbarrier.  Its value is not known, but where a wait takes it
 * from is: the register is followed through copies.
 */
#ifndef WSDBG_SASS_WALK_TOKENS_H
#define WSDBG_SASS_WALK_TOKENS_H

#include "sass/walk_group.h"

/* The arrival that gave the token in the register: the number of its step, plus 1; 0 = there is none, or not known. */
uint32_t walk_token_of(const struct walk_group *group, unsigned reg);
/* The instruction, an arrival, has made this step of the walk. */
void walk_tokens_give(struct walk_group *group, const struct wsdbg_instruction *instruction, uint32_t step);
/* The leader has executed the instruction, or may have. */
void walk_tokens_follow(struct walk_group *group, const struct wsdbg_instruction *instruction,
                        enum wsdbg_truth executes);
/* Registers, a bit each, are not known any more; NULL = all. */
void walk_tokens_forget(struct walk_group *group, const uint64_t *registers);

#endif
