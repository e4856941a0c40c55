/* ptx_translate.c - see ptx_translate.h.  Pure: reads one instruction, writes its counterpart.
 *
 * Values of 64 bits are followed by their low halves: addresses in shared memory and what barriers count fit there.  A
 * comparison of more than 32 bits is one whose outcome nobody knows.
 */
#include "machine/ptx_translate.h"

enum {
    SPECIAL_LANE = 0,
    SPECIAL_THREAD_X = 33,
    SPECIAL_CTA_X = 37,
    SPECIAL_CLOCK = 0x50,
    SPECIAL_CTA_RANK = 136,
    SPECIAL_OTHER = 254, /* its value is not followed */
    COMBINED_BY_OR = 1 << 10,
    COMBINED_BY_XOR = 2 << 10,
    TABLE_AND = 0xc0,
    TABLE_OR = 0xfc,
    TABLE_XOR = 0x3c,
    TABLE_NOT_A = 0x0f,
    WORD_BYTES = 4,
    LOW_BITS = 32
};

struct translation {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    const struct wsdbg_ptx_registers *registers;
    const struct wsdbg_ptx_instruction *from;
    uint32_t shared_first, index;
    unsigned first_source; /* operand behind those that are written */
    bool *writes_more;     /* than there is room for */
    struct wsdbg_instruction *out;
};

/* ---- operands ---- */

static struct wsdbg_operand immediate(int64_t value)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_IMMEDIATE, .registers = 1, .value = value};
}

static struct wsdbg_operand zero(void)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_REGISTER, .number = WSDBG_RZ, .registers = 1};
}

static struct wsdbg_operand always(void)
{
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_PREDICATE, .number = WSDBG_PT, .registers = 1};
}

static struct wsdbg_operand special(enum wsdbg_ptx_special number)
{
    struct wsdbg_operand operand = {.kind = WSDBG_OPERAND_SPECIAL, .registers = 1, .value = SPECIAL_OTHER};
    switch (number) {
    case WSDBG_PTX_LANEID:
        operand.value = SPECIAL_LANE;
        break;
    case WSDBG_PTX_TID_X:
    case WSDBG_PTX_TID_Y:
    case WSDBG_PTX_TID_Z:
        operand.value = SPECIAL_THREAD_X + (number - WSDBG_PTX_TID_X);
        break;
    case WSDBG_PTX_NTID_X:
    case WSDBG_PTX_NTID_Y:
    case WSDBG_PTX_NTID_Z:
        operand = (struct wsdbg_operand){.kind = WSDBG_OPERAND_CONSTANT, .number = WSDBG_RZ, .registers = 1};
        operand.value = (int64_t)WORD_BYTES * (number - WSDBG_PTX_NTID_X);
        break;
    case WSDBG_PTX_CTAID_X:
    case WSDBG_PTX_CTAID_Y:
    case WSDBG_PTX_CTAID_Z:
        operand.value = SPECIAL_CTA_X + (number - WSDBG_PTX_CTAID_X);
        break;
    case WSDBG_PTX_CLUSTER_CTARANK:
        operand.value = SPECIAL_CTA_RANK;
        break;
    case WSDBG_PTX_CLOCK:
    case WSDBG_PTX_CLOCK_HI:
    case WSDBG_PTX_CLOCK64:
    case WSDBG_PTX_GLOBALTIMER:
    case WSDBG_PTX_GLOBALTIMER_LO:
    case WSDBG_PTX_GLOBALTIMER_HI:
        operand.value = SPECIAL_CLOCK;
        break;
    default:
        break;
    }
    return operand;
}

/* False: it has no number. */
static bool numbered(const struct translation *t, uint32_t reg, struct wsdbg_operand *out)
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

