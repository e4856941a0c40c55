/* access.c - see access.h.  Reads a graph and what the trace says of its registers; writes the rows. */
#include "sass/access.h"

#include "sass/lanes.h"
#include "sass/rounds.h"
#include "sass/trace.h"

#include <stdlib.h>

#define OFFSET_MASK 0xffffffu /* of a shared address; above it the CTA's rank */
#define BARRIER_IDS_MASK 0xfu
#define COUNT_FIELD 0x100000u /* an mbarrier's counts are kept negated, modulo this */
#define COPY_UNIT_BYTES 16u
#define BAR_PACKED 0x31du /* the form whose only register is threads << 16 | id */
/* A bulk copy's register holds its size in units, and above it the ranks of a multicast. */
#define COPY_FIELD 0xffffu
enum { PARITY_SHIFT = 31, PACKED_SHIFT = 16, RANKS_SHIFT = 16, MASK_OF_PTX = 2, MAP_OF_TENSOR = 1, MASK_OF_TENSOR = 2 };

/* What of an instruction an access is: operands by their place among the sources; -1 = none. */
struct shape {
    uint8_t kind; /* 0 = no access */
    bool is_mbarrier;
    bool may_be_remote; /* an address without a rank may be that of another CTA */
    bool is_multicast;  /* it is done in several CTAs */
    bool sends;         /* its count is the bytes that a lane sends */
    int8_t address, address_part, count;
};

struct finding {
    const struct wsdbg_graph *graph;
    struct wsdbg_trace *trace;
    struct wsdbg_lanes_finder *lanes;
    bool stores; /* the function commits stores of the copy engine */
    struct wsdbg_access_wanted wanted;
};

/* ---- which instructions ---- */

static struct shape arrival(const struct wsdbg_instruction *instruction)
{
    struct shape shape = {.is_mbarrier = true, .may_be_remote = instruction->is_reduction, .count = 1};
    switch (instruction->mode) {
    case WSDBG_ARRIVE_A1TR:
        shape.kind = WSDBG_ACCESS_ARRIVE_EXPECT;
        break;
    case WSDBG_ARRIVE_A0TR:
        shape.kind = WSDBG_ACCESS_EXPECT;
        break;
    case WSDBG_ARRIVE_A0TX:
        shape.kind = WSDBG_ACCESS_COMPLETE;
        break;
    case WSDBG_ARRIVE_A1T0:
        shape.count = -1;
        shape.kind = instruction->is_drop ? WSDBG_ACCESS_DROP : WSDBG_ACCESS_ARRIVE;
        break;
    case WSDBG_ARRIVE_ART0:
        shape.kind = instruction->is_drop ? WSDBG_ACCESS_DROP : WSDBG_ACCESS_ARRIVE;
        break;
    default: /* announces arrivals of copies to come: completes nothing */
        break;
    }
    return shape;
}

/* In code that comes from PTX the operands are plain numbers.  A copy has the barrier's address alone. */
static struct shape mbarrier_shape(const struct wsdbg_instruction *instruction)
{
    switch (instruction->operation) {
    case WSDBG_OP_SYNCS_PHASECHK:
        return (struct shape){.kind = WSDBG_ACCESS_WAIT, .is_mbarrier = true, .count = 1};
    case WSDBG_OP_SYNCS_ARRIVE:
        return arrival(instruction);
    case WSDBG_OP_SYNCS_EXCH:
        return (struct shape){.kind = WSDBG_ACCESS_INIT, .is_mbarrier = true, .count = 1};
    case WSDBG_OP_SYNCS_CCTL:
        return (struct shape){.kind = WSDBG_ACCESS_INVALIDATE, .is_mbarrier = true, .count = -1};
    case WSDBG_OP_ARRIVES:
        return (struct shape){.kind = WSDBG_ACCESS_COPY_ARRIVE, .is_mbarrier = true, .count = -1};
    case WSDBG_OP_UTMALDG: /* the bundle's second register is the mbarrier */
        return (struct shape){.kind = WSDBG_ACCESS_COPY,
                              .is_mbarrier = true,
                              .is_multicast = instruction->is_multicast,
                              .address_part = wsdbg_is_machine_code(instruction),
                              .count = -1};
    case WSDBG_OP_UBLKCP:
        if (instruction->writes_shared)
            return (struct shape){.kind = WSDBG_ACCESS_COPY,
                                  .is_mbarrier = true,
                                  .is_multicast = instruction->is_multicast,
                                  .may_be_remote = instruction->reads_shared, /* it sends to another CTA */
                                  .address_part = wsdbg_is_machine_code(instruction),
                                  .count = wsdbg_is_machine_code(instruction) ? 2 : 1};
        return (struct shape){.kind = WSDBG_ACCESS_STORE, .address = -1, .count = -1};
    case WSDBG_OP_STAS:
    case WSDBG_OP_REDAS: /* the second register of the address is the mbarrier */
        return (struct shape){.kind = WSDBG_ACCESS_COMPLETE,
                              .is_mbarrier = true,
                              .may_be_remote = true,
                              .sends = true,
                              .address_part = 1,
                              .count = -1};
    default:
        return (struct shape){0};
    }
}

