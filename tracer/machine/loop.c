/* loop.c - see loop.h.  Reads: a function's graph.  Writes: the set of blocks of one loop. */
#include "machine/loop.h"

#include <stdlib.h>
#include <string.h>

#include "machine/failed_test.h"

static void set_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool has_bit(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static bool is_store_to_shared(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_STORE &&
           wsdbg_operation_space(instruction->operation) == WSDBG_SPACE_SHARED;
}

static bool is_load(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_reads_memory(instruction->operation);
}

static bool is_atomic(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_ATOMIC;
}

/* What changes nothing that others see: the rest of the decoded set does, or may. */
static bool is_harmless(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_fits_wait_loop(instruction->operation);
}

/* An instruction that writes must write to one place, whatever the others write.  One that only reads may find its
 * place through a pointer: a poll that now and then looks at a flag of the host does so. */
static bool stays_at_its_place(const struct wsdbg_loop *loop, uint32_t number)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, number);
    const struct wsdbg_operand *memory = wsdbg_memory_operand(instruction);
    if (!memory)
        return false;
    return is_atomic(instruction) || is_store_to_shared(instruction) ? wsdbg_loop_keeps(loop, number, memory)
                                                                     : wsdbg_loop_settles(loop, number, memory);
}

static void classify(struct wsdbg_loop *loop)
{
    loop->is_quiet = true;
    for (uint32_t i = wsdbg_loop_next(loop, 0); loop->is_quiet && i != WSDBG_NO_INSTRUCTION;
         i = wsdbg_loop_next(loop, i + 1)) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, i);
        loop->has_global |= is_load(instruction) && wsdbg_operation_space(instruction->operation) != WSDBG_SPACE_SHARED;
        loop->is_quiet &= is_load(instruction) || is_store_to_shared(instruction) ? stays_at_its_place(loop, i)
                                                                                  : is_harmless(instruction);
    }
}

/* What the instructions of a block may do in a loop that only waits: a glance that spares most loops the rest. */
struct glance {
    bool looks, acts;
};

static void glance_at(const struct wsdbg_graph *graph, uint32_t block, struct glance *glance)
{
    const struct wsdbg_block *row = wsdbg_graph_block(graph, block);
    for (uint32_t i = row->first; !glance->acts && i < row->first + row->count; i++) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(graph, i);
        glance->acts = !is_load(instruction) && !is_store_to_shared(instruction) && !is_harmless(instruction);
        glance->looks |= is_load(instruction) || instruction->operation == WSDBG_OP_SYNCS_PHASECHK ||
                         instruction->operation == WSDBG_OP_USETMAXREG;
    }
}

/* Whether the blocks of this loop itself, without those of loops in it, do nothing but look and compute. */
static struct glance glance_at_loop(const struct wsdbg_graph *graph, uint32_t head)
{
    struct glance glance = {0};
    for (uint32_t b = 0; b < wsdbg_graph_block_count(graph) && !glance.acts; b++)
        if (wsdbg_graph_block(graph, b)->loop == head)
            glance_at(graph, b, &glance);
    return glance;
}

static bool leads_to(const struct wsdbg_block *block, uint32_t to)
{
    for (uint32_t s = 0; s < block->successor_count; s++)
        if (block->successor[s] == to)
            return true;
    return false;
}

/* The blocks of `whole` from which a way leads to `last` without passing the head again: the loop of one branch back to
 * it. */
static void find_ring(const struct wsdbg_graph *graph, const uint64_t *whole, uint32_t head, uint32_t last,
                      uint64_t *ring)
{
    const uint32_t count = wsdbg_graph_block_count(graph);
    memset(ring, 0, (count / 64 + 1) * sizeof *ring);
    set_bit(ring, head);
    set_bit(ring, last);
    for (bool grows = last != head; grows;) {
        grows = false;
        for (uint32_t b = 0; b < count; b++) {
            const struct wsdbg_block *block = wsdbg_graph_block(graph, b);
            if (!has_bit(whole, b) || has_bit(ring, b))
                continue;
            for (uint32_t s = 0; s < block->successor_count && !has_bit(ring, b); s++)
                if (block->successor[s] < count && block->successor[s] != head && has_bit(ring, block->successor[s])) {
                    set_bit(ring, b);
                    grows = true;
                }
        }
    }
}

/* A loop that only looks at something may share its head with the one around it: the one of these rings that holds the
 * block and does nothing else.  False: none does. */
