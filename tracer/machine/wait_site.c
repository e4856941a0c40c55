/* wait_site.c - see wait_site.h.  Reads: a function's graph.  Writes: the wait that a place belongs to. */
#include "machine/wait_site.h"

#include <stdlib.h>

#include "machine/time_limit.h"

enum { CHAIN_MOST = 3 }; /* instructions between a pointer and the load that uses it */

static const struct wsdbg_instruction *at(const struct wsdbg_graph *graph, uint32_t number)
{
    return wsdbg_graph_instruction(graph, number);
}

static bool same_operand(const struct wsdbg_operand *a, const struct wsdbg_operand *b)
{
    return a->kind == b->kind && a->number == b->number && a->uniform == b->uniform && a->value == b->value;
}

static bool same_test(const struct wsdbg_instruction *a, const struct wsdbg_instruction *b)
{
    if (a->source_count != b->source_count)
        return false;
    for (unsigned i = 0; i < a->source_count; i++)
        if (!same_operand(&a->sources[i], &b->sources[i]))
            return false;
    return true;
}

/* Whether the loop writes a register that the test names.  Then another test that names it may be of another barrier.
 */
static bool writes_sources(const struct wsdbg_loop *loop, uint32_t test)
{
    const struct wsdbg_instruction *row = at(loop->graph, test);
    for (unsigned s = 0; s < row->source_count; s++)
        if (wsdbg_loop_writes(loop, &row->sources[s]))
            return true;
    return false;
}

/* Whether the sources of the instruction are written between it and `to`, both not counted. */
static bool is_overwritten(const struct wsdbg_graph *graph, uint32_t instruction, uint32_t to)
{
    for (uint32_t i = instruction + 1; i < to; i++)
        for (unsigned s = 0; s < at(graph, instruction)->source_count; s++)
            if (wsdbg_writes_operand(at(graph, i), &at(graph, instruction)->sources[s]))
                return true;
    return false;
}

static bool keeps_sources(const struct wsdbg_loop *loop, uint32_t instruction)
{
    const struct wsdbg_instruction *row = at(loop->graph, instruction);
    for (unsigned s = 0; s < row->source_count; s++)
        if (!wsdbg_loop_keeps(loop, instruction, &row->sources[s]))
            return false;
    return true;
}

static bool is_test(const struct wsdbg_loop *loop, uint32_t number)
{
    return at(loop->graph, number)->operation == WSDBG_OP_SYNCS_PHASECHK;
}

/* The first test of the loop, if all tests are of one barrier and phase.  A loop that acts when a test succeeds may
 * test several, if their barriers and phases stay the same while all tests fail; *of_several tells that it does. */
static uint32_t test_of(const struct wsdbg_loop *loop, bool *of_several)
{
    uint32_t found = WSDBG_NO_INSTRUCTION;
    *of_several = false;
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1)) {
        if (!is_test(loop, i))
            continue;
        if (loop->acts_beside && !keeps_sources(loop, i))
            return WSDBG_NO_INSTRUCTION;
        if (found == WSDBG_NO_INSTRUCTION)
            found = i;
        *of_several |= i != found && (!same_test(at(loop->graph, i), at(loop->graph, found)) ||
                                      (loop->acts_beside && writes_sources(loop, i)));
    }
    return *of_several && !loop->acts_beside ? WSDBG_NO_INSTRUCTION : found;
}

static bool has_operation(const struct wsdbg_loop *loop, enum wsdbg_operation operation)
{
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1))
        if (at(loop->graph, i)->operation == operation)
            return true;
    return false;
}

static uint32_t first_instruction(const struct wsdbg_loop *loop)
{
    return wsdbg_graph_block(loop->graph, loop->head)->first;
}

static void found(struct wsdbg_wait_site *out, enum wsdbg_warp_state state, uint32_t instruction, uint32_t home,
                  bool operands_hold)
{
    out->state = state;
    out->instruction = instruction;
    out->home = home;
    out->operands_hold = operands_hold;
}

/* try_wait without a loop of its own, or the first try before one: its test lies before the counter in the same block,
 * and nothing that others see has happened since. */
