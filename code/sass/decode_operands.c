/* decode_operands.c - the operands of an instruction, read from where its form says that they lie.
 *
 * Reads the 128 bits and what decode.c found out of them before: widths, signs, whether a carry comes in.
 */
#include "sass/decode_kinds.h"

static unsigned shape_of(const struct wsdbg_instruction *in)
{
    return bits(in, 9, 3) | bits(in, 91, 1) << 3;
}

/* B lies at 64 and C at 32 instead of the other way round. */
static bool is_swapped(const struct wsdbg_instruction *in)
{
    const unsigned shape = shape_of(in);
    return shape == SHAPE_RN || shape == SHAPE_RK || shape == SHAPE_RU || shape == SHAPE_UUN;
}

/* The operand in bits 63:32, of the kind that the shape says. */
static struct wsdbg_operand operand_at_32(const struct wsdbg_instruction *in, const struct wsdbg_form *form,
                                          unsigned registers)
{
    switch (shape_of(in)) {
    case SHAPE_RN:
    case SHAPE_NR:
    case SHAPE_UUN:
    case SHAPE_UNU:
        return number(form->flags & FORM_SIGNED ? signed_bits(in, 32, 32) : (int64_t)bits(in, 32, 32));
    case SHAPE_RK:
    case SHAPE_KR:
        return constant(in, WSDBG_RZ, registers);
    case SHAPE_UR:
    case SHAPE_RU:
    case SHAPE_UUU:
        return uniform(bits(in, 32, 6), registers);
    default:
        return general(bits(in, 32, 8), registers);
    }
}

static struct wsdbg_operand operand_at_64(const struct wsdbg_instruction *in, const struct wsdbg_form *form,
                                          unsigned registers)
{
    return form->flags & FORM_GUARD_UNIFORM ? uniform(bits(in, 64, 6), registers) : general(bits(in, 64, 8), registers);
}

static void set_sign(const struct wsdbg_instruction *in, struct wsdbg_operand *operand, unsigned sign_bit)
{
    if (operand->kind == WSDBG_OPERAND_IMMEDIATE || !bit(in, sign_bit))
        return;
    operand->is_inverted = in->has_carry_in;
    operand->is_negated = !in->has_carry_in;
}

static struct wsdbg_operand operand_a(const struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    struct wsdbg_operand out =
        form->flags & FORM_GUARD_UNIFORM ? uniform(bits(in, 24, 6), 1) : general(bits(in, 24, 8), 1);
    if (form->flags & FORM_NEGATE_A)
        set_sign(in, &out, 72);
    return out;
}

static struct wsdbg_operand operand_b(const struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    const bool at_64 = is_swapped(in);
    struct wsdbg_operand out = at_64 ? operand_at_64(in, form, 1) : operand_at_32(in, form, 1);
    if (form->flags & FORM_NEGATE_B)
        set_sign(in, &out, at_64 ? 75 : 63);
    if (form->flags & FORM_INVERT_B && out.kind != WSDBG_OPERAND_IMMEDIATE)
        out.is_inverted = bit(in, 63);
    return out;
}

static struct wsdbg_operand operand_c(const struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    const unsigned registers = form->flags & (FORM_WIDE | FORM_HIGH) ? 2 : 1;
    const bool at_32 = is_swapped(in);
    struct wsdbg_operand out = at_32 ? operand_at_32(in, form, registers) : operand_at_64(in, form, registers);
    if (form->flags & FORM_NEGATE_C)
        set_sign(in, &out, at_32 ? 63 : 75);
    return out;
}

/* Whether the uniform register beside an address is no part of it: desc[UR][R]. */
static bool has_descriptor(const struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    return (form->flags & FORM_DESCRIPTOR_76 && bit(in, 76)) || (form->flags & FORM_DESCRIPTOR_71 && bit(in, 71));
}