static bool find_quiet_ring(struct wsdbg_loop *loop, uint32_t block, uint64_t *ring)
{
    const uint32_t count = wsdbg_graph_block_count(loop->graph);
    uint64_t *whole = loop->body;
    unsigned backs = 0;
    for (uint32_t b = 0; b < count; b++)
        backs += has_bit(whole, b) && leads_to(wsdbg_graph_block(loop->graph, b), loop->head);
    for (uint32_t b = 0; b < count && backs > 1; b++) {
        struct glance glance = {0};
        if (!has_bit(whole, b) || !leads_to(wsdbg_graph_block(loop->graph, b), loop->head))
            continue;
        find_ring(loop->graph, whole, loop->head, b, ring);
        for (uint32_t k = 0; k < count && has_bit(ring, block) && !glance.acts; k++)
            if (has_bit(ring, k))
                glance_at(loop->graph, k, &glance);
        if (!glance.looks || glance.acts)
            continue;
        loop->body = ring;
        classify(loop);
        loop->body = whole;
        if (loop->is_quiet)
            return true;
    }
    return false;
}

/* Successor s of the block, if a warp may go there while every test fails; else UINT32_MAX. */
static uint32_t next_on_failure(const struct wsdbg_loop *loop, const uint8_t *ways, uint32_t number, uint32_t s)
{
    const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, number);
    const uint32_t next = ways[number] == WSDBG_FAILS_ANY_WAY || ways[number] == s ? block->successor[s] : UINT32_MAX;
    return next < wsdbg_graph_block_count(loop->graph) && has_bit(loop->body, next) ? next : UINT32_MAX;
}

/* Finds the blocks that do nothing and that a warp can reach from the loop's head while every test fails. */
static void spread_ahead(const struct wsdbg_loop *loop, const uint8_t *ways, uint64_t *quiet)
{
    set_bit(quiet, loop->head);
    for (bool grows = true; grows;) {
        grows = false;
        for (uint32_t b = 0; b < wsdbg_graph_block_count(loop->graph); b++)
            for (uint32_t s = 0; has_bit(quiet, b) && s < wsdbg_graph_block(loop->graph, b)->successor_count; s++) {
                const uint32_t next = next_on_failure(loop, ways, b, s);
                struct glance glance = {0};
                if (next == UINT32_MAX || has_bit(quiet, next))
                    continue;
                glance_at(loop->graph, next, &glance);
                if (glance.acts)
                    continue;
                set_bit(quiet, next);
                grows = true;
            }
    }
}

/* Finds those of these blocks from which it gets back to the head. */
static void spread_back(const struct wsdbg_loop *loop, const uint8_t *ways, const uint64_t *quiet, uint64_t *ring)
{
    for (bool grows = true; grows;) {
        grows = false;
        for (uint32_t b = wsdbg_graph_block_count(loop->graph); b-- > 0;)
            for (uint32_t s = 0;
                 has_bit(quiet, b) && !has_bit(ring, b) && s < wsdbg_graph_block(loop->graph, b)->successor_count;
                 s++) {
                const uint32_t next = next_on_failure(loop, ways, b, s);
                if (next != UINT32_MAX && (next == loop->head || has_bit(ring, next))) {
                    set_bit(ring, b);
                    grows = true;
                }
            }
    }
}

/* Whether the loop tests a barrier, and the branch behind each test depends on that test alone. */
static bool branches_by_tests(const struct wsdbg_loop *loop, const uint8_t *ways)
{
    bool any = false;
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1)) {
        if (wsdbg_graph_instruction(loop->graph, i)->operation != WSDBG_OP_SYNCS_PHASECHK)
            continue;
        if (ways[wsdbg_graph_block_of(loop->graph, i)] == WSDBG_FAILS_ANY_WAY)
            return false;
        any = true;
    }
    return any;
}

/* A loop may test barriers in turn, and act only if a test succeeds.  The ring has all blocks on the ways round the
 * loop on which every test fails and nothing is done.  False: the block is not one of them. */
static bool find_testing_ring(struct wsdbg_loop *loop, uint32_t block, uint64_t *ring)
{
    const size_t words = wsdbg_graph_block_count(loop->graph) / 64 + 1;
    uint64_t *whole = loop->body, *quiet = calloc(words, sizeof *quiet);
    struct glance head = {0};
    glance_at(loop->graph, loop->head, &head);
    uint8_t *ways = head.acts ? NULL : wsdbg_ways_of_failure(loop->graph, whole);
    loop->is_quiet = false;
    memset(ring, 0, words * sizeof *ring);
    if (quiet && ways && !head.acts) {
        spread_ahead(loop, ways, quiet);
        spread_back(loop, ways, quiet, ring);
    }
    free(quiet);
    loop->body = ring;
    loop->has_global = false;
    if (has_bit(ring, block) && has_bit(ring, loop->head) && branches_by_tests(loop, ways))
        classify(loop);
    free(ways);
    loop->body = whole;
    loop->acts_beside = loop->is_quiet;
    return loop->is_quiet;
}

