/* operators_arrivals.c - defects of mbarrier counts, of initialisations and of arrivals.  See operators.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operators.h"

const char *word_of_count(unsigned variant)
{
    static const char *const word[] = {"one-more", "one-less", "doubled"};
    return word[variant];
}

bool operator_init_count(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    int64_t count = 0;
    if (at->operation != WSDBG_PTX_OP_mbarrier_init || mutant->words.operand_count < 2)
        return false;
    const bool is_known = values_constant(mutant->subject->values, &at->operands[1], &count);
    if (variant == 1 && (!is_known || count < 2))
        return false;
    static const char *const change[] = {"add.u32 %wsm_t, %wsm_t, 1;", "sub.u32 %wsm_t, %wsm_t, 1;",
                                         "add.u32 %wsm_t, %wsm_t, %wsm_t;"};
    char *operand = mutant_operand(mutant, 1), *statement = mutant_with(mutant, NULL, 1, "%wsm_t");
    const bool done = operand && statement && mutant_declare(mutant) &&
                      mutant_replace(mutant, "mov.u32 %%wsm_t, %s; %s %s", operand, change[variant], statement);
    mutant_name_barrier(mutant);
    mutant->truth.causes = variant == 1 ? "DOUBLE_ARRIVE,TX_SHARED_BARRIER,PARITY_DRIFT" : "ARRIVE_SHORT";
    free(operand);
    free(statement);
    return done;
}

bool operator_init_missing(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    if (mutant_at(mutant)->operation != WSDBG_PTX_OP_mbarrier_init)
        return false;
    const bool done = mutant_skip(mutant, WHEN_ALWAYS);
    mutant_name_barrier(mutant);
    mutant->truth.causes = "BARRIER_NOT_INIT";
    mutant->truth.warps = 0;
    return done;
}

static bool is_block_sync(const struct subject *subject, const struct wsdbg_ptx_instruction *at)
{
    int64_t id;
    return at->operation == WSDBG_PTX_OP_bar_sync && at->operand_count == 1 &&
           values_constant(subject->values, &at->operands[0], &id) && id == 0;
}

/* The first initialisation is delayed, and the __syncthreads() behind it is left out. */
bool operator_init_late(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    const struct subject *subject = mutant->subject;
    const struct wsdbg_ptx_instruction *all = subject->source->program->instructions;
    const uint32_t first = mutant->instruction;
    uint32_t sync = first + 1;
    for (uint32_t i = subject->kernel->first; i < first; i++)
        if (all[i].operation == WSDBG_PTX_OP_mbarrier_init)
            return false;
    while (sync < subject->own_end && !is_block_sync(subject, &all[sync]))
        sync++;
    if (all[first].operation != WSDBG_PTX_OP_mbarrier_init || sync >= subject->own_end)
        return false;
    char *statement = mutant_statement(mutant);
    const bool done = statement && mutant_replace(mutant, "nanosleep.u32 500000; %s", statement) &&
                      mutant_move(mutant, sync) && mutant_replace(mutant, "/* left out */");
    free(statement);
    mutant->truth.causes = "BARRIER_NOT_INIT";
    return mutant_move(mutant, first) && done;
}

/* Whether an instruction reads the token that the arrival returns.  Such an arrival cannot be left out alone. */
static bool token_is_used(const struct mutant *mutant, const struct wsdbg_ptx_instruction *at)
{
    return at->operand_count && at->operands[0].kind == WSDBG_PTX_OPERAND_REGISTER && at->operands[0].is_written &&
           values_is_read(mutant->subject->values, at->operands[0].number);
}

static bool is_arrival(const struct wsdbg_ptx_instruction *at)
{
    return at->operation == WSDBG_PTX_OP_mbarrier_arrive || at->operation == WSDBG_PTX_OP_mbarrier_arrive_expect_tx ||
           at->operation == WSDBG_PTX_OP_cp_async_mbarrier_arrive;
}

/* The opcode with `beginning` instead of "mbarrier.arrive.expect_tx"; NULL = it does not begin so.  The caller frees
 * it. */
static char *opcode_instead(const struct mutant *mutant, const char *beginning)
{
    static const char announcing[] = "mbarrier.arrive.expect_tx";
    const struct span opcode = mutant->words.opcode;
    const char *text = mutant->subject->source->text + opcode.begin;
    const size_t length = opcode.end - opcode.begin, skip = sizeof announcing - 1;
    if (length < skip || strncmp(text, announcing, skip) != 0)
        return NULL;
    char *out = malloc(strlen(beginning) + length - skip + 1);
    if (!out)
        return NULL;
    strcpy(out, beginning);
    strncat(out, text + skip, length - skip);
    return out;
}

/* Only announces the bytes, by mbarrier.expect_tx.  That instruction has no .release, no .relaxed and no result. */
static bool announce_only(struct mutant *mutant, enum when when)
{
    static const char *const orders[] = {".release", ".relaxed"};
    char *opcode = opcode_instead(mutant, "mbarrier.expect_tx"), *behind = NULL;
    char *setup = mutant_when(mutant, when, &behind), *address = mutant_operand(mutant, 1);
    char *bytes = mutant_operand(mutant, 2), *statement = mutant_statement(mutant);
    const struct words *words = &mutant->words;
    bool done = opcode && behind && setup && address && bytes && statement && mutant_declare(mutant);
    for (unsigned i = 0; done && i < 2; i++) {
        char *found = strstr(opcode, orders[i]);
        if (found)
            memmove(found, found + strlen(orders[i]), strlen(found + strlen(orders[i])) + 1);
    }
    char *scope = done ? strstr(opcode, ".cluster.") : NULL; /* without an order there is no scope */
    if (done && !scope)
        scope = strstr(opcode, ".cta.");
    if (scope)
        memmove(scope, strchr(scope + 1, '.'), strlen(strchr(scope + 1, '.')) + 1);
    if (done)
        done = mutant_replace(mutant,
                              "%s @%%wsm_q bra $wsm_only; %s bra $wsm_skip; $wsm_only: %.*s %s %s, %s; $wsm_skip:%s",
                              setup, statement, (int)(words->guard.end - words->guard.begin),
                              mutant->subject->source->text + words->guard.begin, opcode, address, bytes, behind);
    mutant_blame(mutant, when);
    free(opcode);
    free(behind);
    free(setup);
    free(address);
    free(bytes);
    free(statement);
    return done;
}

