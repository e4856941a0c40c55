/* mutant.c - see mutant.h.  Reads a subject; writes edits and the truth of one mutant. */
#include "mutant.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const when_word[WHEN_COUNT] = {"always", "one-warp", "one-rank", "one-cta", "later", "once"};

/* So many executions are right before the defect shows. */
enum { BEFORE_LATER = 1, BEFORE_ONCE = 2 };

const struct wsdbg_ptx_instruction *mutant_at(const struct mutant *mutant)
{
    return &mutant->subject->source->program->instructions[mutant->instruction];
}

bool mutant_move(struct mutant *mutant, uint32_t instruction)
{
    const struct source *source = mutant->subject->source;
    mutant->instruction = instruction;
    return source_statement(source, instruction, &mutant->statement) &&
           source_words(source, mutant->statement, &mutant->words);
}

uint32_t mutant_warps(const struct mutant *mutant)
{
    return values_warps(mutant->subject->values, mutant->instruction);
}

/* ---- which barrier ---- */

const struct wsdbg_ptx_operand *mutant_mbarrier(const struct wsdbg_ptx_instruction *at)
{
    const struct wsdbg_ptx_operand *found = NULL;
    switch (at->operation) {
    case WSDBG_PTX_OP_bulk_copy:
    case WSDBG_PTX_OP_tensor_copy:
    case WSDBG_PTX_OP_bulk_reduce:
        if (at->space != WSDBG_PTX_SHARED && at->space != WSDBG_PTX_SHARED_CLUSTER)
            return NULL;
        break;
    case WSDBG_PTX_OP_mbarrier_init:
    case WSDBG_PTX_OP_mbarrier_arrive:
    case WSDBG_PTX_OP_mbarrier_arrive_drop:
    case WSDBG_PTX_OP_mbarrier_arrive_expect_tx:
    case WSDBG_PTX_OP_mbarrier_expect_tx:
    case WSDBG_PTX_OP_mbarrier_test_wait:
    case WSDBG_PTX_OP_mbarrier_try_wait:
    case WSDBG_PTX_OP_cp_async_mbarrier_arrive:
    case WSDBG_PTX_OP_st_async:
    case WSDBG_PTX_OP_red_async:
        break;
    default:
        return NULL;
    }
    for (unsigned i = 0; i < at->operand_count; i++)
        if (at->operands[i].kind == WSDBG_PTX_OPERAND_ADDRESS)
            found = &at->operands[i];
    return found;
}

/* Whether a branch behind the instruction leads back to it or before it. */
static bool is_in_loop(const struct subject *subject, uint32_t instruction)
{
    for (uint32_t i = instruction; i < subject->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *at = &subject->source->program->instructions[i];
        if (at->operation == WSDBG_PTX_OP_bra && at->target >= subject->kernel->first && at->target <= instruction)
            return true;
    }
    return false;
}

/* An mbarrier.init's address and count (-1 = unknown); false: it is another instruction. */
static bool read_init(const struct subject *subject, uint32_t instruction, int64_t *address, int64_t *count,
                      bool *is_exact)
{
    const struct wsdbg_ptx_instruction *at = &subject->source->program->instructions[instruction];
    if (at->operation != WSDBG_PTX_OP_mbarrier_init)
        return false;
    *address = values_base(subject->values, &at->operands[0], is_exact);
    if (!values_constant(subject->values, &at->operands[1], count))
        *count = -1;
    return true;
}

struct found_init {
    int64_t address, count;
    bool is_exact, is_in_loop, is_found;
};

/* The initialisation with the lowest address that is not below `from`. */
static struct found_init next_init(const struct subject *subject, int64_t from)
{
    struct found_init best = {0};
    for (uint32_t i = subject->kernel->first; i < subject->kernel->end; i++) {
        struct found_init at = {.is_found = true};
        if (!read_init(subject, i, &at.address, &at.count, &at.is_exact) || at.address < from ||
            (best.is_found && at.address >= best.address))
            continue;
        at.is_in_loop = is_in_loop(subject, i);
        best = at;
    }
    return best;
}

/* The last mbarrier of the array that begins at `first`.  Where each mbarrier has its own initialisation, the array is
 * the neighbours with the same count.  Where a loop initialises them, the array reaches up to the next one. */