static struct shape bar_shape(const struct wsdbg_instruction *instruction)
{
    const int8_t count = instruction->source_count > 1 ? 1 : -1;
    if (instruction->mode == WSDBG_BAR_SYNCALL)
        return (struct shape){.kind = WSDBG_ACCESS_NAMED_SYNC, .address = -1, .count = -1};
    return (struct shape){.kind =
                              instruction->mode == WSDBG_BAR_ARV ? WSDBG_ACCESS_NAMED_ARRIVE : WSDBG_ACCESS_NAMED_SYNC,
                          .count = count};
}

static struct shape other_shape(const struct finding *finding, const struct wsdbg_instruction *instruction)
{
    struct shape shape = {.address = -1, .count = -1};
    if (wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_WGMMA)
        shape.kind = WSDBG_ACCESS_WGMMA;
    switch (instruction->operation) {
    case WSDBG_OP_UCGABAR_ARV:
        shape.kind = WSDBG_ACCESS_CLUSTER_ARRIVE;
        break;
    case WSDBG_OP_UCGABAR_WAIT:
        shape.kind = WSDBG_ACCESS_CLUSTER_WAIT;
        break;
    case WSDBG_OP_USETMAXREG:
        shape.kind =
            instruction->mode == WSDBG_MAXREG_DEALLOC ? WSDBG_ACCESS_REGISTERS_RELEASE : WSDBG_ACCESS_REGISTERS_REQUEST;
        shape.count = 0;
        break;
    case WSDBG_OP_WARPGROUP:
        shape.kind = instruction->mode == WSDBG_WARPGROUP_DEPBAR ? WSDBG_ACCESS_WGMMA_WAIT : 0;
        shape.count = 0;
        break;
    case WSDBG_OP_UTMASTG:
    case WSDBG_OP_UTMAREDG:
    case WSDBG_OP_UBLKRED:
        shape.kind = WSDBG_ACCESS_STORE;
        break;
    case WSDBG_OP_DEPBAR: /* which scoreboard it waits for is the compiler's choice; that of stores is the first */
        shape.kind = finding->stores && !(instruction->words[0] >> 44 & 7) ? WSDBG_ACCESS_STORE_WAIT : 0;
        shape.count = (int8_t)(instruction->source_count - 1);
        break;
    case WSDBG_OP_ACQBULK:
        shape.kind = WSDBG_ACCESS_GRID_WAIT;
        break;
    case WSDBG_OP_PREEXIT:
        shape.kind = WSDBG_ACCESS_GRID_LAUNCH;
        break;
    case WSDBG_OP_EXIT:
        shape.kind = WSDBG_ACCESS_EXIT;
        break;
    default:
        break;
    }
    return shape;
}

/* Tensor instructions come in rows: of those of a block only the first is one. */
static bool repeats(const struct finding *finding, uint32_t number)
{
    const struct wsdbg_block *block = &finding->graph->blocks[finding->graph->block_of[number]];
    for (uint32_t i = number; i > block->first; i--)
        if (finding->graph->instructions[i - 1].operation == finding->graph->instructions[number].operation)
            return true;
    return false;
}

static struct shape shape_of(const struct finding *finding, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &finding->graph->instructions[number];
    struct shape shape = mbarrier_shape(instruction);
    if (!shape.kind)
        shape = instruction->operation == WSDBG_OP_BAR ? bar_shape(instruction) : other_shape(finding, instruction);
    if (shape.kind == WSDBG_ACCESS_WGMMA && repeats(finding, number))
        shape.kind = 0;
    return shape;
}

/* ---- what their operands are ---- */

static struct wsdbg_value_set set_of(const struct wsdbg_values *values)
{
    struct wsdbg_value_set set = {0};
    uint32_t base = 0;
    set.known = wsdbg_values_range(values, &base, &set.stride, &set.count);
    set.base = base;
    return set;
}

