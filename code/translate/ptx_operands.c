/* ptx_operands.c - see ptx_operands.h.  Pure: reads operands of PTX, writes their counterparts. */
#include "translate/ptx_operands.h"

#include "translate/ptx_translate.h"

enum {
    SPECIAL_LANE = 0,
    SPECIAL_THREAD_X = 33,
    SPECIAL_CTA_X = 37,
    SPECIAL_CLOCK = 0x50,
    SPECIAL_CTA_RANK = 136,
    SPECIAL_OTHER = 254, /* its value is not followed */
    WORD_BYTES = 4,
    GRID_SIZE_BYTES = 12 /* where constants have it, behind the CTA's threads */
};

void wsdbg_ptx_become(const struct wsdbg_ptx_translation *t, enum wsdbg_operation operation)
{
    t->out->operation = operation;
    t->out->is_whole = true;
}

struct wsdbg_operand wsdbg_ptx_immediate(int64_t value)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_IMMEDIATE, .registers = 1, .value = value};
}

struct wsdbg_operand wsdbg_ptx_zero(void)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_REGISTER, .number = WSDBG_RZ, .registers = 1};
}

struct wsdbg_operand wsdbg_ptx_always(void)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_PREDICATE, .number = WSDBG_PT, .registers = 1};
}

/* Special registers whose numbers follow one another, and what the first of them becomes.  `step` leads to the value of
 * the next one. */
static const struct special_range {
    enum wsdbg_ptx_special first, last;
    enum wsdbg_operand_kind kind; /* SPECIAL, or CONSTANT: in constant bank 0 */
    int64_t value, step;
} special_ranges[] = {
    {WSDBG_PTX_LANEID, WSDBG_PTX_LANEID, WSDBG_OPERAND_SPECIAL, SPECIAL_LANE, 0},
    {WSDBG_PTX_TID_X, WSDBG_PTX_TID_Z, WSDBG_OPERAND_SPECIAL, SPECIAL_THREAD_X, 1},
    {WSDBG_PTX_NTID_X, WSDBG_PTX_NTID_Z, WSDBG_OPERAND_CONSTANT, 0, WORD_BYTES},
    {WSDBG_PTX_NCTAID_X, WSDBG_PTX_NCTAID_Z, WSDBG_OPERAND_CONSTANT, GRID_SIZE_BYTES, WORD_BYTES},
    {WSDBG_PTX_CTAID_X, WSDBG_PTX_CTAID_Z, WSDBG_OPERAND_SPECIAL, SPECIAL_CTA_X, 1},
    {WSDBG_PTX_CLUSTER_CTARANK, WSDBG_PTX_CLUSTER_CTARANK, WSDBG_OPERAND_SPECIAL, SPECIAL_CTA_RANK, 0},
    {WSDBG_PTX_CLUSTERID_X, WSDBG_PTX_CLUSTERID_Z, WSDBG_OPERAND_SPECIAL, WSDBG_SPECIAL_CLUSTER_X, 1},
    {WSDBG_PTX_NCLUSTERID_X, WSDBG_PTX_NCLUSTERID_Z, WSDBG_OPERAND_SPECIAL, WSDBG_SPECIAL_CLUSTERS_X, 1},
    {WSDBG_PTX_CLUSTER_CTAID_X, WSDBG_PTX_CLUSTER_CTAID_Z, WSDBG_OPERAND_SPECIAL, WSDBG_SPECIAL_CTA_OF_CLUSTER_X, 1},
    {WSDBG_PTX_CLUSTER_NCTAID_X, WSDBG_PTX_CLUSTER_NCTAID_Z, WSDBG_OPERAND_SPECIAL, WSDBG_SPECIAL_CLUSTER_SIZE_X, 1},
    {WSDBG_PTX_CLUSTER_NCTARANK, WSDBG_PTX_CLUSTER_NCTARANK, WSDBG_OPERAND_SPECIAL, WSDBG_SPECIAL_CLUSTER_CTAS, 0},
    {WSDBG_PTX_CLOCK, WSDBG_PTX_CLOCK64, WSDBG_OPERAND_SPECIAL, SPECIAL_CLOCK, 0},
    {WSDBG_PTX_GLOBALTIMER, WSDBG_PTX_GLOBALTIMER_HI, WSDBG_OPERAND_SPECIAL, SPECIAL_CLOCK, 0},
};

struct wsdbg_operand wsdbg_ptx_special(enum wsdbg_ptx_special number)
{
    for (size_t i = 0; i < sizeof special_ranges / sizeof *special_ranges; i++) {
        const struct special_range *range = &special_ranges[i];
        if (number < range->first || number > range->last)
            continue;
        return (struct wsdbg_operand){.kind = range->kind,
                                      .number = range->kind == WSDBG_OPERAND_CONSTANT ? WSDBG_RZ : 0,
                                      .registers = 1,
                                      .value = range->value + range->step * (number - range->first)};
    }
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_SPECIAL, .registers = 1, .value = SPECIAL_OTHER};
}

bool wsdbg_ptx_numbered(const struct wsdbg_ptx_translation *t, uint32_t reg, struct wsdbg_operand *out)
{
    const struct wsdbg_ptx_number *number = reg < t->registers->count ? &t->registers->numbers[reg] : NULL;
    if (!number || number->kind == WSDBG_OPERAND_NONE)
        return false;
    *out = (struct wsdbg_operand){.kind = number->kind, .number = number->number, .registers = 1};
    return true;
}

static bool is_shared(const struct wsdbg_ptx_operand *operand)
{
    return operand->space == WSDBG_PTX_SHARED || operand->space == WSDBG_PTX_SHARED_CLUSTER;
}

