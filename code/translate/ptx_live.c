/* ptx_live.c - see ptx_live.h.  The usual analysis of live variables, backwards over the blocks, for 64 registers at a
 * time.  A call leads to the next instruction: what is needed there is not changed by the function that is called,
 * which has registers of its own.
 *
 * Reads: the control flow of one kernel, where it names registers.  Writes: the pieces of text.
 */
#include "translate/ptx_live.h"

#include <stdlib.h>

#include "base/grow.h"
#include "ptx/graph.h"

enum { AT_ONCE = 64, EDGES_MOST = 1 << 20, BODIES_MOST = 256 };
#define PIECES_MOST ((size_t)1 << 22)

/* What a block does with the registers at hand, a bit each. */
struct block {
    uint64_t reads;  /* what they held before it */
    uint64_t writes; /* for certain */
    uint64_t named;
    uint64_t in, out; /* needed at its begin, and at its end */
};

struct call {
    uint32_t index, body;
};

/* The kernel's own code and that of each function that it calls: body i is from first[i] to first[i + 1] - 1. */
struct bodies {
    uint32_t *first;
    uint32_t count;
    struct call *calls; /* in the order of the text */
    uint32_t call_count;
    bool *leads; /* [from * count + to]: whether one leads to the other by calls, or is it */
};

struct analysis {
    const struct wsdbg_ptx_naming *namings;
    struct wsdbg_lists of_register; /* numbers of namings */
    struct wsdbg_ptx_graph graph;
    struct bodies bodies;
    struct block *blocks;
    struct wsdbg_ptx_live *live;
    uint32_t registers;
};

static void note(struct analysis *analysis, const struct wsdbg_ptx_naming *naming, uint64_t bit)
{
    struct block *block = &analysis->blocks[analysis->graph.block_of[naming->index - analysis->graph.begin]];
    if (naming->is_read && !(block->writes & bit))
        block->reads |= bit;
    if (!naming->is_read)
        block->writes |= bit;
    block->named |= bit;
}

/* Backwards, so that a kernel without loops takes one pass. */
static bool flow_once(struct analysis *analysis)
{
    const struct wsdbg_lists *after = &analysis->graph.after;
    bool grows = false;
    for (uint32_t b = analysis->graph.count; b-- > 0;) {
        struct block *block = &analysis->blocks[b];
        for (uint32_t i = after->first[b]; i < after->first[b + 1]; i++)
            block->out |= analysis->blocks[after->numbers[i]].in;
        const uint64_t in = block->reads | (block->out & ~block->writes);
        grows |= in != block->in;
        block->in = in;
    }
    return grows;
}

/* The blocks' sets for the registers from `first` on. */
static void find_live(struct analysis *analysis, uint32_t first)
{
    const struct wsdbg_lists *lists = &analysis->of_register;
    for (uint32_t b = 0; b <= analysis->graph.count; b++) /* with the exit */
        analysis->blocks[b] = (struct block){0};
    for (uint32_t r = first; r < analysis->registers && r < first + AT_ONCE; r++)
        for (uint32_t i = lists->first[r]; i < lists->first[r + 1]; i++)
            note(analysis, &analysis->namings[lists->numbers[i]], (uint64_t)1 << (r - first));
    while (flow_once(analysis))
        ;
}

/* ---- pieces ---- */

/* The piece joins the one before it where nothing is between them. */
static struct wsdbg_error *add_piece(struct wsdbg_ptx_live *live, uint32_t number, struct wsdbg_ptx_piece piece)
{
    struct wsdbg_ptx_piece *last = live->count > live->first[number] ? &live->pieces[live->count - 1] : NULL;
    if (last && last->last + 1 == piece.first) {
        last->last = piece.last;
        return NULL;
    }
    if (live->count == PIECES_MOST)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "registers are needed in more than %zu pieces", PIECES_MOST);
    if (!wsdbg_grow((void **)&live->pieces, &live->capacity, live->count + 1, sizeof *live->pieces))
        return &wsdbg_error_no_memory;
    live->pieces[live->count++] = piece;
    return NULL;
}

/* The first and last place at which the block names the register, from naming *at of its list on. */
static struct wsdbg_ptx_piece extent_in(const struct analysis *analysis, uint32_t number, uint32_t block, uint32_t *at)
{
    const struct wsdbg_lists *lists = &analysis->of_register;
    const uint32_t end = analysis->graph.first[block + 1];
    struct wsdbg_ptx_piece extent = {.first = UINT32_MAX};
    for (; *at < lists->first[number + 1]; ++*at) {
        const uint32_t index = analysis->namings[lists->numbers[*at]].index;
        if (index >= end)
            break;
        extent.first = index < extent.first ? index : extent.first;
        extent.last = index;
    }
    return extent;
}