/* A plain source; NONE where its value cannot be followed. */
static struct wsdbg_operand plain(const struct translation *t, const struct wsdbg_ptx_operand *operand)
{
    struct wsdbg_operand out = {.kind = WSDBG_OPERAND_NONE};
    switch (operand->kind) {
    case WSDBG_PTX_OPERAND_REGISTER:
        if (numbered(t, operand->number, &out) && operand->negated)
            out.is_negated = true;
        return out;
    case WSDBG_PTX_OPERAND_IMMEDIATE:
        return immediate((int32_t)(uint32_t)operand->value);
    case WSDBG_PTX_OPERAND_SPECIAL:
        return special((enum wsdbg_ptx_special)operand->number);
    case WSDBG_PTX_OPERAND_ADDRESS:
        return operand->number == WSDBG_PTX_NONE && is_shared(operand)
                   ? immediate((int64_t)t->shared_first + operand->value)
                   : out;
    default:
        return out;
    }
}

/* What is in brackets. */
static struct wsdbg_operand memory(const struct translation *t, const struct wsdbg_ptx_operand *operand)
{
    struct wsdbg_operand base = zero();
    const bool has_base = operand->kind == WSDBG_PTX_OPERAND_ADDRESS && operand->number != WSDBG_PTX_NONE;
    if (operand->kind != WSDBG_PTX_OPERAND_ADDRESS || (has_base && !numbered(t, operand->number, &base)))
        return (struct wsdbg_operand){.kind = WSDBG_OPERAND_NONE};
    return (struct wsdbg_operand){
        .kind = WSDBG_OPERAND_MEMORY,
        .number = base.number,
        .uniform = WSDBG_URZ,
        .registers = 1,
        .value = operand->value + (is_shared(operand) ? (int64_t)t->shared_first : 0),
    };
}

/* One that cannot be followed makes the instruction one of which only the destinations count. */
static void add(const struct translation *t, struct wsdbg_operand operand)
{
    struct wsdbg_instruction *out = t->out;
    const bool is_special = operand.kind == WSDBG_OPERAND_SPECIAL && out->operation != WSDBG_OP_S2R;
    out->is_whole &= operand.kind != WSDBG_OPERAND_NONE && !is_special && out->source_count < WSDBG_SOURCES_MAX;
    if (out->source_count < WSDBG_SOURCES_MAX)
        out->sources[out->source_count++] = operand;
}

/* Operand number `source` of those that are read. */
static const struct wsdbg_ptx_operand *source_of(const struct translation *t, unsigned source)
{
    static const struct wsdbg_ptx_operand none = {.kind = WSDBG_PTX_OPERAND_NONE};
    const unsigned number = t->first_source + source;
    return number < t->from->operand_count ? &t->from->operands[number] : &none;
}

static unsigned sources(const struct translation *t)
{
    return t->from->operand_count - t->first_source;
}

static void add_source(const struct translation *t, unsigned source)
{
    add(t, plain(t, source_of(t, source)));
}

static void add_sources(const struct translation *t, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        add_source(t, i);
}

static void add_destination(const struct translation *t, uint32_t reg)
{
    struct wsdbg_operand operand;
    if (!numbered(t, reg, &operand))
        return;
    if (t->out->destination_count < WSDBG_DESTINATIONS_MAX)
        t->out->destinations[t->out->destination_count++] = operand;
    else
        *t->writes_more = true;
}

static void add_elements(const struct translation *t, const struct wsdbg_ptx_operand *vector)
{
    for (uint32_t i = 0; i < vector->count; i++) {
        const struct wsdbg_ptx_operand *element = &t->program->vectors[vector->number + i];
        if (element->kind == WSDBG_PTX_OPERAND_REGISTER)
            add_destination(t, element->number);
    }
}

/* A vector has numbers for the elements that matter; more than there is room for are none of an address. */
static void add_destinations(struct translation *t)
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

/* ---- arithmetic ---- */

static bool is_signed(uint8_t type)
{
    return type >= WSDBG_PTX_S8 && type <= WSDBG_PTX_S64;
}

static bool is_whole_number(uint8_t type)
{
    return type >= WSDBG_PTX_B8 && type <= WSDBG_PTX_S64 && type != WSDBG_PTX_B128;
}

