/* decode_text.c - a decoded instruction in the words of nvdisasm: its guard, its name, its operands.
 *
 * Reads the instruction and the table of forms, which says where each operand lay.
 */
#include <inttypes.h>
#include <math.h>

#include "sass/decode_form.h"
#include "sass/decode_words.h"

static void append_register(struct wsdbg_instruction_words *out, const char *prefix, unsigned number, unsigned zero)
{
    if (number == zero)
        wsdbg_append(out, "%sZ", prefix);
    else
        wsdbg_append(out, "%s%u", prefix, number);
}

static void append_predicate(struct wsdbg_instruction_words *out, const char *prefix,
                             const struct wsdbg_operand *operand)
{
    wsdbg_append(out, "%s", operand->is_negated ? "!" : "");
    if (operand->registers == WSDBG_PT)
        wsdbg_append(out, "PR");
    else if (operand->number == WSDBG_PT)
        wsdbg_append(out, "%sT", prefix);
    else
        wsdbg_append(out, "%s%u", prefix, operand->number);
}

static void append_number(struct wsdbg_instruction_words *out, int64_t value)
{
    if (value < 0)
        wsdbg_append(out, "-0x%" PRIx64, (uint64_t)-value);
    else
        wsdbg_append(out, "0x%" PRIx64, (uint64_t)value);
}

static void append_offset(struct wsdbg_instruction_words *out, int64_t value, bool is_first)
{
    if (value || is_first) {
        wsdbg_append(out, "%s", is_first ? "" : "+");
        append_number(out, value);
    }
}

static void append_constant(struct wsdbg_instruction_words *out, const struct wsdbg_operand *operand, bool shows_zero)
{
    wsdbg_append(out, "c[0x%x][", operand->bank);
    if (operand->number != WSDBG_RZ)
        wsdbg_append(out, "R%u", operand->number);
    else if (operand->value == 0 && shows_zero)
        wsdbg_append(out, "RZ");
    append_offset(out, operand->value, operand->number == WSDBG_RZ && (operand->value || !shows_zero));
    wsdbg_append(out, "]");
}