static struct wsdbg_error *add_own_pieces(struct analysis *analysis, uint32_t number, uint64_t bit)
{
    struct wsdbg_error *error = NULL;
    uint32_t at = analysis->of_register.first[number];
    const bool is_named = at < analysis->of_register.first[number + 1];
    for (uint32_t b = 0; is_named && b < analysis->graph.count && !error; b++) {
        const struct block *block = &analysis->blocks[b];
        if (!((block->in | block->out | block->named) & bit))
            continue;
        struct wsdbg_ptx_piece piece = extent_in(analysis, number, b, &at);
        if (block->in & bit)
            piece.first = analysis->graph.first[b];
        if (block->out & bit)
            piece.last = analysis->graph.first[b + 1] - 1;
        error = add_piece(analysis->live, number, piece);
    }
    return error;
}

/* ---- calls ---- */

/* Whether some piece of the register, from pieces[first] to pieces[end - 1], has a call in it that leads to the body.
 */
static bool is_needed_across(const struct analysis *analysis, size_t first, size_t end, uint32_t body)
{
    const struct bodies *bodies = &analysis->bodies;
    uint32_t call = 0;
    for (size_t i = first; i < end; i++) {
        const struct wsdbg_ptx_piece *piece = &analysis->live->pieces[i];
        while (call < bodies->call_count && bodies->calls[call].index < piece->first)
            call++;
        for (; call < bodies->call_count && bodies->calls[call].index <= piece->last; call++)
            if (bodies->leads[bodies->calls[call].body * bodies->count + body])
                return true;
    }
    return false;
}

static struct wsdbg_error *add_called_pieces(struct analysis *analysis, uint32_t number)
{
    const struct bodies *bodies = &analysis->bodies;
    const size_t first = analysis->live->first[number], end = analysis->live->count;
    struct wsdbg_error *error = NULL;
    for (uint32_t body = 1; body < bodies->count && !error; body++)
        if (is_needed_across(analysis, first, end, body))
            error = add_piece(analysis->live, number,
                              (struct wsdbg_ptx_piece){bodies->first[body], bodies->first[body + 1] - 1});
    return error;
}

static uint32_t body_of(const struct bodies *bodies, uint32_t index)
{
    uint32_t body = bodies->count - 1;
    while (index < bodies->first[body])
        body--;
    return body;
}

/* Whether several bodies name the register: it carries something from one to the other. */
static bool is_of_several(const struct analysis *analysis, uint32_t number)
{
    const struct wsdbg_lists *lists = &analysis->of_register;
    const uint32_t first = lists->first[number], end = lists->first[number + 1];
    return first < end && body_of(&analysis->bodies, analysis->namings[lists->numbers[first]].index) !=
                              body_of(&analysis->bodies, analysis->namings[lists->numbers[end - 1]].index);
}

static struct wsdbg_error *add_pieces(struct analysis *analysis, uint32_t number, uint64_t bit)
{
    analysis->live->first[number] = analysis->live->count;
    if (is_of_several(analysis, number))
        return add_piece(analysis->live, number,
                         (struct wsdbg_ptx_piece){analysis->graph.begin, analysis->graph.end - 1});
    struct wsdbg_error *error = add_own_pieces(analysis, number, bit);
    return error ? error : add_called_pieces(analysis, number);
}

static struct wsdbg_error *add_all_pieces(struct analysis *analysis)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t r = 0; r < analysis->registers && !error; r++) {
        if (r % AT_ONCE == 0)
            find_live(analysis, r);
        error = add_pieces(analysis, r, (uint64_t)1 << r % AT_ONCE);
    }
    analysis->live->first[analysis->registers] = analysis->live->count;
    return error;
}

