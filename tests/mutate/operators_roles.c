/* operators_roles.c - defects of named barriers, __syncthreads(), cluster barriers, setmaxnreg, early returns and flags
 * in global memory.  See operators.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "operators.h"

enum { LANES = 32, NAMED_BARRIERS = 16 };

static bool is_named(const struct wsdbg_ptx_instruction *at)
{
    return at->operation == WSDBG_PTX_OP_bar_sync || at->operation == WSDBG_PTX_OP_bar_arrive;
}

static bool is_arrival(const struct wsdbg_ptx_instruction *at)
{
    return at->operation == WSDBG_PTX_OP_mbarrier_arrive || at->operation == WSDBG_PTX_OP_mbarrier_arrive_expect_tx;
}

static bool change_operand(struct mutant *mutant, size_t operand, const char *change)
{
    char *text = mutant_operand(mutant, operand), *statement = mutant_with(mutant, NULL, operand, "%wsm_t");
    const bool done = text && statement && mutant_declare(mutant) &&
                      mutant_replace(mutant, "mov.u32 %%wsm_t, %s; %s %s", text, change, statement);
    free(text);
    free(statement);
    return done;
}

static bool put_number(struct mutant *mutant, size_t operand, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    char *statement = mutant_with(mutant, NULL, operand, text);
    const bool done = statement && mutant_replace(mutant, "%s", statement);
    free(statement);
    return done;
}

bool operator_named_count(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    int64_t count = 0;
    if (!is_named(at) || mutant->words.operand_count < 2 ||
        (variant && (!values_constant(mutant->subject->values, &at->operands[1], &count) || count <= LANES)))
        return false;
    mutant_name_barrier(mutant);
    mutant->truth.causes = "NAMED_COUNT";
    mutant->truth.warps = 0;
    return change_operand(mutant, 1, variant ? "sub.u32 %wsm_t, %wsm_t, 32;" : "add.u32 %wsm_t, %wsm_t, 32;");
}

/* Whether some instruction of the kernel uses the named barrier with this id. */
static bool id_is_used(const struct subject *subject, int64_t id)
{
    for (uint32_t i = subject->kernel->first; i < subject->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *at = &subject->source->program->instructions[i];
        int64_t other;
        if ((is_named(at) || at->operation == WSDBG_PTX_OP_bar_red) &&
            values_constant(subject->values, &at->operands[at->operation == WSDBG_PTX_OP_bar_red], &other) &&
            other == id)
            return true;
    }
    return false;
}

bool operator_named_id(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    int64_t id;
    if (!is_named(mutant_at(mutant)) || mutant->words.operand_count < 2 ||
        !values_constant(mutant->subject->values, &mutant_at(mutant)->operands[0], &id))
        return false;
    const int64_t other = (id + 1) % NAMED_BARRIERS;
    mutant->truth.causes = id_is_used(mutant->subject, other) ? "NAMED_ID_SHARED,NAMED_COUNT" : "NAMED_COUNT";
    mutant->truth.warps = mutant_warps(mutant);
    return put_number(mutant, 0, other);
}

/* Whether another instruction on this barrier is executed by warps that the mutant's instruction is not for. */
static bool others_take_part(const struct mutant *mutant, int64_t id)
{
    const struct subject *subject = mutant->subject;
    for (uint32_t i = subject->kernel->first; i < subject->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *at = &subject->source->program->instructions[i];
        int64_t other;
        if (is_named(at) && values_constant(subject->values, &at->operands[0], &other) && other == id &&
            values_warps(subject->values, i) & ~mutant_warps(mutant))
            return true;
    }
    return false;
}

/* Some of the warps leave a named barrier out.  If all of them did, there would only be a race, and nobody knows what
 * goes wrong in it. */
bool operator_named_missing(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    int64_t id;
    if (!is_named(at) || (variant != WHEN_WARP && (!values_constant(mutant->subject->values, &at->operands[0], &id) ||
                                                   !others_take_part(mutant, id))))
        return false;
    if (!mutant_skip(mutant, (enum when)variant))
        return false;
    mutant_name_barrier(mutant);
    mutant->truth.causes = mutant->words.operand_count < 2
                               ? "BLOCK_SYNC_IN_ROLE,NAMED_COUNT,ARRIVE_MISSING,WAKER_EXITED"
                               : "NAMED_COUNT,ARRIVE_MISSING,WAKER_EXITED";
    return true;
}