static void append_special(struct wsdbg_instruction_words *out, int64_t number)
{
    static const struct {
        uint8_t number;
        const char *name;
    } names[] = {
        {0x00, "SR_LANEID"},
        {0x01, "SR_CLOCK"},
        {0x02, "SR_VIRTCFG"},
        {0x03, "SR_VIRTID"},
        {0x20, "SR_TID"},
        {0x21, "SR_TID.X"},
        {0x22, "SR_TID.Y"},
        {0x23, "SR_TID.Z"},
        {0x25, "SR_CTAID.X"},
        {0x26, "SR_CTAID.Y"},
        {0x27, "SR_CTAID.Z"},
        {0x28, "SR_NTID"},
        {0x2e, "SR_LWINHI"},
        {0x2f, "SR_SWINHI"},
        {0x30, "SR_SWINLO"},
        {0x31, "SR_SWINSZ"},
        {0x32, "SR_SMEMSZ"},
        {0x33, "SR_SMEMBANKS"},
        {0x34, "SR_LWINLO"},
        {0x35, "SR_LWINSZ"},
        {0x36, "SR_LMEMLOSZ"},
        {0x37, "SR_LMEMHIOFF"},
        {0x38, "SR_EQMASK"},
        {0x39, "SR_LTMASK"},
        {0x3a, "SR_LEMASK"},
        {0x3b, "SR_GTMASK"},
        {0x3c, "SR_GEMASK"},
        {0x3d, "SR_REGALLOC"},
        {0x3e, "SR_BARRIERALLOC"},
        {0x43, "SR_VIRTUALSMID"},
        {0x44, "SR_VIRTUALENGINEID"},
        {0x50, "SR_CLOCKLO"},
        {0x51, "SR_CLOCKHI"},
        {0x52, "SR_GLOBALTIMERLO"},
        {0x53, "SR_GLOBALTIMERHI"},
        {0x86, "SR_WARPGROUP_INFO"},
        {0x87, "SR_WARPGROUPID"},
        {0x88, "SR_CgaCtaId"},
        {0x89, "SR_GpcLocalCgaId"},
        {0x8b, "SR_CTARegPoolSz"},
        {0xff, "SRZ"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number) {
            wsdbg_append(out, "%s", names[i].name);
            return;
        }
    wsdbg_append(out, "SR%" PRId64, number);
}

/* Where a descriptor stands beside an address, its number lies where the uniform register would. */
static void append_address(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in,
                           const struct wsdbg_form *form, enum wsdbg_field field, const struct wsdbg_operand *operand)
{
    const unsigned uniform_at = field == FIELD_MEMORY_UB ? 32 : 64;
    const bool has_uniform = field == FIELD_MEMORY_UB || field == FIELD_MEMORY_UC || field == FIELD_COPY_FROM;
    const bool has_descriptor =
        (form->flags & FORM_DESCRIPTOR_76 && bits(in, 76, 1)) || (form->flags & FORM_DESCRIPTOR_71 && bits(in, 71, 1));
    if (has_descriptor && has_uniform) {
        wsdbg_append(out, "desc[");
        append_register(out, "UR", bits(in, uniform_at, 6), WSDBG_URZ);
        wsdbg_append(out, "]");
    }
    wsdbg_append(out, "[");
    const bool has_base = operand->number != WSDBG_RZ;
    const bool is_place = (form->flags & FORM_PAIR) != 0;
    const bool shows_uniform =
        field == FIELD_MEMORY_U || (has_uniform && !has_descriptor && !(is_place && operand->uniform == WSDBG_URZ));
    const bool is_short = form->flags & FORM_GLOBAL && wsdbg_is_short_base(in, form);
    if (has_base || is_short || (!shows_uniform && !operand->value)) {
        append_register(out, "R", operand->number, WSDBG_RZ);
        wsdbg_append_choice(out, "|.X4|.X8|.X16",
                            wsdbg_operation_space(in->operation) == WSDBG_SPACE_SHARED ? bits(in, 78, 2) : 0);
        wsdbg_append(out, "%s", is_short ? ".U32" : has_uniform && operand->registers == 2 ? ".64" : "");
    }
    if (shows_uniform) {
        wsdbg_append(out, "%s", has_base || is_short ? "+" : "");
        append_register(out, "UR", operand->uniform, WSDBG_URZ);
    }
    const bool is_bare = !has_base && !shows_uniform;
    if (operand->value)
        append_offset(out, is_bare ? operand->value & 0xffffff : operand->value, is_bare);
    wsdbg_append(out, "]");
}

static void append_transposition(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in,
                                 enum wsdbg_field field)
{
    if (in->operation != WSDBG_OP_HGMMA && in->operation != WSDBG_OP_QGMMA)
        return;
    const bool is_both = field == FIELD_DESCRIPTORS_A;
    wsdbg_append(out, "%s%s%s%s", is_both && bits(in, 61, 1) ? ".tnspA" : "", bits(in, 62, 1) ? ".tnspB" : "",
                 is_both && bits(in, 72, 1) ? ".negA" : "", bits(in, 63, 1) ? ".negB" : "");
}

static void append_operand(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in,
                           const struct wsdbg_form *form, enum wsdbg_field field, const struct wsdbg_operand *operand)
{
    wsdbg_append(out, "%s", out->has_operand ? ", " : " ");
    out->has_operand = true;
    const char *sign = operand->is_negated ? "-" : operand->is_inverted ? "~" : "";
    const bool is_bundle = (field == FIELD_BUNDLE_A || field == FIELD_BUNDLE_B) &&
                           wsdbg_operation_class(in->operation) != WSDBG_CLASS_BRANCH;
    const bool is_descriptor = field == FIELD_DESCRIPTORS_A || field == FIELD_DESCRIPTORS_B;
    switch ((enum wsdbg_operand_kind)operand->kind) {
    case WSDBG_OPERAND_NONE:
        break;
    case WSDBG_OPERAND_REGISTER:
        wsdbg_append(out, "%s", sign);
        append_register(out, "R", operand->number, WSDBG_RZ);
        wsdbg_append_choice(out, "|.B1|.B2|.B3",
                            in->operation == WSDBG_OP_R2P && field == FIELD_A ? bits(in, 76, 2) : 0);
        break;
    case WSDBG_OPERAND_UNIFORM:
        wsdbg_append(out, "%s%s", sign, is_descriptor ? "gdesc[" : is_bundle ? "[" : "");
        append_register(out, "UR", operand->number, WSDBG_URZ);
        wsdbg_append(out, "%s", is_descriptor || is_bundle ? "]" : "");
        if (is_descriptor)
            append_transposition(out, in, field);
        break;
    case WSDBG_OPERAND_PREDICATE:
        append_predicate(out, "P", operand);
        break;
    case WSDBG_OPERAND_UNIFORM_PREDICATE:
        append_predicate(out, "UP", operand);
        break;
    case WSDBG_OPERAND_IMMEDIATE:
        wsdbg_append(out, "%s", field == FIELD_SCOREBOARD ? "SB" : field == FIELD_GROUPS ? "gsb0, " : "");
        if (field == FIELD_SCOREBOARD)
            wsdbg_append(out, "%" PRId64, operand->value);
        else
            append_number(out, operand->value);
        break;
    case WSDBG_OPERAND_CONSTANT:
        wsdbg_append(out, "%s", sign);
        append_constant(out, operand, in->operation == WSDBG_OP_LDC);
        break;
    case WSDBG_OPERAND_MEMORY:
        append_address(out, in, form, field, operand);
        break;
    case WSDBG_OPERAND_SPECIAL:
        append_special(out, operand->value);
        break;
    case WSDBG_OPERAND_BARRIER:
        wsdbg_append(out, "B%u", operand->number);
        break;
    }
}

/* The operands in the order of the form's fields; those that are not there were not read either. */
static void append_operands(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in,
                            const struct wsdbg_form *form)
{
    uint8_t destination_fields[WSDBG_DESTINATIONS_MAX], source_fields[WSDBG_SOURCES_MAX];
    wsdbg_form_fields(in, form, destination_fields, source_fields);
    const unsigned first = form->flags & FORM_CONDITION && in->source_count && source_fields[0] == FIELD_PQ_OR_NONE;
    if (first)
        append_operand(out, in, form, FIELD_PQ_OR_NONE, &in->sources[0]);
    for (unsigned i = 0; i < in->destination_count; i++)
        append_operand(out, in, form, destination_fields[i], &in->destinations[i]);
    for (unsigned i = first; i < in->source_count; i++)
        append_operand(out, in, form, source_fields[i], &in->sources[i]);
}

static void append_scoreboards(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    const uint32_t mask = bits(in, 32, 6);
    const char *separator = "";
    wsdbg_append(out, "%s", mask ? ", {" : "");
    for (unsigned i = 6; i-- > 0;)
        if (mask >> i & 1) {
            wsdbg_append(out, "%s%u", separator, i);
            separator = ",";
        }
    wsdbg_append(out, "%s", mask ? "}" : "");
}

static void append_target(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in,
                          const struct wsdbg_form *form, uint64_t address)
{
    if (!(form->flags & (FORM_TARGET | FORM_TARGET_FAR)) || (in->operation == WSDBG_OP_WARPSYNC && !in->has_target))
        return;
    const bool is_added = (form->flags & FORM_TARGET_ADDED) != 0;
    if (is_added && in->is_absolute) {
        if (in->target_offset_bytes || in->operation != WSDBG_OP_CALL) {
            wsdbg_append(out, " ");
            append_number(out, in->target_offset_bytes);
        }
        return;
    }
    const uint64_t target = (uint64_t)in->target_offset_bytes + (in->is_absolute ? 0 : address);
    wsdbg_append(out, "%s0x%" PRIx64, out->has_operand && !is_added ? ", " : " ", target);
}

/* What stands behind the operands. */
static void append_extras(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in,
                          const struct wsdbg_form *form)
{
    if (in->operation == WSDBG_OP_DEPBAR)
        append_scoreboards(out, in);
    if (form->flags & FORM_DESCRIPTOR_40 && bits(in, 76, 1)) {
        wsdbg_append(out, ", desc[");
        append_register(out, "UR", bits(in, 40, 6), WSDBG_URZ);
        wsdbg_append(out, "]");
    }
    if (in->ends_group)
        wsdbg_append(out, ", gsb0");
}

/* nvdisasm shows a number that HFMA2 loads as two of half precision, the upper first. */
static void append_half(struct wsdbg_instruction_words *out, uint32_t bits)
{
    const unsigned exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    const char *sign = bits >> 15 ? "-" : "";
    if (exponent == 0x1f)
        wsdbg_append(out, fraction ? "%sQNAN " : "%sINF ", bits >> 15 ? "-" : "+");
    else if (bits == 0x8000)
        wsdbg_append(out, "-0.0");
    else
        wsdbg_append(out, "%s%.20g", sign,
                     exponent ? ldexp(fraction + 1024, (int)exponent - 25) : ldexp(fraction, -24));
}

static void append_loaded_number(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    wsdbg_append(out, "%s%s ", wsdbg_operation_name(WSDBG_OP_HFMA2), bits(in, 0, 9) == 0x035 ? ".MMA" : "");
    append_register(out, "R", in->destinations[0].number, WSDBG_RZ);
    wsdbg_append(out, ", -RZ, RZ, ");
    append_half(out, bits(in, 48, 16));
    wsdbg_append(out, ", ");
    append_half(out, bits(in, 32, 16));
}

void wsdbg_instruction_text(const struct wsdbg_instruction *in, uint64_t address,
                            char out[WSDBG_INSTRUCTION_TEXT_BYTES])
{
    struct wsdbg_instruction_words text = {.bytes = out};
    out[0] = '\0';
    const struct wsdbg_form *form = wsdbg_form_of(NULL, in->words);
    if (in->operation == WSDBG_OP_OTHER || !form)
        return;
    if (in->guard != WSDBG_PT || in->guard_is_negated) {
        const struct wsdbg_operand guard = {.number = in->guard, .is_negated = in->guard_is_negated};
        wsdbg_append(&text, "@");
        append_predicate(&text, in->guard_is_uniform ? "UP" : "P", &guard);
        wsdbg_append(&text, " ");
    }
    if (form->operation == WSDBG_OP_HFMA2 && in->operation == WSDBG_OP_MOV) {
        append_loaded_number(&text, in);
        return;
    }
    wsdbg_append_name(&text, in);
    append_operands(&text, in, form);
    append_target(&text, in, form, address);
    append_extras(&text, in, form);
    if (wsdbg_form_is_half(in->words, form))
        wsdbg_append(&text, "%s...", text.has_operand ? ", " : " ");
}