static struct wsdbg_error *take_quiet_ring(struct wsdbg_loop *loop, uint32_t block, bool *found)
{
    uint64_t *whole = loop->body, *ring = calloc(wsdbg_graph_block_count(loop->graph) / 64 + 1, sizeof *ring);
    struct wsdbg_error *error = ring ? NULL : &wsdbg_error_no_memory;
    *found = ring && (find_quiet_ring(loop, block, ring) || find_testing_ring(loop, block, ring));
    if (*found)
        loop->body = ring;
    else
        free(ring);
    free(whole);
    return error;
}

/* The head of the innermost loop around a block that looks at something or acts: a loop that does neither is a pause in
 * the one around it. */
static uint32_t head_around(const struct wsdbg_graph *graph, uint32_t block, struct glance *glance)
{
    uint32_t head = wsdbg_graph_block(graph, block)->loop;
    for (; head < wsdbg_graph_block_count(graph); head = wsdbg_graph_loop_around(graph, head)) {
        *glance = glance_at_loop(graph, head);
        if (glance->looks || glance->acts)
            break;
    }
    return head;
}

struct wsdbg_error *wsdbg_loop_around(const struct wsdbg_graph *graph, uint32_t instruction, struct wsdbg_loop *out,
                                      bool *found)
{
    const uint32_t block = wsdbg_graph_block_of(graph, instruction);
    struct glance glance = {0};
    const uint32_t head = head_around(graph, block, &glance);
    *found = false;
    if (head >= wsdbg_graph_block_count(graph))
        return NULL;
    uint64_t *body = calloc(wsdbg_graph_block_count(graph) / 64 + 1, sizeof *body);
    if (!body)
        return &wsdbg_error_no_memory;
    wsdbg_graph_loop_blocks(graph, head, body);
    *out = (struct wsdbg_loop){.graph = graph, .head = head, .body = body};
    if (glance.acts)
        return take_quiet_ring(out, block, found);
    classify(out);
    *found = true;
    return NULL;
}

bool wsdbg_loop_has_block(const struct wsdbg_loop *loop, uint32_t block)
{
    return has_bit(loop->body, block);
}

bool wsdbg_loop_has(const struct wsdbg_loop *loop, uint32_t instruction)
{
    return has_bit(loop->body, wsdbg_graph_block_of(loop->graph, instruction));
}

uint32_t wsdbg_loop_next(const struct wsdbg_loop *loop, uint32_t from)
{
    const uint32_t count = wsdbg_graph_instruction_count(loop->graph);
    while (from < count && !wsdbg_loop_has(loop, from)) {
        const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, wsdbg_graph_block_of(loop->graph, from));
        from = block->first + block->count > from ? block->first + block->count : from + 1;
    }
    return from < count ? from : WSDBG_NO_INSTRUCTION;
}

const struct wsdbg_operand *wsdbg_memory_operand(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (instruction->sources[i].kind == WSDBG_OPERAND_MEMORY)
            return &instruction->sources[i];
    return NULL;
}

const struct wsdbg_operand *wsdbg_loaded_register(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        if (instruction->destinations[i].kind == WSDBG_OPERAND_REGISTER &&
            instruction->destinations[i].number != WSDBG_RZ)
            return &instruction->destinations[i];
    return NULL;
}

/* Spreads from the blocks in `reached` to those behind them in the loop, but for `avoid`.  True: it reached the head.
 */
static bool spreads_to_head(const struct wsdbg_loop *loop, uint64_t *reached, uint32_t avoid)
{
    for (bool grows = true; grows;) {
        grows = false;
        for (uint32_t i = 0; i < wsdbg_graph_block_count(loop->graph); i++) {
            const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, i);
            for (uint32_t s = 0; has_bit(reached, i) && s < block->successor_count; s++) {
                const uint32_t next = block->successor[s];
                if (next == loop->head)
                    return true;
                if (next >= wsdbg_graph_block_count(loop->graph) || next == avoid || !has_bit(loop->body, next) ||
                    has_bit(reached, next))
                    continue;
                set_bit(reached, next);
                grows = true;
            }
        }
    }
    return false;
}

bool wsdbg_loop_always_passes(const struct wsdbg_loop *loop, uint32_t instruction)
{
    const uint32_t block = wsdbg_graph_block_of(loop->graph, instruction);
    if (block == loop->head)
        return true;
    uint64_t *reached = calloc(wsdbg_graph_block_count(loop->graph) / 64 + 1, sizeof *reached);
    if (!reached)
        return false;
    set_bit(reached, loop->head);
    const bool passes = !spreads_to_head(loop, reached, block);
    free(reached);
    return passes;
}