/* __syncthreads() in a role: once, before an instruction that only some warps execute, and those with all lanes. */
bool operator_block_sync(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    const uint32_t warps = mutant_warps(mutant);
    if ((at->operation != WSDBG_PTX_OP_wgmma_fence && at->operation != WSDBG_PTX_OP_setmaxnreg && !is_named(at)) ||
        !warps || warps == values_all_warps(mutant->subject->values) || mutant->instruction >= mutant->subject->own_end)
        return false;
    char *statement = mutant_statement(mutant);
    const bool done = statement && mutant_declare(mutant) &&
                      mutant_replace(mutant,
                                     "setp.ne.u32 %%wsm_q, %%wsm_c, 0; add.u32 %%wsm_c, %%wsm_c, 1; @%%wsm_q bra "
                                     "$wsm_skip; bar.sync 0; $wsm_skip: %s",
                                     statement);
    free(statement);
    snprintf(mutant->truth.barrier, sizeof mutant->truth.barrier, "named barrier 0");
    mutant->truth.causes = "BLOCK_SYNC_IN_ROLE";
    mutant->truth.warps = warps;
    return done;
}

/* ---- returns ---- */

static const enum when exit_when[] = {WHEN_ALWAYS, WHEN_WARP, WHEN_RANK, WHEN_ONCE, WHEN_CTA};

const char *word_of_exit(unsigned variant)
{
    static const char *const word[] = {"role", "one-warp", "one-rank", "third-round", "one-cta"};
    return word[variant];
}

bool operator_early_return(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    const bool is_wait = at->operation == WSDBG_PTX_OP_mbarrier_try_wait && at->flags & WSDBG_PTX_PARITY &&
                         is_first_of_wait(mutant->subject, mutant->instruction);
    const uint32_t warps = mutant_warps(mutant);
    if ((!is_arrival(at) && !is_wait) || !warps || warps == values_all_warps(mutant->subject->values) ||
        (is_wait && exit_when[variant] == WHEN_ONCE))
        return false;
    if (!mutant_before(mutant, exit_when[variant], "exit;"))
        return false;
    /* ROLE_DISAGREE: where only some lanes return, the warp is still there but no longer does its role's work. */
    mutant->truth.causes = mutant->subject->has_cluster ? "WAKER_EXITED,PEER_EXITED,ARRIVE_MISSING,ROLE_DISAGREE"
                                                        : "WAKER_EXITED,ARRIVE_MISSING,ROLE_DISAGREE";
    return true;
}

/* ---- registers ---- */

/* Another register count, within the limits of setmaxnreg; false: it would be the old one. */
static bool register_count(const struct wsdbg_ptx_instruction *at, unsigned variant, int64_t *out)
{
    enum { STEP = 64, LEAST = 24, MOST = 240 };
    *out = at->operands[0].value + (variant ? -STEP : STEP);
    *out = *out > MOST ? MOST : *out < LEAST ? LEAST : *out;
    return *out != at->operands[0].value;
}

/* Whether only some warps of a warpgroup execute the instruction. */
static bool splits_warpgroups(const struct mutant *mutant)
{
    const uint32_t warps = mutant_warps(mutant);
    for (unsigned group = 0; group < 32; group += 4)
        if (warps >> group & 15 && (warps >> group & 15) != 15)
            return true;
    return false;
}

bool operator_registers(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    int64_t count;
    if (at->operation != WSDBG_PTX_OP_setmaxnreg || at->operands[0].kind != WSDBG_PTX_OPERAND_IMMEDIATE ||
        !register_count(at, variant, &count))
        return false;
    const bool done = put_number(mutant, 0, count);
    mutant_name_barrier(mutant);
    mutant->truth.causes = splits_warpgroups(mutant) ? "REGS_DIVERGED,REGS_EXHAUSTED" : "REGS_EXHAUSTED";
    return done;
}