static int64_t array_end(const struct subject *subject, int64_t first)
{
    enum { BYTES = 8, STRIDE_MOST = 16, STAGES_MOST = 32 };
    const struct found_init begin = next_init(subject, first);
    struct found_init last = begin;
    if (!begin.is_found || begin.address != first)
        return first;
    for (;;) {
        const struct found_init next = next_init(subject, last.address + 1);
        if (begin.is_in_loop)
            return next.is_found ? next.address - BYTES : first + BYTES * STAGES_MOST;
        if (!next.is_found || next.is_in_loop || next.count != begin.count || next.address - last.address > STRIDE_MOST)
            return last.address;
        last = next;
    }
}

static void name_mbarrier(struct mutant *mutant, const struct wsdbg_ptx_operand *operand)
{
    bool is_exact;
    char *out = mutant->truth.barrier;
    const int64_t first = values_base(mutant->subject->values, operand, &is_exact);
    const struct found_init init = next_init(mutant->subject, first);
    if (!is_exact && init.is_found && init.address == first && !init.is_exact && !init.is_in_loop)
        return; /* only a run would tell where the array lies */
    const int64_t last = is_exact ? first : array_end(mutant->subject, first);
    const int length = snprintf(out, sizeof mutant->truth.barrier, "mbarrier 0x%" PRIx64, (uint64_t)first);
    if (last > first)
        snprintf(out + length, sizeof mutant->truth.barrier - (size_t)length, " to 0x%" PRIx64, (uint64_t)last);
}

void mutant_name_barrier(struct mutant *mutant)
{
    const struct wsdbg_ptx_instruction *at = mutant_at(mutant);
    const struct wsdbg_ptx_operand *mbarrier = mutant_mbarrier(at);
    char *out = mutant->truth.barrier;
    int64_t id;
    *out = '\0';
    switch (at->operation) {
    case WSDBG_PTX_OP_bar_sync:
    case WSDBG_PTX_OP_bar_arrive:
    case WSDBG_PTX_OP_bar_red:
        if (values_constant(mutant->subject->values, &at->operands[at->operation == WSDBG_PTX_OP_bar_red], &id))
            snprintf(out, sizeof mutant->truth.barrier, "named barrier %" PRId64, id);
        break;
    case WSDBG_PTX_OP_barrier_cluster_arrive:
    case WSDBG_PTX_OP_barrier_cluster_wait:
        snprintf(out, sizeof mutant->truth.barrier, "cluster barrier");
        break;
    case WSDBG_PTX_OP_setmaxnreg:
        snprintf(out, sizeof mutant->truth.barrier, "register pool");
        break;
    default:
        if (mbarrier)
            name_mbarrier(mutant, mbarrier);
    }
}

/* ---- text ---- */

static char *cut(const struct mutant *mutant, struct span span)
{
    return strndup(mutant->subject->source->text + span.begin, span.end - span.begin);
}

char *mutant_statement(const struct mutant *mutant)
{
    return cut(mutant, mutant->statement);
}

char *mutant_operand(const struct mutant *mutant, size_t number)
{
    return number < mutant->words.operand_count ? cut(mutant, mutant->words.operand[number]) : NULL;
}

char *mutant_with(const struct mutant *mutant, const char *opcode, size_t operand, const char *text)
{
    const struct source *source = mutant->subject->source;
    const struct words *words = &mutant->words;
    char *out = NULL;
    size_t byte_count;
    FILE *file = open_memstream(&out, &byte_count);
    if (!file)
        return NULL;
    fprintf(file, "%.*s ", (int)(words->guard.end - words->guard.begin), source->text + words->guard.begin);
    if (opcode)
        fputs(opcode, file);
    else
        fprintf(file, "%.*s", (int)(words->opcode.end - words->opcode.begin), source->text + words->opcode.begin);
    for (size_t i = 0; i < words->operand_count; i++) {
        fputs(i ? ", " : " ", file);
        if (i == operand)
            fputs(text, file);
        else
            fprintf(file, "%.*s", (int)(words->operand[i].end - words->operand[i].begin),
                    source->text + words->operand[i].begin);
    }
    fputs(";", file);
    fclose(file);
    return out;
}

/* ---- edits ---- */

bool mutant_declare(struct mutant *mutant)
{
    if (mutant->is_declared)
        return true;
    const size_t body = source_body(mutant->subject->source, mutant->instruction);
    mutant->is_declared = true;
    return body && edits_add(&mutant->edits, (struct span){body, body},
                             strdup(" .reg .pred %wsm_q; .reg .b32 %wsm_t, %wsm_c; .reg .b16 %wsm_h; "
                                    "mov.u32 %wsm_c, 0;"));
}