/* Beside a uniform register, a bit says whether the register is one of 32 bit that is added. */
bool wsdbg_is_short_base(const struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    const bool has_uniform = (form->flags & (FORM_DESCRIPTOR_76 | FORM_DESCRIPTOR_71)) != 0;
    return has_uniform && !bit(in, wsdbg_operation_class(in->operation) == WSDBG_CLASS_ATOMIC ? 70 : 90);
}

static struct wsdbg_operand address(const struct wsdbg_instruction *in, const struct wsdbg_form *form,
                                    unsigned uniform_at)
{
    const uint32_t uniform_base = uniform_at && !has_descriptor(in, form) ? bits(in, uniform_at, 6) : WSDBG_URZ;
    const bool is_pair = form->flags & FORM_PAIR || (form->flags & FORM_GLOBAL && bit(in, 72) &&
                                                     (!wsdbg_is_short_base(in, form) || bits(in, 24, 8) == WSDBG_RZ));
    return memory(bits(in, 24, 8), uniform_base, signed_bits(in, 40, 24), is_pair ? 2 : 1);
}

/* Uniform registers of the copy engine, from the one named on. */
static struct wsdbg_operand bundle(const struct wsdbg_instruction *in, enum wsdbg_field field)
{
    const bool is_tensor = in->operation != WSDBG_OP_UBLKCP && in->operation != WSDBG_OP_UBLKRED;
    const bool from_shared = !is_tensor && bit(in, 74);
    if (field == FIELD_BUNDLE_A)
        return uniform(bits(in, 24, 6), from_shared ? 1 : 2);
    if (field == FIELD_BUNDLE_C)
        return uniform(bits(in, 64, 6), 1);
    const unsigned dimensions = bits(in, 79, 3) + 1;
    const unsigned before = in->operation == WSDBG_OP_UTMALDG ? 2 : in->operation == WSDBG_OP_UTMAPF ? 0 : 1;
    return uniform(bits(in, 32, 6), is_tensor ? dimensions + before : 2);
}

static struct wsdbg_operand uniform_source(const struct wsdbg_instruction *in, enum wsdbg_field field)
{
    struct wsdbg_operand out;
    switch (field) {
    case FIELD_LANES:
        out = uniform(bits(in, 24, 6), 1);
        out.is_inverted = bit(in, 30);
        return out;
    case FIELD_DESCRIPTORS_A:
        return uniform(bits(in, 24, 6), 4);
    case FIELD_DESCRIPTORS_B:
        return uniform(bits(in, 32, 6), 4);
    case FIELD_URB_PAIR:
        return uniform(bits(in, 32, 6), 2);
    default:
        return bundle(in, field);
    }
}

/* ---- one field of a form ---- */

static bool is_uniform(const struct wsdbg_form *form)
{
    return (form->flags & FORM_GUARD_UNIFORM) != 0;
}

/* False: the operand is not there. */
static bool destination(const struct wsdbg_instruction *in, const struct wsdbg_form *form, enum wsdbg_field field,
                        struct wsdbg_operand *out)
{
    const unsigned wide = registers_of_bytes(in->width_bytes);
    switch (field) {
    case FIELD_RD:
    case FIELD_RD_OR_NONE:
        *out = general(bits(in, 16, 8), 1);
        return field == FIELD_RD || out->number != WSDBG_RZ;
    case FIELD_RD_WIDE:
    case FIELD_RD_TILE:
        *out = general(bits(in, 16, 8), field == FIELD_RD_WIDE ? wide : in->table);
        return true;
    case FIELD_RD_PAIR:
    case FIELD_RD_QUAD:
        *out = general(bits(in, 16, 8), field == FIELD_RD_PAIR ? 2 : 4);
        return true;
    case FIELD_RD_BY_TYPE:
        *out = general(bits(in, 16, 8), bits(in, 75, 2) == 3 ? 2 : 1);
        return true;
    case FIELD_URD:
    case FIELD_URD_OR_NONE:
        *out = uniform(bits(in, 16, 6), 1);
        return field == FIELD_URD || out->number != WSDBG_URZ;
    case FIELD_URD_WIDE:
    case FIELD_URD_PAIR:
        *out = uniform(bits(in, 16, 6), field == FIELD_URD_PAIR ? 2 : wide);
        return true;
    case FIELD_PD:
    case FIELD_PD_OR_NONE: {
        const bool of_uniform = is_uniform(form) || in->operation == WSDBG_OP_VOTEU;
        const bool has_one = in->operation == WSDBG_OP_MATCH && in->mode == WSDBG_MATCH_ALL_LANES;
        *out = predicate(bits(in, 81, 3), false, of_uniform);
        return field == FIELD_PD || has_one || out->number != WSDBG_PT;
    }
    case FIELD_PE:
    case FIELD_PE_OR_NONE:
        *out = predicate(bits(in, 84, 3), false, is_uniform(form));
        return field == FIELD_PE || out->number != WSDBG_PT;
    case FIELD_BD:
        *out = (struct wsdbg_operand){
            .kind = WSDBG_OPERAND_BARRIER, .number = (uint8_t)bits(in, 16, 4), .uniform = WSDBG_URZ, .registers = 1};
        return true;
    case FIELD_PR_WRITTEN:
        *out = predicate(0, false, is_uniform(form));
        out->registers = WSDBG_PT;
        return true;
    default:
        return false;
    }
}