static bool is_word(uint8_t type)
{
    return type == WSDBG_PTX_B32 || type == WSDBG_PTX_U32 || type == WSDBG_PTX_S32;
}

/* Of 64 bits the low half is what the operation makes of low halves. */
static bool keeps_low(uint8_t type)
{
    return is_word(type) || type == WSDBG_PTX_B64 || type == WSDBG_PTX_U64 || type == WSDBG_PTX_S64;
}

static void become(const struct translation *t, enum wsdbg_operation operation)
{
    t->out->operation = operation;
    t->out->is_whole = true;
}

static void translate_move(const struct translation *t)
{
    const struct wsdbg_operand from = plain(t, source_of(t, 0));
    become(t, from.kind == WSDBG_OPERAND_SPECIAL ? WSDBG_OP_S2R : WSDBG_OP_MOV);
    t->out->is_whole = is_whole_number(t->from->type) && t->from->operands[0].kind == WSDBG_PTX_OPERAND_REGISTER;
    add(t, from);
}

static void translate_sum(const struct translation *t, bool subtracts)
{
    become(t, WSDBG_OP_IADD3);
    t->out->is_whole = keeps_low(t->from->type) && !(t->from->flags & (WSDBG_PTX_SAT | WSDBG_PTX_CARRY_OUT));
    add_sources(t, 2);
    add(t, zero());
    struct wsdbg_operand *second = &t->out->sources[1];
    if (subtracts && second->kind == WSDBG_OPERAND_IMMEDIATE)
        second->value = (int32_t)(0 - (uint32_t)second->value);
    else if (subtracts)
        second->is_negated = !second->is_negated;
}

static void translate_product(const struct translation *t, bool adds)
{
    const uint8_t part = t->from->part;
    become(t, WSDBG_OP_IMAD);
    t->out->is_high = part == WSDBG_PTX_HIGH;
    t->out->is_signed = is_signed(t->from->type);
    t->out->is_whole = (part == WSDBG_PTX_LOW && keeps_low(t->from->type)) ||
                       ((part == WSDBG_PTX_WIDE || part == WSDBG_PTX_HIGH) && is_word(t->from->type));
    add_sources(t, adds ? 3 : 2);
    if (!adds)
        add(t, zero());
}

/* SHF shifts the pair {third, first}: to the left what is first, to the right what is third. */
static void translate_shift(const struct translation *t, bool right)
{
    const uint8_t type = t->from->type;
    become(t, WSDBG_OP_SHF);
    t->out->is_whole = right ? is_word(type) : keeps_low(type);
    t->out->is_right_shift = t->out->is_high = right;
    t->out->is_signed = is_signed(type);
    add(t, right ? zero() : plain(t, source_of(t, 0)));
    add_source(t, 1);
    add(t, right ? plain(t, source_of(t, 0)) : zero());
}

static void translate_logic(const struct translation *t, uint8_t table, unsigned count)
{
    const bool is_predicate = t->from->type == WSDBG_PTX_PRED;
    become(t, is_predicate ? WSDBG_OP_PLOP3 : WSDBG_OP_LOP3);
    t->out->is_whole = is_predicate || keeps_low(t->from->type);
    t->out->table = table;
    add_sources(t, count);
    for (unsigned i = count; i < 3; i++)
        add(t, is_predicate ? always() : zero());
}

static void translate_table(const struct translation *t)
{
    const struct wsdbg_ptx_operand *table = source_of(t, 3);
    become(t, WSDBG_OP_LOP3);
    t->out->is_whole = table->kind == WSDBG_PTX_OPERAND_IMMEDIATE && !(t->from->flags & WSDBG_PTX_WITH_PREDICATE);
    t->out->table = (uint8_t)table->value;
    add_sources(t, 3);
}