static struct wsdbg_values masked(const struct wsdbg_values *values, uint32_t mask)
{
    const struct wsdbg_values bits = wsdbg_values_one(mask), nothing = wsdbg_values_one(0);
    return wsdbg_values_logic(values, &bits, &nothing, 0xc0);
}

static struct wsdbg_values source_of(const struct finding *finding, uint32_t number, int source, int part)
{
    const struct wsdbg_instruction *instruction = &finding->graph->instructions[number];
    if (source < 0 || source >= instruction->source_count || !instruction->is_whole)
        return wsdbg_values_any();
    return wsdbg_trace_operand(finding->trace, number, &instruction->sources[source], (unsigned)part);
}

static void set_address(const struct finding *finding, const struct shape *shape, struct wsdbg_access *out)
{
    struct wsdbg_values address = source_of(finding, out->instruction, shape->address, shape->address_part);
    const struct wsdbg_instruction *instruction = &finding->graph->instructions[out->instruction];
    const bool is_endless = address.kind == WSDBG_VALUES_ANY || (address.kind == WSDBG_VALUES_STEPS && !address.count);
    if (is_endless && instruction->is_whole && shape->address >= 0 && shape->address < instruction->source_count)
        wsdbg_rounds_of(finding->trace, out->instruction, &instruction->sources[shape->address],
                        (unsigned)shape->address_part, &address);
    out->address = set_of(&address);
    out->address.base &= OFFSET_MASK;
    out->is_any_rank = address.rank == WSDBG_RANK_OTHER || shape->is_multicast ||
                       (shape->may_be_remote && address.rank == WSDBG_RANK_NONE);
}

static struct wsdbg_values init_count(const struct wsdbg_values *word)
{
    const struct wsdbg_values field = wsdbg_values_right(word, 1, false), whole = wsdbg_values_one(COUNT_FIELD);
    const struct wsdbg_values negative = wsdbg_values_negated(&field);
    const struct wsdbg_values count = wsdbg_values_sum(&whole, &negative);
    return masked(&count, COUNT_FIELD - 1);
}

bool wsdbg_access_copy_arrival_counts(const struct wsdbg_instruction *instruction)
{
    enum { MODE_BIT = 70, MODES = 3, COUNTED = 1 };
    return wsdbg_is_machine_code(instruction) ? (instruction->words[1] >> (MODE_BIT - 64) & MODES) == COUNTED
                                              : instruction->mode == COUNTED;
}

static void set_count(const struct finding *finding, const struct shape *shape, struct wsdbg_access *out)
{
    struct wsdbg_values count = source_of(finding, out->instruction, shape->count, 0);
    const struct wsdbg_values unit = wsdbg_values_one(COPY_UNIT_BYTES);
    const bool is_encoded = wsdbg_is_machine_code(&finding->graph->instructions[out->instruction]);
    const bool is_arrival = out->kind == WSDBG_ACCESS_ARRIVE || out->kind == WSDBG_ACCESS_DROP ||
                            (out->kind == WSDBG_ACCESS_COPY_ARRIVE &&
                             wsdbg_access_copy_arrival_counts(&finding->graph->instructions[out->instruction]));
    if (shape->sends)
        count = wsdbg_values_one(finding->graph->instructions[out->instruction].width_bytes);
    else if (shape->count < 0 && is_arrival)
        count = wsdbg_values_one(1);
    else if (shape->count < 0 && out->kind == WSDBG_ACCESS_NAMED_SYNC)
        count = wsdbg_values_one(0);
    else if (is_encoded && out->kind == WSDBG_ACCESS_WAIT)
        count = wsdbg_values_right(&count, PARITY_SHIFT, false);
    else if (is_encoded && out->kind == WSDBG_ACCESS_INIT)
        count = init_count(&count);
    else if (is_encoded && out->kind == WSDBG_ACCESS_COPY && count.kind == WSDBG_VALUES_LISTED) {
        count = masked(&count, COPY_FIELD);
        count = wsdbg_values_product(&count, &unit);
    }
    out->count = set_of(&count);
}

/* The source that says which CTAs of the cluster a copy goes to. */
static int mask_of(const struct wsdbg_instruction *instruction, const struct shape *shape)
{
    if (!shape->is_multicast)
        return -1;
    if (instruction->operation == WSDBG_OP_UTMALDG)
        return MASK_OF_TENSOR;
    return wsdbg_is_machine_code(instruction) ? shape->count : MASK_OF_PTX;
}