static bool source_predicate(const struct wsdbg_instruction *in, const struct wsdbg_form *form, enum wsdbg_field field,
                             struct wsdbg_operand *out)
{
    const bool of_uniform = is_uniform(form);
    switch (field) {
    case FIELD_PQ:
        *out = predicate(bits(in, 87, 3), bit(in, 90), of_uniform);
        return true;
    case FIELD_PQ_OR_NONE:
        *out = predicate(bits(in, 87, 3), bit(in, 90), of_uniform);
        return out->number != WSDBG_PT || out->is_negated;
    case FIELD_UP_24:
        *out = predicate(bits(in, 24, 3), bit(in, 27), true);
        return true;
    case FIELD_SCALE:
        *out = predicate(~bits(in, 87, 3) & 7, bit(in, 90), true);
        return out->number != WSDBG_PT || out->is_negated;
    case FIELD_PR:
        *out = predicate(bits(in, 77, 3), bit(in, 80), of_uniform);
        return true;
    case FIELD_PS:
        *out = predicate(bits(in, 68, 3), bit(in, 71), of_uniform || bit(in, 67));
        return true;
    case FIELD_PX:
        *out = predicate(~bits(in, 64, 3) & 7, bit(in, 67), false);
        return out->number != WSDBG_PT || out->is_negated;
    case FIELD_CARRY:
        *out = predicate(bits(in, 87, 3), bit(in, 90), of_uniform);
        return in->has_carry_in;
    case FIELD_CARRY_2:
        *out = predicate(bits(in, 77, 3), bit(in, 80), of_uniform);
        return in->has_carry_in;
    case FIELD_EXTENDED:
        *out = predicate(bits(in, 68, 3), bit(in, 71), of_uniform);
        return bit(in, 72);
    case FIELD_BAR_PREDICATE:
        *out = predicate(bits(in, 87, 3), bit(in, 90), false);
        return in->mode == WSDBG_BAR_RED;
    default:
        return false;
    }
}

static bool source_number(const struct wsdbg_instruction *in, enum wsdbg_field field, struct wsdbg_operand *out)
{
    static const struct {
        uint8_t field, first, count;
    } places[] = {
        {FIELD_TABLE, 72, 8},      {FIELD_TABLE_2, 16, 8},    {FIELD_SHIFT, 75, 5}, {FIELD_NUMBER_32, 32, 32},
        {FIELD_NUMBER_10, 32, 10}, {FIELD_BAR_ID, 54, 4},     {FIELD_LANE, 53, 5},  {FIELD_CLAMP, 40, 13},
        {FIELD_BAR_COUNT, 42, 12}, {FIELD_SCOREBOARD, 44, 3}, {FIELD_DEPTH, 38, 6}, {FIELD_GROUPS, 72, 3},
        {FIELD_TRAP, 34, 3},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].field == field) {
            *out = number(bits(in, places[i].first, places[i].count));
            const bool may_be_left_out =
                field == FIELD_BAR_COUNT || (field == FIELD_GROUPS && in->mode == WSDBG_WARPGROUP_ARRIVE);
            return !may_be_left_out || (field == FIELD_BAR_COUNT && out->value);
        }
    if (field == FIELD_TABLE_SPLIT)
        *out = number(bits(in, 72, 5) << 3 | bits(in, 64, 3));
    return field == FIELD_TABLE_SPLIT;
}