static bool find_try(const struct wsdbg_graph *graph, uint32_t pc, struct wsdbg_wait_site *out)
{
    const uint32_t first = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, pc))->first;
    for (uint32_t i = pc + 1; i-- > first;) {
        const struct wsdbg_instruction *instruction = at(graph, i);
        if (instruction->operation == WSDBG_OP_SYNCS_PHASECHK && instruction->is_try_wait) {
            found(out, WSDBG_WARP_WAIT_MBARRIER, i, i, !is_overwritten(graph, i, pc));
            return true;
        }
        if (i != pc && !wsdbg_operation_computes(instruction->operation) &&
            instruction->operation != WSDBG_OP_NANOSLEEP && instruction->operation != WSDBG_OP_SYNCS_PHASECHK &&
            instruction->operation != WSDBG_OP_CCTL)
            return false;
    }
    return false;
}

/* Whether the registers that a test names still have what it saw where the counter is: behind it, in its block. */
static bool is_fresh(const struct wsdbg_graph *graph, uint32_t test, uint32_t pc)
{
    return test <= pc && wsdbg_graph_block_of(graph, test) == wsdbg_graph_block_of(graph, pc) &&
           !is_overwritten(graph, test, pc);
}

/* A loop that tries to get registers, tests a barrier or polls memory, and does nothing else. */
static bool find_loop_wait(const struct wsdbg_loop *loop, uint32_t pc, struct wsdbg_wait_site *out)
{
    const uint32_t home = first_instruction(loop);
    const uint32_t test = test_of(loop, &out->of_several);
    const bool tests = has_operation(loop, WSDBG_OP_SYNCS_PHASECHK);
    for (uint32_t i = wsdbg_loop_next(loop, 0); !tests && i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1)) {
        const struct wsdbg_instruction *instruction = at(loop->graph, i);
        if (instruction->operation == WSDBG_OP_USETMAXREG && instruction->mode == WSDBG_MAXREG_TRY_ALLOC) {
            found(out, WSDBG_WARP_WAIT_REGISTERS, i, home, keeps_sources(loop, i));
            return true;
        }
    }
    if (tests && test == WSDBG_NO_INSTRUCTION && loop->acts_beside)
        return false;
    if (tests && test == WSDBG_NO_INSTRUCTION) {
        found(out, WSDBG_WARP_UNKNOWN, out->instruction, home, false);
    } else if (tests) {
        /* A loop may find the parity, or copy the address, anew in each round. */
        const bool keeps = keeps_sources(loop, test);
        out->is_fresh = !out->of_several && is_fresh(loop->graph, test, pc);
        found(out, WSDBG_WARP_WAIT_MBARRIER, test, home, keeps || out->is_fresh);
    }
    return tests;
}

static bool is_polled(const struct wsdbg_loop *loop, uint32_t instruction, bool global)
{
    const enum wsdbg_operation operation = at(loop->graph, instruction)->operation;
    const bool is_shared = wsdbg_operation_space(operation) == WSDBG_SPACE_SHARED;
    if (!wsdbg_operation_reads_memory(operation) || is_shared == global)
        return false;
    /* Other looks of the loop may go through pointers that it loads; the one that is waited for has a place. */
    return wsdbg_loop_keeps(loop, instruction, wsdbg_memory_operand(at(loop->graph, instruction))) &&
           wsdbg_loop_ends_by(loop, instruction);
}

/* Every lane loads, and nothing else in the loop writes the register that the load fills. */
static bool keeps_value(const struct wsdbg_loop *loop, uint32_t load)
{
    const struct wsdbg_operand *value = wsdbg_loaded_register(at(loop->graph, load));
    for (uint32_t i = wsdbg_loop_next(loop, 0); value && i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1))
        if (i != load && wsdbg_writes_operand(at(loop->graph, i), value))
            return false;
    return value && at(loop->graph, load)->guard == WSDBG_PT;
}

/* Of several loads by which the loop may end the first one that is looked at in every round: what is looked at now and
 * then only is a way out. */