static void set_mask(const struct finding *finding, const struct shape *shape, struct wsdbg_access *out)
{
    const struct wsdbg_instruction *instruction = &finding->graph->instructions[out->instruction];
    if (!shape->is_multicast)
        return;
    struct wsdbg_values mask = source_of(finding, out->instruction, mask_of(instruction, shape), 0);
    if (wsdbg_is_machine_code(instruction))
        mask = wsdbg_values_right(&mask, RANKS_SHIFT, false);
    mask = masked(&mask, COPY_FIELD);
    out->mask = set_of(&mask);
}

static void set_named(const struct finding *finding, const struct shape *shape, struct wsdbg_access *out)
{
    const struct wsdbg_instruction *instruction = &finding->graph->instructions[out->instruction];
    const struct wsdbg_values of_first = source_of(finding, out->instruction, shape->address, 0);
    set_count(finding, shape, out);
    if ((instruction->words[0] & 0xfff) == BAR_PACKED) {
        const struct wsdbg_values threads = wsdbg_values_right(&of_first, PACKED_SHIFT, false);
        out->count = set_of(&threads);
    }
    if (of_first.kind == WSDBG_VALUES_LISTED) {
        const struct wsdbg_values id = masked(&of_first, BARRIER_IDS_MASK);
        out->address = set_of(&id);
    }
    if (instruction->mode == WSDBG_BAR_SYNCALL)
        out->address = (struct wsdbg_value_set){.known = true, .count = 1};
}

static bool is_invalidation(const struct wsdbg_instruction *instruction)
{
    return !(instruction->words[1] >> 8 & 1); /* else the word is written back */
}

static void set_operands(const struct finding *finding, const struct shape *shape, struct wsdbg_access *out)
{
    const bool is_counted = finding->wanted.counts >> out->kind & 1;
    if (finding->graph->instructions[out->instruction].operation == WSDBG_OP_BAR)
        set_named(finding, shape, out);
    else if (is_counted)
        set_count(finding, shape, out);
    if (shape->is_mbarrier)
        set_address(finding, shape, out);
    if (is_counted)
        set_mask(finding, shape, out);
}

static bool find_at(const struct finding *finding, uint32_t number, struct wsdbg_access *out)
{
    const struct shape shape = shape_of(finding, number);
    if (!(finding->wanted.kinds >> shape.kind & 1) || !shape.kind ||
        (shape.kind == WSDBG_ACCESS_INVALIDATE && !is_invalidation(&finding->graph->instructions[number])))
        return false;
    *out = (struct wsdbg_access){.instruction = number, .kind = shape.kind, .picked_at = WSDBG_GRAPH_NONE};
    if (finding->wanted.lanes >> shape.kind & 1)
        out->lanes = (uint8_t)wsdbg_lanes_at(finding->lanes, number);
    if (out->lanes == WSDBG_LANES_ONE)
        out->picked_at = wsdbg_lanes_picked_at(finding->lanes, number);
    set_operands(finding, &shape, out);
    return true;
}

/* ---- one instruction whose operands have known values ---- */

struct wsdbg_access_operands wsdbg_access_operands_of(const struct wsdbg_instruction *instruction)
{
    const struct finding none = {0};
    struct shape shape = mbarrier_shape(instruction);
    const bool is_encoded = wsdbg_is_machine_code(instruction);
    if (!shape.kind)
        shape = instruction->operation == WSDBG_OP_BAR ? bar_shape(instruction) : other_shape(&none, instruction);
    const bool is_tensor = instruction->operation == WSDBG_OP_UTMALDG;
    return (struct wsdbg_access_operands){.kind = shape.kind,
                                          .is_mbarrier = shape.is_mbarrier,
                                          .may_be_remote = shape.may_be_remote,
                                          .is_multicast = shape.is_multicast,
                                          .is_encoded = is_encoded,
                                          .sent_bytes = shape.sends ? instruction->width_bytes : 0,
                                          .address = shape.address,
                                          .address_part = shape.address_part,
                                          .count = shape.count,
                                          .mask = (int8_t)mask_of(instruction, &shape),
                                          .map = is_tensor ? MAP_OF_TENSOR : -1};
}

uint32_t wsdbg_access_number(const struct wsdbg_access_operands *operands, const struct wsdbg_instruction *instruction,
                             uint32_t bits)
{
    if (instruction->operation == WSDBG_OP_BAR && (instruction->words[0] & 0xfff) == BAR_PACKED)
        return bits >> PACKED_SHIFT;
    if (!operands->is_encoded)
        return bits;
    switch (operands->kind) {
    case WSDBG_ACCESS_WAIT:
        return bits >> PARITY_SHIFT;
    case WSDBG_ACCESS_INIT:
        return (COUNT_FIELD - (bits >> 1)) & (COUNT_FIELD - 1);
    case WSDBG_ACCESS_COPY:
        return (bits & COPY_FIELD) * COPY_UNIT_BYTES;
    default:
        return bits;
    }
}

