/* operators_phase.c - defects of the parity that a wait names, and of how often a loop runs.  See operators.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "operators.h"

const char *word_of_parity(unsigned variant)
{
    static const char *const word[] = {"always", "first", "third", "one-warp"};
    return word[variant];
}

const char *word_of_sign(unsigned variant)
{
    return variant ? "less" : "more";
}

static bool waits_by_parity(const struct wsdbg_ptx_instruction *at)
{
    return (at->operation == WSDBG_PTX_OP_mbarrier_try_wait || at->operation == WSDBG_PTX_OP_mbarrier_test_wait) &&
           at->flags & WSDBG_PTX_PARITY;
}

/* PTX that sets %wsm_t to 1 where the parity is to be wrong: always, in the first wait, in the third.  %wsm_c counts
 * the waits that have ended. */
static const char *const when_wrong[] = {
    "mov.u32 %wsm_t, 1;",
    "setp.eq.u32 %wsm_q, %wsm_c, 0; selp.u32 %wsm_t, 1, 0, %wsm_q;",
    "setp.eq.u32 %wsm_q, %wsm_c, 2; selp.u32 %wsm_t, 1, 0, %wsm_q;",
};

/* Whether both instructions belong to one wait: compilers put one test before the loop, and one into it. */
static bool is_same_wait(const struct wsdbg_ptx_instruction *a, const struct wsdbg_ptx_instruction *b)
{
    return waits_by_parity(b) && a->operands[1].number == b->operands[1].number &&
           a->operands[1].value == b->operands[1].value && a->operands[2].kind == b->operands[2].kind &&
           a->operands[2].number == b->operands[2].number && a->operands[2].value == b->operands[2].value;
}

bool is_first_of_wait(const struct subject *subject, uint32_t instruction)
{
    const struct wsdbg_ptx_instruction *all = subject->source->program->instructions;
    for (uint32_t i = subject->kernel->first; i < instruction; i++)
        if (is_same_wait(&all[instruction], &all[i]))
            return false;
    return true;
}

/* Flips the parity in one instruction of the wait. */
static bool flip(struct mutant *mutant, const char *setup)
{
    char *parity = mutant_operand(mutant, 2), *ended = mutant_operand(mutant, 0);
    char *statement = mutant_with(mutant, NULL, 2, "%wsm_t");
    const bool done = parity && ended && statement && mutant_declare(mutant) &&
                      mutant_replace(mutant, "%s xor.b32 %%wsm_t, %%wsm_t, %s; %s @%s add.u32 %%wsm_c, %%wsm_c, 1;",
                                     setup, parity, statement, ended);
    free(parity);
    free(ended);
    free(statement);
    return done;
}

static bool flip_all(struct mutant *mutant, const char *setup)
{
    const struct wsdbg_ptx_instruction *all = mutant->subject->source->program->instructions;
    const uint32_t first = mutant->instruction;
    bool done = true;
    for (uint32_t i = first; i < mutant->subject->own_end && done; i++)
        if (is_same_wait(&all[first], &all[i])) {
            done = mutant_move(mutant, i) && flip(mutant, setup);
        }
    return mutant_move(mutant, first) && done;
}

bool operator_parity(struct mutant *mutant, unsigned variant)
{
    const uint32_t warps = mutant_warps(mutant);
    if (!waits_by_parity(mutant_at(mutant)) || mutant->words.operand_count < 3 ||
        mutant->instruction >= mutant->subject->own_end || (variant == 3 && !(warps & (warps - 1))) ||
        !is_first_of_wait(mutant->subject, mutant->instruction))
        return false;
    char *setup = NULL;
    if (variant < 3
            ? asprintf(&setup, "%s", when_wrong[variant]) < 0
            : asprintf(&setup,
                       "mov.u32 %%wsm_t, %%tid.x; shr.u32 %%wsm_t, %%wsm_t, 5; setp.eq.u32 %%wsm_q, %%wsm_t, %d; "
                       "selp.u32 %%wsm_t, 1, 0, %%wsm_q;",
                       __builtin_ctz(warps)) < 0)
        setup = NULL;
    const bool done = setup && flip_all(mutant, setup);
    free(setup);
    mutant_name_barrier(mutant);
    mutant->truth.causes = variant == 2 ? "PARITY_DRIFT,PARITY_WRONG" : "PARITY_WRONG,PARITY_DRIFT";
    mutant->truth.warps = variant == 3 ? warps & -warps : warps;
    return done;
}