static unsigned worth_of_poll(const struct wsdbg_loop *loop, uint32_t load)
{
    return 1u + (at(loop->graph, load)->operation != WSDBG_OP_LDGMC) + 2u * wsdbg_loop_always_passes(loop, load);
}

/* A wide load brings other data beside the word that is waited for.  Takes the first register, or pair of registers,
 * that can end the loop by itself. */
static void find_polled_word(const struct wsdbg_loop *loop, uint32_t load, struct wsdbg_wait_site *out)
{
    enum { WORD = 4, SHOWN = 8 };
    const struct wsdbg_operand *value = wsdbg_loaded_register(at(loop->graph, load));
    const unsigned words = at(loop->graph, load)->width_bytes / WORD;
    unsigned first = 0;
    if (!value || words * WORD <= SHOWN)
        return;
    while (first < words && !wsdbg_loop_ends_by_register(loop, load, value->number + first))
        first++;
    if (first == words)
        return;
    const bool is_pair = first % 2 == 0 && wsdbg_loop_ends_by_register(loop, load, value->number + first + 1);
    out->word_offset = (uint8_t)(first * WORD);
    out->word_bytes = is_pair ? SHOWN : WORD;
}

/* Whether an operand's register was made from what `origin` brought, by arithmetic alone, in one block. */
static bool comes_from(const struct wsdbg_loop *loop, uint32_t number, const struct wsdbg_operand *operand,
                       uint32_t origin, unsigned depth)
{
    const uint32_t written = wsdbg_loop_written(loop, number, operand);
    if (written == WSDBG_NO_INSTRUCTION || written == origin)
        return written == origin;
    const struct wsdbg_instruction *row = at(loop->graph, written);
    for (unsigned s = 0; depth && wsdbg_operation_computes(row->operation) && s < row->source_count; s++)
        if (row->sources[s].kind == WSDBG_OPERAND_REGISTER &&
            comes_from(loop, written, &row->sources[s], origin, depth - 1))
            return true;
    return false;
}

/* The load that finds its place through what the polled one brings, if the loop ends by it: then that one is waited
 * for.
 */
static uint32_t end_of_chain(const struct wsdbg_loop *loop, uint32_t polled)
{
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1)) {
        const struct wsdbg_operand *memory = wsdbg_memory_operand(at(loop->graph, i));
        if (i != polled && memory && wsdbg_operation_reads_memory(at(loop->graph, i)->operation) &&
            comes_from(loop, i, memory, polled, CHAIN_MOST) && wsdbg_loop_ends_by(loop, i))
            return i;
    }
    return polled;
}

static bool find_poll(const struct wsdbg_loop *loop, struct wsdbg_wait_site *out)
{
    uint32_t polled = WSDBG_NO_INSTRUCTION;
    unsigned best = 0;
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1)) {
        const unsigned worth = is_polled(loop, i, loop->has_global) ? worth_of_poll(loop, i) : 0;
        polled = worth > best ? i : polled;
        best = worth > best ? worth : best;
    }
    if (polled == WSDBG_NO_INSTRUCTION)
        return false;
    const uint32_t first = polled;
    polled = end_of_chain(loop, first);
    out->is_pointed = polled != first;
    out->has_limit = wsdbg_loop_has_time_limit(loop);
    found(out, loop->has_global ? WSDBG_WARP_SPIN_GLOBAL : WSDBG_WARP_SPIN_SHARED, polled, first_instruction(loop),
          true);
    out->value_holds = keeps_value(loop, polled);
    find_polled_word(loop, polled, out);
    return true;
}

/* Copies out of shared memory are waited for with the scoreboard that asynchronous loads use too. */
static bool only_copies_out_use_scoreboards(const struct wsdbg_graph *graph)
{
    bool copies_out = false;
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        if (at(graph, i)->operation == WSDBG_OP_LDGSTS)
            return false;
        copies_out |= at(graph, i)->operation == WSDBG_OP_UTMACMDFLUSH;
    }
    return copies_out;
}

/* What is asked of a whole graph. */
struct scoreboards {
    bool is_known, only_copies_out;
};