static bool comparison(uint8_t compare, uint8_t *mode, bool *is_unsigned)
{
    static const struct {
        uint8_t mode;
        bool is_unsigned;
    } modes[] = {
        [WSDBG_PTX_EQ] = {WSDBG_COMPARE_EQ, false}, [WSDBG_PTX_NE] = {WSDBG_COMPARE_NE, false},
        [WSDBG_PTX_LT] = {WSDBG_COMPARE_LT, false}, [WSDBG_PTX_LE] = {WSDBG_COMPARE_LE, false},
        [WSDBG_PTX_GT] = {WSDBG_COMPARE_GT, false}, [WSDBG_PTX_GE] = {WSDBG_COMPARE_GE, false},
        [WSDBG_PTX_LO] = {WSDBG_COMPARE_LT, true},  [WSDBG_PTX_LS] = {WSDBG_COMPARE_LE, true},
        [WSDBG_PTX_HI] = {WSDBG_COMPARE_GT, true},  [WSDBG_PTX_HS] = {WSDBG_COMPARE_GE, true},
    };
    if (compare >= sizeof modes / sizeof *modes)
        return false;
    *mode = modes[compare].mode;
    *is_unsigned = modes[compare].is_unsigned;
    return true;
}

static void translate_comparison(const struct translation *t)
{
    bool is_unsigned = false;
    become(t, WSDBG_OP_ISETP);
    t->out->is_whole = is_word(t->from->type) && comparison(t->from->compare, &t->out->mode, &is_unsigned);
    t->out->is_signed = is_signed(t->from->type) && !is_unsigned;
    if (t->from->combine == WSDBG_PTX_OR)
        t->out->words[1] = COMBINED_BY_OR;
    else if (t->from->combine == WSDBG_PTX_XOR)
        t->out->words[1] = COMBINED_BY_XOR;
    add_sources(t, 2);
    add(t, t->from->combine ? plain(t, source_of(t, 2)) : always());
}

/* Widening keeps the low half; narrowing an unsigned number is a mask. */
static void translate_conversion(const struct translation *t)
{
    const uint8_t to = t->from->type, from = t->from->source_type;
    if (keeps_low(to) && keeps_low(from)) {
        become(t, WSDBG_OP_MOV);
        t->out->is_whole = !(t->from->flags & WSDBG_PTX_SAT);
        add_source(t, 0);
    } else if (is_whole_number(to) && is_whole_number(from) && !is_signed(from) && !is_signed(to) &&
               !(t->from->flags & WSDBG_PTX_SAT)) {
        const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)to),
                       from_bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)from);
        const unsigned bits = 8 * (bytes < from_bytes ? bytes : from_bytes);
        become(t, WSDBG_OP_LOP3);
        t->out->table = TABLE_AND;
        add_source(t, 0);
        add(t, immediate(bits < LOW_BITS ? (1 << bits) - 1 : -1));
        add(t, zero());
    }
}

static void translate_pick(const struct translation *t, enum wsdbg_operation operation, unsigned count)
{
    become(t, operation);
    t->out->is_whole = keeps_low(t->from->type);
    add_sources(t, count);
}