/* The first wait whose parity comes from instruction `from`; WSDBG_PTX_NONE = there is none. */
static uint32_t wait_from(const struct subject *subject, uint32_t from)
{
    enum { STEPS = 6 };
    for (uint32_t i = subject->kernel->first; i < subject->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *at = &subject->source->program->instructions[i];
        if (waits_by_parity(at) && values_flows(subject->values, from, &at->operands[2], STEPS))
            return i;
    }
    return WSDBG_PTX_NONE;
}

/* A phase bit is not flipped: its register keeps the old value. */
bool operator_phase_stuck(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    int64_t one = 0;
    if (at->operation != WSDBG_PTX_OP_xor || at->type != WSDBG_PTX_B32 ||
        !values_constant(mutant->subject->values, &at->operands[2], &one) || one != 1)
        return false;
    const uint32_t wait = wait_from(mutant->subject, mutant->instruction);
    if (wait == WSDBG_PTX_NONE)
        return false;
    char *behind = NULL, *setup = mutant_when(mutant, (enum when)variant, &behind);
    char *to = mutant_operand(mutant, 0), *from = mutant_operand(mutant, 1);
    const bool done = setup && behind && to && from && mutant_declare(mutant) &&
                      mutant_replace(mutant, "%s selp.u32 %%wsm_t, 0, 1, %%wsm_q; xor.b32 %s, %s, %%wsm_t;%s", setup,
                                     to, from, behind);
    free(behind);
    free(setup);
    free(to);
    free(from);
    mutant->instruction = wait;
    mutant_name_barrier(mutant);
    mutant_blame(mutant, (enum when)variant);
    mutant->truth.causes = "PARITY_DRIFT,PARITY_WRONG";
    return done;
}

/* ---- rounds of a loop ---- */

static uint32_t writer_of(const struct subject *subject, uint32_t reg)
{
    return values_writer_count(subject->values, reg) == 1 ? values_writer(subject->values, reg, 0) : WSDBG_PTX_NONE;
}

/* Whether the comparison's predicate guards a branch back over an arrival. */
static bool ends_a_role_s_loop(const struct mutant *mutant)
{
    const struct subject *subject = mutant->subject;
    const struct wsdbg_ptx_instruction *all = subject->source->program->instructions;
    const uint32_t reg = all[mutant->instruction].operands[0].number;
    for (uint32_t i = mutant->instruction + 1; i < subject->own_end; i++) {
        const struct wsdbg_ptx_instruction *at = &all[i];
        if (at->operation != WSDBG_PTX_OP_bra || at->guard != reg || at->target > mutant->instruction)
            continue;
        for (uint32_t j = at->target; j < i; j++)
            if (all[j].operation == WSDBG_PTX_OP_mbarrier_arrive ||
                all[j].operation == WSDBG_PTX_OP_mbarrier_arrive_expect_tx)
                return true;
    }
    return false;
}

/* A loop runs once more or once less: its counter is compared with another limit. */
bool operator_trip_count(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    const uint32_t warps = mutant_warps(mutant);
    const bool is_whole = at->type == WSDBG_PTX_S32 || at->type == WSDBG_PTX_U32 || at->type == WSDBG_PTX_B32;
    if (at->operation != WSDBG_PTX_OP_setp || !is_whole || at->combine || at->flags & WSDBG_PTX_WITH_PREDICATE ||
        at->operands[0].kind != WSDBG_PTX_OPERAND_REGISTER || at->operands[1].kind != WSDBG_PTX_OPERAND_REGISTER ||
        writer_of(mutant->subject, at->operands[0].number) == WSDBG_PTX_NONE || !warps ||
        warps == values_all_warps(mutant->subject->values) || !ends_a_role_s_loop(mutant))
        return false;
    char *limit = mutant_operand(mutant, 2), *statement = mutant_with(mutant, NULL, 2, "%wsm_t");
    const bool done = limit && statement && mutant_declare(mutant) &&
                      mutant_replace(mutant, "mov.u32 %%wsm_t, %s; %s.u32 %%wsm_t, %%wsm_t, 1; %s", limit,
                                     variant ? "sub" : "add", statement);
    free(limit);
    free(statement);
    mutant->truth.causes = "WAKER_EXITED,ROLE_DISAGREE,ARRIVE_MISSING";
    mutant->truth.warps = 0; /* two roles count differently: either may be called wrong */
    return done;
}