uint32_t wsdbg_access_mask(const struct wsdbg_access_operands *operands, uint32_t bits)
{
    return (operands->is_encoded ? bits >> RANKS_SHIFT : bits) & COPY_FIELD;
}

/* ---- all of them ---- */

enum { ROOM_FIRST = 64 };

static bool commits_stores(const struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        if (graph->instructions[i].operation == WSDBG_OP_UTMACMDFLUSH)
            return true;
    return false;
}

/* Room for one more; false = out of memory. */
static bool has_room(struct wsdbg_access **accesses, size_t count, size_t *room)
{
    if (count < *room)
        return true;
    const size_t wanted = *room ? 2 * *room : ROOM_FIRST;
    struct wsdbg_access *more = realloc(*accesses, wanted * sizeof *more);
    if (!more)
        return false;
    *accesses = more;
    *room = wanted;
    return true;
}

/* Code that nothing leads to is left out. */
static bool is_reached(const struct wsdbg_graph *graph, uint32_t number)
{
    return graph->procedure_of[graph->block_of[number]] != WSDBG_GRAPH_NONE;
}

static struct wsdbg_error *find_all(struct finding *finding, struct wsdbg_access **out, size_t *count)
{
    struct wsdbg_access *accesses = NULL;
    size_t found = 0, room = 0;
    finding->stores = commits_stores(finding->graph);
    bool has_memory = has_room(&accesses, found, &room);
    for (uint32_t i = 0; i < finding->graph->instruction_count && has_memory; i++)
        if (is_reached(finding->graph, i) && find_at(finding, i, &accesses[found]))
            has_memory = has_room(&accesses, ++found, &room);
    if (!has_memory) {
        free(accesses);
        return &wsdbg_error_no_memory;
    }
    *out = accesses;
    *count = found;
    return NULL;
}

struct wsdbg_error *wsdbg_accesses_find_traced(struct wsdbg_trace *trace, const struct wsdbg_access_wanted *wanted,
                                               struct wsdbg_access **out, size_t *count)
{
    struct finding finding = {.graph = wsdbg_trace_graph(trace), .trace = trace, .wanted = *wanted};
    struct wsdbg_error *error = wanted->lanes ? wsdbg_lanes_create(finding.graph, trace, &finding.lanes) : NULL;
    if (!error)
        error = find_all(&finding, out, count);
    wsdbg_lanes_destroy(finding.lanes);
    return error;
}

void wsdbg_access_turn(struct wsdbg_trace *trace, struct wsdbg_access *access)
{
    const uint32_t all = UINT32_MAX;
    const struct finding finding = {.graph = wsdbg_trace_graph(trace),
                                    .trace = trace,
                                    .stores = access->kind == WSDBG_ACCESS_STORE_WAIT,
                                    .wanted = {.counts = all}};
    const struct shape shape = shape_of(&finding, access->instruction);
    set_operands(&finding, &shape, access);
}

struct wsdbg_error *wsdbg_accesses_find_for_threads(const struct wsdbg_graph *graph,
                                                    const struct wsdbg_launch_values *launch, uint32_t first,
                                                    uint32_t threads, struct wsdbg_access **out, size_t *count)
{
    const struct wsdbg_access_wanted all = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct wsdbg_trace *trace = NULL;
    struct wsdbg_error *error = wsdbg_trace_create(graph, launch, (struct wsdbg_thread_range){first, threads}, &trace);
    if (!error)
        error = wsdbg_accesses_find_traced(trace, &all, out, count);
    wsdbg_trace_destroy(trace);
    return error;
}

struct wsdbg_error *wsdbg_accesses_find(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                        struct wsdbg_access **out, size_t *count)
{
    return wsdbg_accesses_find_for_threads(graph, launch, 0, 0, out, count);
}

struct wsdbg_value_set wsdbg_value_of(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                      uint32_t instruction, unsigned source)
{
    struct wsdbg_trace *trace = NULL;
    struct wsdbg_error *error = wsdbg_trace_create(graph, launch, (struct wsdbg_thread_range){0, 0}, &trace);
    if (error) {
        wsdbg_error_destroy(error);
        return (struct wsdbg_value_set){0};
    }
    const struct finding finding = {.graph = graph, .trace = trace};
    const struct wsdbg_values values = source_of(&finding, instruction, (int)source, 0);
    wsdbg_trace_destroy(trace);
    return set_of(&values);
}