static bool asks_copies_out(const struct wsdbg_graph *graph, struct scoreboards *scoreboards)
{
    if (!scoreboards->is_known)
        *scoreboards = (struct scoreboards){true, only_copies_out_use_scoreboards(graph)};
    return scoreboards->only_copies_out;
}

static enum wsdbg_warp_state waits_at(const struct wsdbg_graph *graph, uint32_t pc, struct scoreboards *scoreboards)
{
    const enum wsdbg_operation operation = at(graph, pc)->operation;
    switch (operation) {
    case WSDBG_OP_UCGABAR_WAIT:
        return WSDBG_WARP_WAIT_CLUSTER;
    case WSDBG_OP_ACQBULK:
        return WSDBG_WARP_WAIT_GRID_DEPENDENCY;
    case WSDBG_OP_DEPBAR:
        return asks_copies_out(graph, scoreboards) ? WSDBG_WARP_WAIT_BULK : WSDBG_WARP_RUNNING;
    case WSDBG_OP_BSYNC:
    case WSDBG_OP_WARPSYNC:
        return WSDBG_WARP_RECONVERGE;
    default:
        return wsdbg_operation_is_of_wgmma(operation) ? WSDBG_WARP_WAIT_WGMMA : WSDBG_WARP_RUNNING;
    }
}

static bool is_blocking_barrier(const struct wsdbg_graph *graph, uint32_t instruction)
{
    const struct wsdbg_instruction *row = at(graph, instruction);
    return row->operation == WSDBG_OP_BAR && row->mode != WSDBG_BAR_ARV;
}

/* Whether a warp that a BAR holds may still execute the instruction. */
static bool is_let_through(const struct wsdbg_instruction *row)
{
    return wsdbg_operation_has(row->operation, WSDBG_EFFECT_FIXED_LATENCY) || row->operation == WSDBG_OP_R2UR ||
           row->operation == WSDBG_OP_ELECT;
}

/* A BAR need not hold the warp at once: it stops a few instructions later, behind what is through after a fixed number
 * of cycles.  Warps of an H200 and an H100 stood at the first load, branch, vote or read of a special register behind 5
 * to 30 of arithmetic, whether the BAR took its id and count from registers or not.  Warps of an H200 stood two
 * instructions behind a copy to a uniform register, and behind an ELECT, too; and at the first instruction of a loop
 * behind the BAR. */
static uint32_t barrier_before(const struct wsdbg_graph *graph, uint32_t pc, bool *is_joined)
{
    const uint32_t first = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, pc))->first;
    *is_joined = false;
    if (pc > 0 && is_blocking_barrier(graph, pc - 1))
        return pc - 1;
    for (uint32_t i = pc; i-- > 0;) {
        *is_joined |= i < first;
        if (is_blocking_barrier(graph, i))
            return i;
        if (!is_let_through(at(graph, i)))
            break;
    }
    return WSDBG_NO_INSTRUCTION;
}

static bool keeps_guard(const struct wsdbg_graph *graph, uint32_t instruction, uint32_t to)
{
    const struct wsdbg_instruction *row = at(graph, instruction);
    const struct wsdbg_operand guard = {.kind = row->guard_is_uniform ? WSDBG_OPERAND_UNIFORM_PREDICATE
                                                                      : WSDBG_OPERAND_PREDICATE,
                                        .number = row->guard,
                                        .registers = 1};
    for (uint32_t i = instruction + 1; row->guard != WSDBG_PT && i < to; i++)
        if (wsdbg_writes_operand(at(graph, i), &guard))
            return false;
    return true;
}

/* What the counter's own instruction waits for, or the loop around it. */
static struct wsdbg_error *find_at(const struct wsdbg_graph *graph, uint32_t pc, enum wsdbg_warp_state state,
                                   struct wsdbg_wait_site *out)
{
    struct wsdbg_loop loop;
    bool in_loop;
    if (state != WSDBG_WARP_RUNNING && state != WSDBG_WARP_RECONVERGE) {
        found(out, state, pc, pc, true);
        return NULL;
    }
    struct wsdbg_error *error = wsdbg_loop_around(graph, pc, &loop, &in_loop);
    if (error)
        return error;
    const bool waits =
        in_loop && loop.is_quiet && (find_loop_wait(&loop, pc, out) || (!loop.acts_beside && find_poll(&loop, out)));
    if (in_loop)
        free(loop.body);
    if (!waits && state == WSDBG_WARP_RECONVERGE)
        found(out, state, pc, pc, true);
    else if (!waits)
        find_try(graph, pc, out);
    return NULL;
}