static bool translate_arithmetic(const struct translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_mov:
        translate_move(t);
        return true;
    case WSDBG_PTX_OP_add:
    case WSDBG_PTX_OP_sub:
        translate_sum(t, t->from->operation == WSDBG_PTX_OP_sub);
        return true;
    case WSDBG_PTX_OP_mul:
    case WSDBG_PTX_OP_mad:
        translate_product(t, t->from->operation == WSDBG_PTX_OP_mad);
        return true;
    case WSDBG_PTX_OP_shl:
    case WSDBG_PTX_OP_shr:
        translate_shift(t, t->from->operation == WSDBG_PTX_OP_shr);
        return true;
    case WSDBG_PTX_OP_and:
        translate_logic(t, TABLE_AND, 2);
        return true;
    case WSDBG_PTX_OP_or:
        translate_logic(t, TABLE_OR, 2);
        return true;
    case WSDBG_PTX_OP_xor:
        translate_logic(t, TABLE_XOR, 2);
        return true;
    case WSDBG_PTX_OP_not:
        translate_logic(t, TABLE_NOT_A, 1);
        return true;
    case WSDBG_PTX_OP_lop3:
        translate_table(t);
        return true;
    case WSDBG_PTX_OP_setp:
        translate_comparison(t);
        return true;
    case WSDBG_PTX_OP_selp:
        translate_pick(t, WSDBG_OP_SEL, 3);
        return true;
    case WSDBG_PTX_OP_min:
    case WSDBG_PTX_OP_max:
        translate_pick(t, WSDBG_OP_IMNMX, 2);
        return true;
    case WSDBG_PTX_OP_prmt: /* the selector comes before the other source */
        become(t, WSDBG_OP_PRMT);
        t->out->is_whole = t->from->variant == WSDBG_PTX_NO_VARIANT;
        add_source(t, 0);
        add_source(t, 2);
        add_source(t, 1);
        return true;
    case WSDBG_PTX_OP_cvt:
        translate_conversion(t);
        return true;
    case WSDBG_PTX_OP_cvta: /* windows begin where the low bits of an address are its place in them */
    case WSDBG_PTX_OP_mapa: /* whose CTA's it is, accesses by cluster addresses leave open */
        become(t, WSDBG_OP_MOV);
        add_source(t, 0);
        return true;
    default:
        return false;
    }
}

/* ---- memory ---- */

/* The narrow load of a parameter is the value itself; of others only the destination is known. */
static void translate_load(const struct translation *t)
{
    const struct wsdbg_ptx_operand *place = source_of(t, 0);
    const bool is_parameter = (t->from->space == WSDBG_PTX_PARAM || place->space == WSDBG_PTX_PARAM) &&
                              place->number == WSDBG_PTX_NONE && t->from->vector_length <= 1;
    become(t, WSDBG_OP_LD);
    t->out->width_bytes = (uint8_t)(wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->from->type) *
                                    (t->from->vector_length ? t->from->vector_length : 1));
    if (is_parameter) {
        t->out->operation = WSDBG_OP_LDC;
        add(t, (struct wsdbg_operand){.kind = WSDBG_OPERAND_CONSTANT,
                                      .number = WSDBG_RZ,
                                      .registers = 1,
                                      .value = WSDBG_PTX_PARAMETERS + place->value});
        return;
    }
    if (t->from->space == WSDBG_PTX_LOCAL)
        t->out->operation = WSDBG_OP_LDL;
    else if (t->from->space == WSDBG_PTX_SHARED || t->from->space == WSDBG_PTX_SHARED_CLUSTER)
        t->out->operation = WSDBG_OP_LDS;
    else if (t->from->space == WSDBG_PTX_GLOBAL)
        t->out->operation = WSDBG_OP_LDG;
    else if (t->from->space != WSDBG_PTX_GENERIC)
        t->out->operation = WSDBG_OP_MOV, t->out->is_whole = false; /* of constants: nothing that changes */
    if (t->out->operation != WSDBG_OP_MOV)
        add(t, memory(t, place));
}

static enum wsdbg_operation by_space(uint8_t space, enum wsdbg_operation shared, enum wsdbg_operation global,
                                     enum wsdbg_operation generic)
{
    if (space == WSDBG_PTX_SHARED || space == WSDBG_PTX_SHARED_CLUSTER)
        return shared;
    return space == WSDBG_PTX_GLOBAL ? global : generic;
}