/* CCTL of all lines has no address. */
static bool is_of_all(uint32_t cache_operation)
{
    return cache_operation == 4 || (cache_operation >= 6 && cache_operation <= 8);
}

static bool source_address(const struct wsdbg_instruction *in, const struct wsdbg_form *form, enum wsdbg_field field,
                           struct wsdbg_operand *out)
{
    switch (field) {
    case FIELD_CONSTANT:
        *out = constant(in, in->operation == WSDBG_OP_LDC ? bits(in, 24, 8) : WSDBG_RZ,
                        registers_of_bytes(in->width_bytes));
        return true;
    case FIELD_MEMORY:
        *out = address(in, form, 0);
        return in->operation != WSDBG_OP_CCTL || !is_of_all(bits(in, 87, 4));
    case FIELD_MEMORY_UB:
        *out = address(in, form, 32);
        return true;
    case FIELD_MEMORY_UC:
        *out = address(in, form, 64);
        return true;
    case FIELD_MEMORY_U:
        *out = memory(WSDBG_RZ, bits(in, 24, 6), signed_bits(in, 40, 24), 1);
        return true;
    case FIELD_COPY_TO:
        *out = memory(bits(in, 16, 8), WSDBG_URZ, signed_bits(in, 44, 20), 1);
        return true;
    case FIELD_COPY_FROM:
        *out =
            memory(bits(in, 24, 8), has_descriptor(in, form) ? WSDBG_URZ : bits(in, 64, 6), signed_bits(in, 32, 12), 2);
        return true;
    default:
        return false;
    }
}

static bool source_register(const struct wsdbg_instruction *in, const struct wsdbg_form *form, enum wsdbg_field field,
                            struct wsdbg_operand *out)
{
    const unsigned wide = registers_of_bytes(in->width_bytes);
    switch (field) {
    case FIELD_A:
        *out = operand_a(in, form);
        return true;
    case FIELD_B:
        *out = operand_b(in, form);
        return true;
    case FIELD_C:
        *out = operand_c(in, form);
        return true;
    case FIELD_C_HIGH:
        *out = operand_c(in, form);
        return bit(in, 80) && !bit(in, 73);
    case FIELD_RA:
    case FIELD_RA_PAIR:
    case FIELD_RA_WIDE:
        *out = general(bits(in, 24, 8), field == FIELD_RA ? 1 : field == FIELD_RA_PAIR ? 2 : wide);
        return true;
    case FIELD_RB:
    case FIELD_RB_WIDE:
        *out = general(bits(in, 32, 8), field == FIELD_RB ? 1 : wide);
        return true;
    case FIELD_RC:
    case FIELD_RC_WIDE:
        *out = general(bits(in, 64, 8), field == FIELD_RC ? 1 : wide);
        return true;
    case FIELD_MATRIX_A:
        *out = general(bits(in, 24, 8), 4);
        return true;
    case FIELD_ACCUMULATOR:
        *out = general(bits(in, 64, 8), in->table);
        return true;
    case FIELD_URB_PAIR:
    case FIELD_BUNDLE_A:
    case FIELD_BUNDLE_B:
    case FIELD_BUNDLE_C:
    case FIELD_LANES:
    case FIELD_DESCRIPTORS_A:
    case FIELD_DESCRIPTORS_B:
        *out = uniform_source(in, field);
        return true;
    case FIELD_SPECIAL:
        *out = (struct wsdbg_operand){
            .kind = WSDBG_OPERAND_SPECIAL, .uniform = WSDBG_URZ, .registers = 1, .value = bits(in, 72, 8)};
        return true;
    case FIELD_PR_READ:
        *out = predicate(0, false, false);
        out->registers = WSDBG_PT;
        return true;
    case FIELD_BS:
        *out = (struct wsdbg_operand){
            .kind = WSDBG_OPERAND_BARRIER, .number = (uint8_t)bits(in, 16, 4), .uniform = WSDBG_URZ, .registers = 1};
        return true;
    default:
        return false;
    }
}