struct wsdbg_operand wsdbg_ptx_plain(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *operand)
{
    struct wsdbg_operand out = {.kind = WSDBG_OPERAND_NONE};
    switch (operand->kind) {
    case WSDBG_PTX_OPERAND_REGISTER:
        if (wsdbg_ptx_numbered(t, operand->number, &out) && operand->negated)
            out.is_negated = true;
        return out;
    case WSDBG_PTX_OPERAND_IMMEDIATE:
        return wsdbg_ptx_immediate(wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->from->type) == sizeof operand->value
                                       ? operand->value
                                       : (int32_t)(uint32_t)operand->value);
    case WSDBG_PTX_OPERAND_SPECIAL:
        return wsdbg_ptx_special((enum wsdbg_ptx_special)operand->number);
    case WSDBG_PTX_OPERAND_ADDRESS:
        if (operand->number != WSDBG_PTX_NONE)
            return out;
        if (operand->space == WSDBG_PTX_PARAM)
            return wsdbg_ptx_immediate(WSDBG_PTX_PARAMETERS + operand->value);
        if (operand->space == WSDBG_PTX_LOCAL && t->registers->is_local_private)
            return wsdbg_ptx_immediate(operand->value); /* where it lies among what is local */
        return is_shared(operand) ? wsdbg_ptx_immediate((int64_t)t->shared_first + operand->value) : out;
    default:
        return out;
    }
}

struct wsdbg_operand wsdbg_ptx_memory(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *operand)
{
    struct wsdbg_operand base = wsdbg_ptx_zero();
    const bool has_base = operand->kind == WSDBG_PTX_OPERAND_ADDRESS && operand->number != WSDBG_PTX_NONE;
    const bool is_given_away = t->from->space == WSDBG_PTX_LOCAL && !t->registers->is_local_private;
    if (operand->kind != WSDBG_PTX_OPERAND_ADDRESS || is_given_away ||
        (has_base && !wsdbg_ptx_numbered(t, operand->number, &base)))
        return (struct wsdbg_operand){.kind = WSDBG_OPERAND_NONE};
    return (struct wsdbg_operand){
        .kind = WSDBG_OPERAND_MEMORY,
        .number = base.number,
        .uniform = WSDBG_URZ,
        .registers = 1,
        .value = operand->value + (is_shared(operand) ? (int64_t)t->shared_first : 0),
    };
}

void wsdbg_ptx_add(const struct wsdbg_ptx_translation *t, struct wsdbg_operand operand)
{
    struct wsdbg_instruction *out = t->out;
    const bool is_special = operand.kind == WSDBG_OPERAND_SPECIAL && out->operation != WSDBG_OP_S2R;
    out->is_whole &= operand.kind != WSDBG_OPERAND_NONE && !is_special && out->source_count < WSDBG_SOURCES_MAX;
    if (out->source_count < WSDBG_SOURCES_MAX)
        out->sources[out->source_count++] = operand;
}

const struct wsdbg_ptx_operand *wsdbg_ptx_source(const struct wsdbg_ptx_translation *t, unsigned source)
{
    static const struct wsdbg_ptx_operand none = {.kind = WSDBG_PTX_OPERAND_NONE};
    const unsigned number = t->first_source + source;
    return number < t->from->operand_count ? &t->from->operands[number] : &none;
}

unsigned wsdbg_ptx_source_count(const struct wsdbg_ptx_translation *t)
{
    return t->from->operand_count - t->first_source;
}

void wsdbg_ptx_add_source(const struct wsdbg_ptx_translation *t, unsigned source)
{
    wsdbg_ptx_add(t, wsdbg_ptx_plain(t, wsdbg_ptx_source(t, source)));
}

void wsdbg_ptx_add_sources(const struct wsdbg_ptx_translation *t, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        wsdbg_ptx_add_source(t, i);
}

static void add_numbered(const struct wsdbg_ptx_translation *t, struct wsdbg_operand operand)
{
    if (t->out->destination_count < WSDBG_DESTINATIONS_MAX)
        t->out->destinations[t->out->destination_count++] = operand;
    else
        *t->writes_more = true;
}

static void add_destination(const struct wsdbg_ptx_translation *t, uint32_t reg)
{
    struct wsdbg_operand operand;
    if (wsdbg_ptx_numbered(t, reg, &operand))
        add_numbered(t, operand);
}

/* Each element of a short vector keeps its place, also one that does not matter. */
static void add_elements(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *vector)
{
    const bool is_short = vector->count <= WSDBG_DESTINATIONS_MAX;
    for (uint32_t i = 0; i < vector->count; i++) {
        const struct wsdbg_ptx_operand *element = &t->program->vectors[vector->number + i];
        struct wsdbg_operand operand = wsdbg_ptx_zero();
        const bool matters =
            element->kind == WSDBG_PTX_OPERAND_REGISTER && wsdbg_ptx_numbered(t, element->number, &operand);
        if (matters || is_short)
            add_numbered(t, operand);
    }
}

/* More elements of a vector than there is room for are none of an address. */
void wsdbg_ptx_add_destinations(struct wsdbg_ptx_translation *t)
{
    for (t->first_source = 0; t->first_source < t->from->operand_count; t->first_source++) {
        const struct wsdbg_ptx_operand *operand = &t->from->operands[t->first_source];
        if (operand->kind == WSDBG_PTX_OPERAND_VECTOR && operand->is_written)
            add_elements(t, operand);
        else if (operand->is_written && operand->kind == WSDBG_PTX_OPERAND_REGISTER)
            add_destination(t, operand->number);
        else if (operand->kind != WSDBG_PTX_OPERAND_SINK)
            break;
    }
}