static bool translate_memory(const struct translation *t)
{
    const uint8_t space = t->from->space;
    switch (t->from->operation) {
    case WSDBG_PTX_OP_ld:
    case WSDBG_PTX_OP_ldu:
        translate_load(t);
        return true;
    case WSDBG_PTX_OP_st:
        become(t, space == WSDBG_PTX_LOCAL ? WSDBG_OP_STL : by_space(space, WSDBG_OP_STS, WSDBG_OP_STG, WSDBG_OP_ST));
        break;
    case WSDBG_PTX_OP_atom:
        become(t, by_space(space, WSDBG_OP_ATOMS, WSDBG_OP_ATOMG, WSDBG_OP_ATOM));
        break;
    case WSDBG_PTX_OP_red:
        become(t, WSDBG_OP_RED);
        break;
    case WSDBG_PTX_OP_cp_async:
        become(t, WSDBG_OP_LDGSTS);
        return true;
    case WSDBG_PTX_OP_membar:
    case WSDBG_PTX_OP_fence:
        become(t, WSDBG_OP_MEMBAR);
        return true;
    case WSDBG_PTX_OP_stmatrix:
        become(t, WSDBG_OP_STSM);
        t->out->is_whole = false;
        return true;
    default:
        return false;
    }
    add(t, memory(t, source_of(t, 0)));
    if (t->from->operation == WSDBG_PTX_OP_st)
        add_source(t, 1);
    return true;
}

/* ---- barriers ---- */

static void add_barrier(const struct translation *t, unsigned place, unsigned count)
{
    add(t, memory(t, source_of(t, place)));
    if (count < sources(t))
        add_source(t, count);
}

static void translate_arrival(const struct translation *t, enum wsdbg_arrive_type type)
{
    become(t, WSDBG_OP_SYNCS_ARRIVE);
    t->out->mode = (uint8_t)type;
    t->out->is_drop = t->from->operation == WSDBG_PTX_OP_mbarrier_arrive_drop;
    t->out->is_reduction = t->from->space == WSDBG_PTX_SHARED_CLUSTER;
    t->out->is_no_complete = t->from->flags & WSDBG_PTX_NO_COMPLETE;
    add_barrier(t, 0, 1);
}

static void translate_copy(const struct translation *t)
{
    const bool is_tensor = t->from->operation == WSDBG_PTX_OP_tensor_copy;
    if (t->from->space == WSDBG_PTX_GLOBAL) {
        become(t, is_tensor ? WSDBG_OP_UTMASTG : WSDBG_OP_UBLKCP);
        return;
    }
    become(t, is_tensor ? WSDBG_OP_UTMALDG : WSDBG_OP_UBLKCP);
    t->out->writes_shared = true;
    t->out->is_multicast = t->from->flags & WSDBG_PTX_MULTICAST;
    add(t, memory(t, source_of(t, is_tensor ? 2 : 3)));
    if (!is_tensor)
        add_source(t, 2);
}

/* What is sent to another CTA completes its bytes there. */
static void translate_sent(const struct translation *t)
{
    const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->from->type);
    become(t, WSDBG_OP_SYNCS_ARRIVE);
    t->out->mode = WSDBG_ARRIVE_A0TX;
    t->out->is_reduction = true;
    add(t, memory(t, source_of(t, 2)));
    add(t, immediate((int64_t)bytes * (t->from->vector_length ? t->from->vector_length : 1)));
}