static bool source(const struct wsdbg_instruction *in, const struct wsdbg_form *form, enum wsdbg_field field,
                   struct wsdbg_operand *out)
{
    return source_register(in, form, field, out) || source_predicate(in, form, field, out) ||
           source_number(in, field, out) || source_address(in, form, field, out);
}

/* Where operands go that are there, and which fields they came from. */
struct reader {
    struct wsdbg_instruction *in;
    uint8_t *destinations, *sources;
};

static void take_source(struct reader *reader, enum wsdbg_field field, const struct wsdbg_operand *operand)
{
    struct wsdbg_instruction *in = reader->in;
    if (in->source_count == WSDBG_SOURCES_MAX)
        return;
    reader->sources[in->source_count] = (uint8_t)field;
    in->sources[in->source_count++] = *operand;
}

static void take_destination(struct reader *reader, enum wsdbg_field field, const struct wsdbg_operand *operand)
{
    struct wsdbg_instruction *in = reader->in;
    if (in->destination_count == WSDBG_DESTINATIONS_MAX)
        return;
    reader->destinations[in->destination_count] = (uint8_t)field;
    in->destinations[in->destination_count++] = *operand;
}

static void read_operands(struct reader *reader, const struct wsdbg_form *form)
{
    const struct wsdbg_instruction *in = reader->in;
    struct wsdbg_operand operand;
    if (form->flags & FORM_CONDITION && source_predicate(in, form, FIELD_PQ_OR_NONE, &operand))
        take_source(reader, FIELD_PQ_OR_NONE, &operand);
    for (size_t i = 0; i < WSDBG_FIELDS_MAX && form->fields[i]; i++) {
        const enum wsdbg_field field = form->fields[i];
        if (field > FIELD_LAST_DESTINATION && source(in, form, field, &operand))
            take_source(reader, field, &operand);
        else if (field <= FIELD_LAST_DESTINATION && destination(in, form, field, &operand))
            take_destination(reader, field, &operand);
    }
}

/* ptxas loads numbers with -0 * 0 + number too, where that unit is idle: HFMA2.MMA R4, -RZ, RZ, 0, 0 */
static void read_loaded_number(struct wsdbg_instruction *in)
{
    const bool is_of_nothing = bits(in, 24, 8) == WSDBG_RZ && bits(in, 64, 8) == WSDBG_RZ;
    if (shape_of(in) != SHAPE_RN || !is_of_nothing || bits(in, 72, 19) != 1)
        return;
    in->operation = WSDBG_OP_MOV;
    in->sources[0] = number(bits(in, 32, 32));
    in->source_count = 1;
    in->is_whole = true;
}

void wsdbg_form_read_operands(struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    uint8_t destinations[WSDBG_DESTINATIONS_MAX], sources[WSDBG_SOURCES_MAX];
    read_operands(&(struct reader){in, destinations, sources}, form);
    if (in->operation == WSDBG_OP_HFMA2)
        read_loaded_number(in);
}

void wsdbg_form_fields(const struct wsdbg_instruction *instruction, const struct wsdbg_form *form,
                       uint8_t destinations[WSDBG_DESTINATIONS_MAX], uint8_t sources[WSDBG_SOURCES_MAX])
{
    struct wsdbg_instruction copy = *instruction;
    copy.destination_count = copy.source_count = 0;
    read_operands(&(struct reader){&copy, destinations, sources}, form);
}
