/* scalar.c - rows that read and write registers only: a unit each, whose cases are the row's instructions, every one on
 * SEMANTICS_TUPLES tuples of operands, one to a thread.
 *
 * What a form's slots are says which registers hold the operands and which values they get.
 */
#include <stdlib.h>
#include <string.h>

#include "semantics/corpus.h"
#include "semantics/forms.h"
#include "semantics/must.h"
#include "semantics/values.h"

enum { OPERANDS_MOST = 10, NAME_BYTES = 512 };

/* Results depend on other lanes, on where something lies in memory, or are opaque. */
static const char *const not_scalar[] = {"shfl",
                                         "vote",
                                         "match",
                                         "activemask",
                                         "redux",
                                         "elect",
                                         "cvta",
                                         "mapa",
                                         "isspacep",
                                         "bar_red",
                                         "getctarank",
                                         "createpolicy",
                                         "mbarrier_pending_count"};
static const unsigned lop3_tables[] = {0x96, 0xe8, 0xca, 0xc0, 0x01, 0xfe, 0x00, 0xff, 0x5a, 0x2d};

struct writing { /* of one unit */
    struct semantics_corpus *corpus;
    struct semantics_unit *unit;
    FILE *text;
    size_t text_bytes;
    unsigned constant;
    bool with_optional, had_optional;
};

struct operand {
    const struct ptx_slot *slot;
    char name[16];
    unsigned class;    /* of its values */
    char letter;       /* h r l p: the kind of register; 0: a constant */
    unsigned position; /* among the operands that are read */
};

static unsigned bits_of_letter(char letter)
{
    return letter == 'h' ? 16 : letter == 'l' ? 64 : 32;
}

static char letter_of_bytes(unsigned bytes)
{
    return bytes == 2 ? 'h' : bytes == 8 ? 'l' : 'r';
}

static unsigned wide_of(unsigned type)
{
    switch (type) {
    case WSDBG_PTX_U16:
        return WSDBG_PTX_U32;
    case WSDBG_PTX_S16:
        return WSDBG_PTX_S32;
    case WSDBG_PTX_U32:
        return WSDBG_PTX_U64;
    default:
        return WSDBG_PTX_S64;
    }
}

/* The class of a slot's values; 0 = no register. */
static unsigned class_of(const struct ptx_slot *slot, const struct wsdbg_ptx_instruction *instruction)
{
    switch (slot->width) {
    case 't':
        return instruction->type;
    case 'u':
        return instruction->source_type;
    case 'v':
        return instruction->third_type;
    case 'w':
        return instruction->part == WSDBG_PTX_WIDE ? wide_of(instruction->type) : instruction->type;
    case 'p':
        return WSDBG_PTX_PRED;
    case '1':
        return WSDBG_PTX_B16;
    case '3':
        return SEMANTICS_COUNTS;
    case '6':
        return WSDBG_PTX_B64;
    case 'f':
        return WSDBG_PTX_F32;
    default:
        return 0;
    }
}

static void name_operand(struct operand *operand, const struct wsdbg_ptx_instruction *instruction, unsigned number)
{
    const unsigned class = operand->class = class_of(operand->slot, instruction);
    const unsigned bytes = class < WSDBG_PTX_TYPE_COUNT ? wsdbg_ptx_type_bytes((enum wsdbg_ptx_type) class) : 4;
    operand->letter = class == WSDBG_PTX_PRED ? 'p' : letter_of_bytes(bytes);
    snprintf(operand->name, sizeof operand->name, "%c%u", operand->letter, number);
}