/* ARRIVE_SHORT is right too where the arrival is always left out: the code then looks as if the count were too high.
 * WAKER_EXITED is right too: the warp may go on without its arrival, and exit.  PEER_EXITED is right too where it
 * arrives in another CTA: its own CTA may then have exited. */
static const char *missing_causes(enum when when, bool has_bytes, bool is_remote)
{
    static const char *const for_good[2][2] = {
        {"ARRIVE_MISSING,ARRIVE_SHORT,WAKER_EXITED", "ARRIVE_MISSING,ARRIVE_SHORT,WAKER_EXITED,PEER_EXITED"},
        {"TX_NO_ARRIVE,ARRIVE_MISSING,ARRIVE_SHORT,WAKER_EXITED",
         "TX_NO_ARRIVE,ARRIVE_MISSING,ARRIVE_SHORT,WAKER_EXITED,PEER_EXITED"}};
    static const char *const sometimes[2][2] = {
        {"ARRIVE_MISSING,WAKER_EXITED", "ARRIVE_MISSING,WAKER_EXITED,PEER_EXITED"},
        {"ARRIVE_MISSING,TX_NO_ARRIVE,WAKER_EXITED", "ARRIVE_MISSING,TX_NO_ARRIVE,WAKER_EXITED,PEER_EXITED"}};
    if (when == WHEN_RANK)
        return has_bytes ? "ARRIVE_MISSING,CLUSTER_RANK_ASYMMETRY,TX_NO_ARRIVE,ARRIVE_SHORT,WAKER_EXITED,PEER_EXITED"
                         : "ARRIVE_MISSING,CLUSTER_RANK_ASYMMETRY,ARRIVE_SHORT,WAKER_EXITED,PEER_EXITED";
    return (when == WHEN_LATER || when == WHEN_ONCE ? sometimes : for_good)[has_bytes][is_remote];
}

bool operator_arrive_missing(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    if (!is_arrival(at) || token_is_used(mutant, at))
        return false;
    const bool has_bytes = at->operation == WSDBG_PTX_OP_mbarrier_arrive_expect_tx;
    const bool done = has_bytes ? announce_only(mutant, (enum when)variant) : mutant_skip(mutant, (enum when)variant);
    mutant_name_barrier(mutant);
    mutant->truth.causes = missing_causes((enum when)variant, has_bytes, at->space == WSDBG_PTX_SHARED_CLUSTER);
    return done;
}

bool operator_arrive_twice(struct mutant *mutant, unsigned variant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    if (!is_arrival(at) || token_is_used(mutant, at))
        return false;
    char *again = NULL;
    if (at->operation == WSDBG_PTX_OP_mbarrier_arrive_expect_tx) {
        char *opcode = opcode_instead(mutant, "mbarrier.arrive"), *address = mutant_operand(mutant, 1);
        const struct words *words = &mutant->words;
        if (opcode && address &&
            asprintf(&again, "%.*s %s _, %s;", (int)(words->guard.end - words->guard.begin),
                     mutant->subject->source->text + words->guard.begin, opcode, address) < 0)
            again = NULL;
        free(opcode);
        free(address);
    } else {
        again = mutant_statement(mutant);
    }
    const bool done = again && mutant_before(mutant, (enum when)variant, again);
    free(again);
    mutant_name_barrier(mutant);
    mutant->truth.causes = "DOUBLE_ARRIVE,PARITY_DRIFT";
    return done;
}

/* The first arrival whose address comes from instruction `from`; NULL = there is none. */
static const struct wsdbg_ptx_instruction *arrival_from(const struct subject *subject, uint32_t from)
{
    for (uint32_t i = subject->kernel->first; i < subject->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *at = &subject->source->program->instructions[i];
        if (is_arrival(at) && values_flows(subject->values, from, mutant_mbarrier(at), 3))
            return at;
    }
    return NULL;
}

bool operator_remote_self(struct mutant *mutant, unsigned variant)
{
    (void)variant;
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    const struct wsdbg_ptx_instruction *arrival =
        at->operation == WSDBG_PTX_OP_mapa ? arrival_from(mutant->subject, mutant->instruction) : NULL;
    if (!arrival)
        return false;
    char *statement = mutant_with(mutant, NULL, 2, "%wsm_t");
    const bool done = statement && mutant_declare(mutant) &&
                      mutant_replace(mutant, "mov.u32 %%wsm_t, %%cluster_ctarank; %s", statement);
    free(statement);
    mutant->instruction = (uint32_t)(arrival - mutant->subject->source->program->instructions);
    mutant_name_barrier(mutant);
    mutant->truth.warps = mutant_warps(mutant);
    mutant->truth.causes = "ARRIVE_MISSING,ARRIVE_SHORT,CLUSTER_RANK_ASYMMETRY,DOUBLE_ARRIVE";
    return done;
}