static bool translate_mbarrier(const struct translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_mbarrier_init:
        become(t, WSDBG_OP_SYNCS_EXCH);
        add_barrier(t, 0, 1);
        return true;
    case WSDBG_PTX_OP_mbarrier_inval:
        become(t, WSDBG_OP_SYNCS_CCTL);
        add_barrier(t, 0, 1);
        return true;
    case WSDBG_PTX_OP_mbarrier_arrive:
    case WSDBG_PTX_OP_mbarrier_arrive_drop:
        if (t->from->flags & WSDBG_PTX_EXPECT_TX)
            translate_arrival(t, WSDBG_ARRIVE_A1TR);
        else
            translate_arrival(t, sources(t) > 1 ? WSDBG_ARRIVE_ART0 : WSDBG_ARRIVE_A1T0);
        return true;
    case WSDBG_PTX_OP_mbarrier_arrive_expect_tx:
        translate_arrival(t, WSDBG_ARRIVE_A1TR);
        return true;
    case WSDBG_PTX_OP_mbarrier_expect_tx:
        translate_arrival(t, WSDBG_ARRIVE_A0TR);
        return true;
    case WSDBG_PTX_OP_mbarrier_complete_tx:
        translate_arrival(t, WSDBG_ARRIVE_A0TX);
        return true;
    case WSDBG_PTX_OP_mbarrier_test_wait:
    case WSDBG_PTX_OP_mbarrier_try_wait:
        become(t, WSDBG_OP_SYNCS_PHASECHK);
        t->out->is_try_wait = t->from->operation == WSDBG_PTX_OP_mbarrier_try_wait;
        add_barrier(t, 0, 1);
        if (!(t->from->flags & WSDBG_PTX_PARITY)) /* a token, not a parity */
            t->out->sources[1] = special(WSDBG_PTX_SMID);
        return true;
    case WSDBG_PTX_OP_cp_async_mbarrier_arrive:
        become(t, WSDBG_OP_ARRIVES);
        add_barrier(t, 0, 1);
        return true;
    case WSDBG_PTX_OP_bulk_copy:
    case WSDBG_PTX_OP_tensor_copy:
        translate_copy(t);
        return true;
    case WSDBG_PTX_OP_st_async:
    case WSDBG_PTX_OP_red_async:
        translate_sent(t);
        return true;
    default:
        return false;
    }
}

static void translate_named(const struct translation *t, enum wsdbg_bar_mode mode)
{
    become(t, WSDBG_OP_BAR);
    t->out->mode = (uint8_t)mode;
    add_source(t, 0);
    const unsigned others = t->from->operation == WSDBG_PTX_OP_bar_red; /* the predicate */
    if (sources(t) > 1 + others)
        add_source(t, 1);
}

static bool translate_other_barrier(const struct translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_bar_sync:
        translate_named(t, WSDBG_BAR_SYNC);
        return true;
    case WSDBG_PTX_OP_bar_arrive:
        translate_named(t, WSDBG_BAR_ARV);
        return true;
    case WSDBG_PTX_OP_bar_red:
        translate_named(t, WSDBG_BAR_RED);
        return true;
    case WSDBG_PTX_OP_bar_warp_sync:
        become(t, WSDBG_OP_WARPSYNC);
        return true;
    case WSDBG_PTX_OP_barrier_cluster_arrive:
        become(t, WSDBG_OP_UCGABAR_ARV);
        return true;
    case WSDBG_PTX_OP_barrier_cluster_wait:
        become(t, WSDBG_OP_UCGABAR_WAIT);
        return true;
    case WSDBG_PTX_OP_setmaxnreg:
        become(t, WSDBG_OP_USETMAXREG);
        t->out->mode = t->from->variant == WSDBG_PTX_V_DEC ? WSDBG_MAXREG_DEALLOC : WSDBG_MAXREG_TRY_ALLOC;
        add_source(t, 0);
        return true;
    case WSDBG_PTX_OP_griddepcontrol_wait:
        become(t, WSDBG_OP_ACQBULK);
        return true;
    case WSDBG_PTX_OP_griddepcontrol_launch_dependents:
        become(t, WSDBG_OP_PREEXIT);
        return true;
    default:
        return false;
    }
}

/* ---- engines ---- */