/* The operands that are written out; false when the form is not of registers alone. */
static bool choose_operands(struct writing *writing, const struct semantics_form *form, struct operand *operands,
                            unsigned *count)
{
    unsigned read = 0;
    *count = 0;
    for (uint32_t i = 0; i < form->slot_count; i++) {
        const struct ptx_slot *const slot = &form->slots[i];
        writing->had_optional |= slot->is_optional;
        if (slot->with_flag || (slot->is_optional && !writing->with_optional))
            continue;
        struct operand *const operand = &operands[(*count)++];
        *operand = (struct operand){.slot = slot};
        if (slot->kind == PTX_SLOT_CONSTANT) {
            snprintf(operand->name, sizeof operand->name, "0x%x", writing->constant);
            continue;
        }
        if (slot->kind != PTX_SLOT_VALUE && slot->kind != PTX_SLOT_PACK)
            return false;
        name_operand(operand, &form->instruction, *count);
        if (!operand->class)
            return false;
        if (!slot->is_written)
            operand->position = read++;
        const bool is_angle = form->operation == WSDBG_PTX_OP_sin || form->operation == WSDBG_PTX_OP_cos;
        if (is_angle && !slot->is_written)
            operand->class = SEMANTICS_ANGLES;
    }
    return *count > 0 && operands[0].slot->is_written && read <= SEMANTICS_OPERANDS;
}

static void spell_instruction(const struct semantics_form *form, const struct operand *operands, unsigned count,
                              char *text)
{
    char *at = text, *const end = text + NAME_BYTES;
    const bool negates = semantics_digest(0, form->opcode, strlen(form->opcode)) >> 7 & 1;
    at += snprintf(at, (size_t)(end - at), "%s", form->opcode);
    for (unsigned i = 0; i < count; i++) {
        const bool is_negated = operands[i].slot->may_negate && negates;
        at += snprintf(at, (size_t)(end - at), "%s%s%s",
                       i == 0                        ? " "
                       : operands[i].slot->is_joined ? "|"
                                                     : ", ",
                       is_negated ? "!" : "", operands[i].name);
    }
}

static void write_loads(struct writing *writing, const struct operand *operands, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct operand *const operand = &operands[i];
        const size_t place = ((size_t)operand->class * SEMANTICS_POSITIONS + operand->position) * SEMANTICS_TUPLES * 8;
        if (operand->slot->is_written || !operand->letter)
            continue;
        if (operand->letter == 'p')
            fprintf(writing->text, "ld.global.b32 r0, [%%in+%zu];\nsetp.ne.b32 %s, r0, 0;\n", place, operand->name);
        else
            fprintf(writing->text, "ld.global.b%u %s, [%%in+%zu];\n", bits_of_letter(operand->letter), operand->name,
                    place);
    }
}

/* addc and its like begin with a carry that is a value as well. */
static void write_carry_in(struct writing *writing, const struct semantics_form *form)
{
    const size_t place = ((size_t)WSDBG_PTX_PRED * SEMANTICS_POSITIONS + 4) * SEMANTICS_TUPLES * 8;
    if (form->operation == WSDBG_PTX_OP_addc || form->operation == WSDBG_PTX_OP_madc)
        fprintf(writing->text, "ld.global.b32 r0, [%%in+%zu];\nadd.cc.u32 r0, r0, 0xffffffff;\n", place);
    else if (form->operation == WSDBG_PTX_OP_subc)
        fprintf(writing->text, "ld.global.b32 r0, [%%in+%zu];\nsub.cc.u32 r0, 0, r0;\n", place);
}