bool mutant_replace(struct mutant *mutant, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const bool has_memory = vasprintf(&text, format, arguments) >= 0;
    va_end(arguments);
    return edits_add(&mutant->edits, mutant->statement, has_memory ? text : NULL);
}

static unsigned lowest(uint32_t warps)
{
    return warps ? (unsigned)__builtin_ctz(warps) : 0;
}

static char *format(const char *text, ...)
{
    char *out = NULL;
    va_list arguments;
    va_start(arguments, text);
    if (vasprintf(&out, text, arguments) < 0)
        out = NULL;
    va_end(arguments);
    return out;
}

/* The guard of the statement and a space. */
static char *guard_of(const struct mutant *mutant)
{
    char *guard = cut(mutant, mutant->words.guard);
    char *out = guard ? format("%s ", guard) : NULL;
    free(guard);
    return out;
}

static char *count_executions(const struct mutant *mutant)
{
    char *guard = guard_of(mutant);
    char *out = guard ? format(" %sadd.u32 %%wsm_c, %%wsm_c, 1;", guard) : NULL;
    free(guard);
    return out;
}

char *mutant_when(const struct mutant *mutant, enum when when, char **behind)
{
    const uint32_t warps = mutant_warps(mutant);
    *behind = NULL;
    if ((when == WHEN_LATER || when == WHEN_ONCE) && mutant->instruction >= mutant->subject->own_end)
        return NULL; /* a called function would count from 0 in each call */
    *behind = when == WHEN_LATER || when == WHEN_ONCE ? count_executions(mutant) : strdup("");
    switch (when) {
    case WHEN_ALWAYS:
        return strdup("setp.eq.u32 %wsm_q, 0, 0;");
    case WHEN_WARP:
        if (!(warps & (warps - 1)))
            return NULL;
        return format("mov.u32 %%wsm_t, %%tid.x; shr.u32 %%wsm_t, %%wsm_t, 5; setp.eq.u32 %%wsm_q, %%wsm_t, %u;",
                      lowest(warps));
    case WHEN_RANK:
        if (!mutant->subject->has_cluster)
            return NULL;
        return strdup("mov.u32 %wsm_t, %cluster_ctarank; setp.eq.u32 %wsm_q, %wsm_t, 1;");
    case WHEN_CTA:
        return strdup("mov.u32 %wsm_t, %ctaid.x; setp.eq.u32 %wsm_q, %wsm_t, 1;");
    case WHEN_LATER:
        return format("setp.ge.u32 %%wsm_q, %%wsm_c, %u;", BEFORE_LATER);
    case WHEN_ONCE:
        return format("setp.eq.u32 %%wsm_q, %%wsm_c, %u;", BEFORE_ONCE);
    default:
        return NULL;
    }
}

void mutant_blame(struct mutant *mutant, enum when when)
{
    mutant->truth.warps = mutant_warps(mutant);
    if (when == WHEN_WARP)
        mutant->truth.warps &= -mutant->truth.warps;
}

static bool put(struct mutant *mutant, enum when when, const char *extra, bool keeps_statement)
{
    char *behind = NULL, *setup = mutant_when(mutant, when, &behind), *statement = mutant_statement(mutant);
    const unsigned label = mutant->instruction; /* a mutant may skip several statements */
    bool done = setup && behind && statement && mutant_declare(mutant);
    if (done && keeps_statement)
        done = mutant_replace(mutant, "%s @!%%wsm_q bra $wsm_skip%u; %s $wsm_skip%u:%s %s", setup, label, extra, label,
                              behind, statement);
    else if (done && when == WHEN_ALWAYS)
        done = mutant_replace(mutant, "/* left out */");
    else if (done)
        done = mutant_replace(mutant, "%s @%%wsm_q bra $wsm_skip%u; %s $wsm_skip%u:%s", setup, label, statement, label,
                              behind);
    mutant_blame(mutant, when);
    free(behind);
    free(setup);
    free(statement);
    return done;
}

bool mutant_skip(struct mutant *mutant, enum when when)
{
    return put(mutant, when, "", false);
}

bool mutant_before(struct mutant *mutant, enum when when, const char *extra)
{
    return put(mutant, when, extra, true);
}