static bool translate_engine(const struct translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_wgmma_mma_async:
        become(t, WSDBG_OP_HGMMA);
        return true;
    case WSDBG_PTX_OP_wgmma_fence:
        become(t, WSDBG_OP_WARPGROUP);
        t->out->mode = WSDBG_WARPGROUP_ARRIVE;
        return true;
    case WSDBG_PTX_OP_wgmma_wait_group:
        become(t, WSDBG_OP_WARPGROUP);
        t->out->mode = WSDBG_WARPGROUP_DEPBAR;
        add_source(t, 0);
        return true;
    case WSDBG_PTX_OP_bulk_reduce:
    case WSDBG_PTX_OP_tensor_reduce:
        become(t, WSDBG_OP_UTMAREDG);
        return true;
    case WSDBG_PTX_OP_bulk_commit_group:
        become(t, WSDBG_OP_UTMACMDFLUSH);
        return true;
    case WSDBG_PTX_OP_bulk_wait_group:
        become(t, WSDBG_OP_DEPBAR);
        add_source(t, 0);
        return true;
    case WSDBG_PTX_OP_nanosleep:
        become(t, WSDBG_OP_NANOSLEEP);
        return true;
    case WSDBG_PTX_OP_discard: /* memory changes */
    case WSDBG_PTX_OP_tensormap_replace:
    case WSDBG_PTX_OP_tensormap_cp_fenceproxy:
        become(t, WSDBG_OP_UTMACCTL);
        return true;
    case WSDBG_PTX_OP_elect:
        become(t, WSDBG_OP_ELECT);
        if (t->out->destination_count > 1) /* predicates come first */
            t->out->destinations[0] = t->out->destinations[1];
        return true;
    case WSDBG_PTX_OP_shfl:
        become(t, WSDBG_OP_SHFL);
        add_source(t, 0);
        return true;
    default:
        return false;
    }
}

/* ---- control flow ---- */

static void translate_jump(const struct translation *t, enum wsdbg_operation operation)
{
    t->out->operation = operation;
    t->out->has_target = t->from->target >= t->function->first && t->from->target < t->function->end;
    t->out->target_offset_bytes = ((int64_t)t->from->target - t->index) * 16;
}

static bool translate_flow(const struct translation *t)
{
    const bool is_own = t->index < t->registers->own_end;
    switch (t->from->operation) {
    case WSDBG_PTX_OP_bra:
        translate_jump(t, WSDBG_OP_BRA);
        return true;
    case WSDBG_PTX_OP_brx:
        t->out->operation = WSDBG_OP_BRX;
        return true;
    case WSDBG_PTX_OP_call:
        if (t->from->target == WSDBG_PTX_NONE) /* it has no code: it prints, or says that something failed */
            t->out->operation = WSDBG_OP_NOP;
        else
            translate_jump(t, WSDBG_OP_CALL);
        return true;
    case WSDBG_PTX_OP_ret:
        t->out->operation = is_own ? WSDBG_OP_EXIT : WSDBG_OP_RET;
        return true;
    case WSDBG_PTX_OP_exit:
        t->out->operation = WSDBG_OP_EXIT;
        return true;
    case WSDBG_PTX_OP_trap:
        t->out->operation = WSDBG_OP_KILL;
        return true;
    default:
        return false;
    }
}

static void set_guard(const struct translation *t)
{
    struct wsdbg_operand guard = always();
    if (t->from->guard != WSDBG_PTX_NONE && !numbered(t, t->from->guard, &guard))
        guard = (struct wsdbg_operand){.kind = WSDBG_OPERAND_UNIFORM_PREDICATE, .number = WSDBG_PTX_UNKNOWN_PREDICATE};
    t->out->guard = guard.number;
    t->out->guard_is_uniform = guard.kind == WSDBG_OPERAND_UNIFORM_PREDICATE;
    t->out->guard_is_negated = t->from->guard != WSDBG_PTX_NONE && t->from->guard_negated;
}

void wsdbg_ptx_translate(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                         const struct wsdbg_ptx_registers *registers, uint32_t shared_first, uint32_t index,
                         struct wsdbg_instruction *out)
{
    bool writes_more = false;
    struct translation t = {.program = program,
                            .function = function,
                            .registers = registers,
                            .from = &program->instructions[index],
                            .shared_first = shared_first,
                            .index = index,
                            .writes_more = &writes_more,
                            .out = out};
    *out = (struct wsdbg_instruction){.operation = WSDBG_OP_FMUL};
    set_guard(&t);
    add_destinations(&t);
    if (!translate_flow(&t) && !translate_arithmetic(&t) && !translate_memory(&t) && !translate_mbarrier(&t) &&
        !translate_other_barrier(&t))
        translate_engine(&t);
    if (writes_more)
        out->operation = WSDBG_OP_OTHER; /* it may write anything */
}