static struct wsdbg_error *find_site(const struct wsdbg_graph *graph, uint32_t pc, struct scoreboards *scoreboards,
                                     struct wsdbg_wait_site *out)
{
    const enum wsdbg_warp_state state = waits_at(graph, pc, scoreboards);
    *out = (struct wsdbg_wait_site){.barrier_before = WSDBG_NO_INSTRUCTION};
    found(out, WSDBG_WARP_RUNNING, pc, pc, true);
    struct wsdbg_error *error = find_at(graph, pc, state, out);
    out->gathers = state == WSDBG_WARP_RECONVERGE;
    if (error)
        return error;
    const uint32_t bar = out->barrier_before = barrier_before(graph, pc, &out->bar_is_joined);
    if (bar != WSDBG_NO_INSTRUCTION) {
        out->bar_holds = !is_overwritten(graph, bar, pc);
        out->guard_holds = keeps_guard(graph, bar, pc);
    }
    return NULL;
}

struct wsdbg_error *wsdbg_wait_site_find(const struct wsdbg_graph *graph, uint32_t pc, struct wsdbg_wait_site *out)
{
    struct scoreboards scoreboards = {0};
    return find_site(graph, pc, &scoreboards, out);
}

/* ---- those that were found ---- */

/* `rows`: a table with room for twice as many, by a hash of the place. */
struct wsdbg_wait_sites {
    const struct wsdbg_graph *graph;
    struct scoreboards scoreboards;
    struct site_row {
        bool is_used;
        uint32_t pc;
        struct wsdbg_wait_site site;
    } * rows;
    size_t count, capacity; /* capacity: a power of two */
};

struct wsdbg_error *wsdbg_wait_sites_create(const struct wsdbg_graph *graph, struct wsdbg_wait_sites **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return &wsdbg_error_no_memory;
    (*out)->graph = graph;
    return NULL;
}

void wsdbg_wait_sites_destroy(struct wsdbg_wait_sites *sites)
{
    if (sites)
        free(sites->rows);
    free(sites);
}

/* The row of a place, or the free one in which it belongs. */
static struct site_row *row_of(struct site_row *rows, size_t capacity, uint32_t pc)
{
    const uint32_t mixed = pc * UINT32_C(2654435761);
    size_t i = (mixed ^ mixed >> 16) & (capacity - 1);
    while (rows[i].is_used && rows[i].pc != pc)
        i = (i + 1) & (capacity - 1);
    return &rows[i];
}

static bool make_room(struct wsdbg_wait_sites *sites)
{
    enum { FIRST_CAPACITY = 64 };
    if (2 * sites->count < sites->capacity)
        return true;
    const size_t capacity = sites->capacity ? 2 * sites->capacity : FIRST_CAPACITY;
    struct site_row *rows = calloc(capacity, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < sites->capacity; i++)
        if (sites->rows[i].is_used)
            *row_of(rows, capacity, sites->rows[i].pc) = sites->rows[i];
    free(sites->rows);
    sites->rows = rows;
    sites->capacity = capacity;
    return true;
}

struct wsdbg_error *wsdbg_wait_sites_find(struct wsdbg_wait_sites *sites, uint32_t pc, struct wsdbg_wait_site *out)
{
    if (!make_room(sites))
        return &wsdbg_error_no_memory;
    struct site_row *row = row_of(sites->rows, sites->capacity, pc);
    if (!row->is_used) {
        struct wsdbg_error *error = find_site(sites->graph, pc, &sites->scoreboards, &row->site);
        if (error)
            return error;
        row->is_used = true;
        row->pc = pc;
        sites->count++;
    }
    *out = row->site;
    return NULL;
}
