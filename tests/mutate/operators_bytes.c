/* operators_bytes.c - defects of expected bytes, and of the copies that bring them.  See operators.h. */
#include <stdlib.h>

#include "operators.h"

const char *word_of_bytes(unsigned variant)
{
    return variant ? "less" : "more";
}

/* So many bytes too much or too little are announced. */
#define WRONG_BY 16

bool operator_bytes(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    const size_t operand = at->operation == WSDBG_PTX_OP_mbarrier_arrive_expect_tx ? 2 : 1;
    if (at->operation != WSDBG_PTX_OP_mbarrier_arrive_expect_tx && at->operation != WSDBG_PTX_OP_mbarrier_expect_tx)
        return false;
    char *bytes = mutant_operand(mutant, operand), *statement = mutant_with(mutant, NULL, operand, "%wsm_t");
    const bool done = bytes && statement && mutant_declare(mutant) &&
                      mutant_replace(mutant, "mov.u32 %%wsm_t, %s; %s.u32 %%wsm_t, %%wsm_t, %d; %s", bytes,
                                     variant ? "sub" : "add", WRONG_BY, statement);
    free(bytes);
    free(statement);
    mutant_name_barrier(mutant);
    mutant->truth.causes = "TX_MISMATCH";
    mutant->truth.warps = mutant_warps(mutant);
    return done;
}

/* The announcement is left out: bytes arrive that nobody announced. */
bool operator_expect_missing(struct mutant *mutant, unsigned variant)
{
    if (mutant_at(mutant)->operation != WSDBG_PTX_OP_mbarrier_expect_tx || !mutant_skip(mutant, (enum when)variant))
        return false;
    mutant_name_barrier(mutant);
    mutant->truth.causes = variant == WHEN_RANK ? "TX_MISMATCH,CLUSTER_RANK_ASYMMETRY" : "TX_MISMATCH";
    return true;
}

bool operator_copy_missing(struct mutant *mutant, unsigned variant)
{
    if (!mutant_mbarrier(mutant_at(mutant)))
        return false;
    switch (mutant_at(mutant)->operation) {
    case WSDBG_PTX_OP_bulk_copy:
    case WSDBG_PTX_OP_tensor_copy:
    case WSDBG_PTX_OP_bulk_reduce:
    case WSDBG_PTX_OP_st_async:
    case WSDBG_PTX_OP_red_async:
        break;
    default:
        return false;
    }
    const bool done = mutant_skip(mutant, (enum when)variant);
    mutant_name_barrier(mutant);
    mutant->truth.causes = variant == WHEN_RANK ? "TX_MISMATCH,TMA_NEVER_COMPLETED,CLUSTER_RANK_ASYMMETRY"
                                                : "TX_MISMATCH,TMA_NEVER_COMPLETED";
    return done;
}

bool operator_mask_self(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    if (!(at->flags & WSDBG_PTX_MULTICAST) || !mutant_mbarrier(at))
        return false;
    const size_t mask = mutant->words.operand_count - (at->flags & WSDBG_PTX_CACHE_HINT ? 2 : 1);
    char *statement = mutant_with(mutant, NULL, mask, "%wsm_h");
    const bool done = statement && mutant_declare(mutant) &&
                      mutant_replace(mutant,
                                     "mov.u32 %%wsm_t, %%cluster_ctarank; shl.b32 %%wsm_t, 1, %%wsm_t; "
                                     "cvt.u16.u32 %%wsm_h, %%wsm_t; %s",
                                     statement);
    free(statement);
    mutant_name_barrier(mutant);
    mutant->truth.causes = "TX_MISMATCH,CLUSTER_RANK_ASYMMETRY,TMA_NEVER_COMPLETED";
    mutant->truth.warps = mutant_warps(mutant);
    return done;
}