static bool is_call(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_call && instruction->target != WSDBG_PTX_NONE;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Bodies begin where calls lead to.  The calls of too many bodies are not listed. */
static void find_bodies(struct bodies *bodies, const struct wsdbg_ptx_instruction *instructions, uint32_t first,
                        uint32_t end)
{
    uint32_t listed = 0, kept = 0;
    bodies->first[listed++] = first;
    for (uint32_t i = first; i < end; i++)
        if (is_call(&instructions[i]))
            bodies->first[listed++] = instructions[i].target;
    qsort(bodies->first, listed, sizeof *bodies->first, by_number);
    for (uint32_t i = 0; i < listed; i++)
        if (kept == 0 || bodies->first[i] != bodies->first[kept - 1])
            bodies->first[kept++] = bodies->first[i];
    bodies->count = kept;
    bodies->first[kept] = end;
    for (uint32_t i = first; i < end && kept <= BODIES_MOST; i++)
        if (is_call(&instructions[i]))
            bodies->calls[bodies->call_count++] = (struct call){i, body_of(bodies, instructions[i].target)};
}

static void find_leads(struct bodies *bodies)
{
    const uint32_t count = bodies->count;
    for (uint32_t body = 0; body < count; body++)
        bodies->leads[body * count + body] = true;
    for (uint32_t i = 0; i < bodies->call_count; i++)
        bodies->leads[body_of(bodies, bodies->calls[i].index) * count + bodies->calls[i].body] = true;
    for (uint32_t by = 0; by < count; by++)
        for (uint32_t from = 0; from < count; from++)
            for (uint32_t to = 0; to < count && bodies->leads[from * count + by]; to++)
                bodies->leads[from * count + to] |= bodies->leads[by * count + to];
}

static struct wsdbg_error *create_bodies(struct bodies *bodies, const struct wsdbg_ptx_instruction *instructions,
                                         uint32_t first, uint32_t end)
{
    size_t calls = 0;
    for (uint32_t i = first; i < end; i++)
        calls += is_call(&instructions[i]);
    bodies->first = calloc(calls + 2, sizeof *bodies->first);
    bodies->calls = calloc(calls + 1, sizeof *bodies->calls);
    if (!bodies->first || !bodies->calls)
        return &wsdbg_error_no_memory;
    find_bodies(bodies, instructions, first, end);
    if (bodies->count > BODIES_MOST)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "a kernel calls more than %d functions", BODIES_MOST - 1);
    bodies->leads = calloc((size_t)bodies->count * bodies->count, sizeof *bodies->leads);
    if (!bodies->leads)
        return &wsdbg_error_no_memory;
    find_leads(bodies);
    return NULL;
}

/* ---- the whole ---- */

static struct wsdbg_error *list_by_register(struct analysis *analysis, size_t count)
{
    uint32_t *keys = calloc(count + 1, sizeof *keys), *numbers = calloc(count + 1, sizeof *numbers);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (keys && numbers) {
        for (size_t i = 0; i < count; i++) {
            keys[i] = analysis->namings[i].number;
            numbers[i] = (uint32_t)i;
        }
        error = wsdbg_lists_create(keys, numbers, count, analysis->registers, &analysis->of_register);
    }
    free(keys);
    free(numbers);
    return error;
}

struct wsdbg_error *wsdbg_ptx_live_create(const struct wsdbg_ptx_program *program,
                                          const struct wsdbg_ptx_function *function,
                                          const struct wsdbg_ptx_naming *namings, size_t naming_count,
                                          struct wsdbg_ptx_live *out)
{
    *out = (struct wsdbg_ptx_live){0};
    struct analysis analysis = {.namings = namings, .live = out, .registers = function->register_count};
    struct wsdbg_error *error = wsdbg_ptx_graph_create(program->instructions, program->branch_tables, function->first,
                                                       function->end, EDGES_MOST, &analysis.graph);
    if (!error)
        error = create_bodies(&analysis.bodies, program->instructions, function->first, function->end);
    if (!error)
        error = list_by_register(&analysis, naming_count);
    if (!error) {
        analysis.blocks = calloc(analysis.graph.count + 1u, sizeof *analysis.blocks);
        out->first = calloc(analysis.registers + 1u, sizeof *out->first);
        error = analysis.blocks && out->first ? add_all_pieces(&analysis) : &wsdbg_error_no_memory;
    }
    free(analysis.blocks);
    free(analysis.bodies.first);
    free(analysis.bodies.calls);
    free(analysis.bodies.leads);
    wsdbg_lists_destroy(&analysis.of_register);
    wsdbg_ptx_graph_destroy(&analysis.graph);
    if (error)
        wsdbg_ptx_live_destroy(out);
    return error;
}

void wsdbg_ptx_live_destroy(struct wsdbg_ptx_live *live)
{
    free(live->pieces);
    free(live->first);
    *live = (struct wsdbg_ptx_live){0};
}