static void set_tolerance(struct semantics_case *added, const struct semantics_form *form)
{
    const struct wsdbg_ptx_instruction *const instruction = &form->instruction;
    const bool is_near = instruction->flags & WSDBG_PTX_APPROX || strstr(form->opcode, ".full");
    static const struct { /* what PTX promises of .approx, in units of the last place; the simulator rounds exactly */
        uint16_t operation;
        uint8_t type, compare;
        double tolerance;
    } promised[] = {
        {WSDBG_PTX_OP_rcp, WSDBG_PTX_F32, SEMANTICS_F32_ULPS, 1},
        {WSDBG_PTX_OP_rcp, WSDBG_PTX_F64, SEMANTICS_F64_ULPS, 4294967296.0},
        {WSDBG_PTX_OP_sqrt, WSDBG_PTX_F32, SEMANTICS_F32_ULPS, 2},
        {WSDBG_PTX_OP_rsqrt, WSDBG_PTX_F32, SEMANTICS_F32_ULPS, 2},
        {WSDBG_PTX_OP_rsqrt, WSDBG_PTX_F64, SEMANTICS_F64_ULPS, 4294967296.0},
        {WSDBG_PTX_OP_div, WSDBG_PTX_F32, SEMANTICS_F32_ULPS, 2},
        {WSDBG_PTX_OP_sin, WSDBG_PTX_F32, SEMANTICS_F32_NEAR, 0x1p-20},
        {WSDBG_PTX_OP_cos, WSDBG_PTX_F32, SEMANTICS_F32_NEAR, 0x1p-20},
        {WSDBG_PTX_OP_lg2, WSDBG_PTX_F32, SEMANTICS_F32_NEAR, 0x1p-22},
        {WSDBG_PTX_OP_ex2, WSDBG_PTX_F32, SEMANTICS_F32_ULPS, 2},
        {WSDBG_PTX_OP_ex2, WSDBG_PTX_F16, SEMANTICS_F16_ULPS, 1},
        {WSDBG_PTX_OP_ex2, WSDBG_PTX_F16X2, SEMANTICS_F16_ULPS, 1},
        {WSDBG_PTX_OP_ex2, WSDBG_PTX_BF16, SEMANTICS_BF16_ULPS, 1},
        {WSDBG_PTX_OP_ex2, WSDBG_PTX_BF16X2, SEMANTICS_BF16_ULPS, 1},
        {WSDBG_PTX_OP_tanh, WSDBG_PTX_F32, SEMANTICS_F32_ULPS, 8192},
        {WSDBG_PTX_OP_tanh, WSDBG_PTX_F16, SEMANTICS_F16_ULPS, 2},
        {WSDBG_PTX_OP_tanh, WSDBG_PTX_F16X2, SEMANTICS_F16_ULPS, 2},
        {WSDBG_PTX_OP_tanh, WSDBG_PTX_BF16, SEMANTICS_BF16_ULPS, 1},
        {WSDBG_PTX_OP_tanh, WSDBG_PTX_BF16X2, SEMANTICS_BF16_ULPS, 1},
    };
    for (size_t i = 0; i < sizeof promised / sizeof *promised; i++)
        if (is_near && promised[i].operation == added->operation && promised[i].type == instruction->type) {
            added->compare = promised[i].compare;
            added->tolerance = promised[i].tolerance;
        }
}

static void describe_operands(const struct writing *writing, const struct operand *operands, unsigned count,
                              struct semantics_case *added)
{
    added->digest = semantics_digest(0, added->name, strlen(added->name));
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].slot->is_written || !operands[i].letter)
            continue;
        added->operands[added->operand_count++] = writing->corpus->values->of[operands[i].class][operands[i].position];
        added->digest =
            semantics_digest(added->digest, added->operands[added->operand_count - 1], SEMANTICS_TUPLES * 8);
    }
}

static void write_result(struct writing *writing, const struct semantics_form *form, const struct operand *result,
                         const char *name, const struct operand *operands, unsigned count)
{
    const unsigned bits = result->letter == 'p' ? 32 : bits_of_letter(result->letter);
    struct semantics_case *const added =
        semantics_add_case(writing->unit, form->operation, name, SEMANTICS_TUPLES, bits / 8);
    describe_operands(writing, operands, count, added);
    set_tolerance(added, form);
    if (result->letter == 'p')
        fprintf(writing->text, "selp.b32 r0, 1, 0, %s;\n", result->name);
    fprintf(writing->text, "st.global.b%u [%%out+%u], %s;\n", bits, added->offset,
            result->letter == 'p' ? "r0" : result->name);
}