bool operator_registers_missing(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    const bool is_for_good = variant == WHEN_ALWAYS || variant == WHEN_WARP || variant == WHEN_CTA;
    if (at->operation != WSDBG_PTX_OP_setmaxnreg || !is_for_good || !mutant_skip(mutant, (enum when)variant))
        return false;
    mutant_name_barrier(mutant);
    mutant->truth.causes =
        variant == WHEN_WARP || splits_warpgroups(mutant) ? "REGS_PARTIAL_WARPGROUP" : "REGS_EXHAUSTED";
    return true;
}

/* ---- the cluster, other grids, flags ---- */

/* The cluster wait that belongs to an arrival: the next one in the text; WSDBG_PTX_NONE = there is none. */
static uint32_t wait_behind(const struct subject *subject, uint32_t arrival)
{
    const struct wsdbg_ptx_instruction *all = subject->source->program->instructions;
    for (uint32_t i = arrival + 1; i < subject->kernel->end; i++)
        if (all[i].operation == WSDBG_PTX_OP_barrier_cluster_wait)
            return i;
    return WSDBG_PTX_NONE;
}

/* Some warps leave the cluster barrier out: they neither arrive nor wait. */
bool operator_cluster_missing(struct mutant *mutant, unsigned variant)
{
    const bool is_for_good = variant == WHEN_WARP || variant == WHEN_RANK || variant == WHEN_CTA;
    if (mutant_at(mutant)->operation != WSDBG_PTX_OP_barrier_cluster_arrive || !is_for_good)
        return false;
    const uint32_t arrival = mutant->instruction, wait = wait_behind(mutant->subject, arrival);
    if (wait == WSDBG_PTX_NONE || !mutant_skip(mutant, (enum when)variant) || !mutant_move(mutant, wait) ||
        !mutant_skip(mutant, (enum when)variant) || !mutant_move(mutant, arrival))
        return false;
    mutant_name_barrier(mutant);
    mutant_blame(mutant, (enum when)variant);
    mutant->truth.causes =
        variant == WHEN_WARP ? "CLUSTER_MISSING" : "CLUSTER_MISSING,CLUSTER_RANK_ASYMMETRY,PEER_EXITED";
    return true;
}

/* Whether the instruction may write a flag that others poll: a volatile, release or relaxed store, or any reduction. */
static bool is_flag(const struct wsdbg_ptx_instruction *at)
{
    const uint32_t ordered = WSDBG_PTX_VOLATILE | WSDBG_PTX_RELEASE | WSDBG_PTX_RELAXED;
    if (at->operation == WSDBG_PTX_OP_st)
        return at->flags & ordered;
    return at->operation == WSDBG_PTX_OP_red;
}

bool operator_flag_missing(struct mutant *mutant, unsigned variant)
{
    if (!is_flag(mutant_at(mutant)) || !mutant_skip(mutant, (enum when)variant))
        return false;
    mutant->truth.causes = "GLOBAL_SPIN";
    mutant->truth.warps = 0;
    return true;
}

/* The store or reduction has the value 0, which leaves a flag as it was. */
bool operator_flag_value(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    if (!is_flag(at) || at->vector_length > 1 || mutant->words.operand_count != 2)
        return false;
    mutant->truth.causes = "GLOBAL_SPIN";
    return put_number(mutant, 1, 0);
}

bool operator_dependents_missing(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    if (mutant_at(mutant)->operation != WSDBG_PTX_OP_griddepcontrol_launch_dependents)
        return false;
    mutant->truth.causes = "GLOBAL_SPIN,GRID_DEPENDENCY";
    return mutant_skip(mutant, WHEN_ALWAYS);
}

/* No defect: a correct kernel must also work when arrivals come later. */
bool operator_delay(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    if (!is_arrival(mutant_at(mutant)) || !mutant_before(mutant, WHEN_ALWAYS, "nanosleep.u32 3000;"))
        return false;
    mutant->truth.causes = "-";
    mutant->truth.warps = 0;
    return true;
}