static void write_instruction(struct writing *writing, const struct semantics_form *form)
{
    static const struct operand carry = {.name = "r0", .letter = 'r'};
    struct operand operands[OPERANDS_MOST];
    unsigned count;
    char name[NAME_BYTES], part[NAME_BYTES + 16];
    if (form->slot_count > OPERANDS_MOST || !choose_operands(writing, form, operands, &count))
        return;
    spell_instruction(form, operands, count, name);
    if (semantics_refusal(writing->corpus, name) || semantics_has_case(writing->unit, name))
        return;
    fprintf(writing->text, "// %s\n", name);
    write_loads(writing, operands, count);
    write_carry_in(writing, form);
    fprintf(writing->text, "%s;\n", name);
    const bool has_carry = form->instruction.flags & WSDBG_PTX_CARRY_OUT;
    const bool borrows = form->operation == WSDBG_PTX_OP_sub || form->operation == WSDBG_PTX_OP_subc;
    if (has_carry)
        fprintf(writing->text, "%s.u32 r0, 0, 0;\n", borrows ? "subc" : "addc");
    if (has_carry) {
        snprintf(part, sizeof part, "%s (carry)", name);
        write_result(writing, form, &carry, part, operands, count);
    }
    write_result(writing, form, &operands[0], name, operands, count);
    if (count > 1 && operands[1].slot->is_joined) {
        snprintf(part, sizeof part, "%s (|p)", name);
        write_result(writing, form, &operands[1], part, operands, count);
    }
}

static void visit(void *context, const struct semantics_form *form)
{
    struct writing *const writing = context;
    const bool is_lop3 = form->operation == WSDBG_PTX_OP_lop3;
    for (size_t i = 0; i < (is_lop3 ? sizeof lop3_tables / sizeof *lop3_tables : 1); i++) {
        writing->constant = lop3_tables[i];
        writing->had_optional = false;
        writing->with_optional = true;
        write_instruction(writing, form);
        writing->with_optional = false;
        if (writing->had_optional)
            write_instruction(writing, form);
    }
}

static void add_row(struct semantics_corpus *corpus, const struct ptx_table *table, unsigned operation)
{
    char name[64];
    struct writing writing = {.corpus = corpus};
    for (size_t i = 0; i < sizeof not_scalar / sizeof *not_scalar; i++)
        if (operation == semantics_operation(not_scalar[i]))
            return;
    snprintf(name, sizeof name, "scalar %s", semantics_operation_id(operation));
    struct semantics_unit *const unit = writing.unit = semantics_add_unit(corpus, name);
    writing.text = must(open_memstream(&unit->text, &writing.text_bytes));
    fputs(".visible .entry main(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128])\n{\n"
          ".reg .pred p<12>;\n.reg .b16 h<12>;\n.reg .b32 r<12>, %t;\n.reg .b64 l<12>, %in, %out, %place;\n"
          "mov.u32 %t, %tid.x;\nmul.wide.u32 %place, %t, 8;\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
          "add.u64 %in, %in, %place;\nadd.u64 %out, %out, %place;\n",
          writing.text);
    semantics_each_form(table, operation, visit, &writing);
    fputs("ret;\n}\n", writing.text);
    fclose(writing.text);
    unit->threads = SEMANTICS_TUPLES;
    unit->input = (unsigned char *)corpus->values->of;
    unit->input_bytes = sizeof corpus->values->of;
    if (!unit->case_count) { /* no row of registers */
        free(unit->text);
        free(unit->name);
        corpus->unit_count--;
    }
}

void semantics_add_scalars(struct semantics_corpus *corpus)
{
    struct ptx_table *table;
    struct wsdbg_error *const error = ptx_table_create(&table);
    if (error) {
        fprintf(stderr, "semantics: %s\n", wsdbg_error_message(error));
        exit(2);
    }
    for (unsigned operation = 1; operation < WSDBG_PTX_OPERATION_COUNT; operation++)
        add_row(corpus, table, operation);
    free(table);
}
