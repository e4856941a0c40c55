/* bind.c - checks an instruction's written operands against a form of its row and makes them a program's operands.
 *
 * Reads the statement and the table; writes the instruction and the program's vector elements.
 */
#include <stdio.h>
#include <string.h>

#include "ptx/body.h"
#include "ptx/operand.h"

struct binding {
    struct ptx_parser *parser;
    const struct ptx_statement *statement;
    struct wsdbg_ptx_instruction *instruction;
    unsigned operand; /* its number in the text, from 1, for errors */
};

static struct wsdbg_error *refuse(const struct binding *binding, const char *what)
{
    char text[PTX_STATEMENT_TEXT];
    const struct ptx_lexer *lexer = &binding->parser->lexer;
    ptx_statement_text(binding->statement->text, lexer->end, text, sizeof text);
    return ptx_error(binding->parser, binding->statement->line, "operand %u is not %s: %s", binding->operand, what,
                     text);
}

static enum wsdbg_ptx_type wider(enum wsdbg_ptx_type type)
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

/* The type that a slot wants. */
static enum wsdbg_ptx_type wanted(const struct ptx_slot *slot, const struct wsdbg_ptx_instruction *instruction)
{
    switch (slot->width) {
    case 'u':
        return (enum wsdbg_ptx_type)instruction->source_type;
    case 'v':
        return (enum wsdbg_ptx_type)instruction->third_type;
    case 'w':
        return instruction->part == WSDBG_PTX_WIDE ? wider((enum wsdbg_ptx_type)instruction->type)
                                                   : (enum wsdbg_ptx_type)instruction->type;
    case 'p':
        return WSDBG_PTX_PRED;
    case '1':
        return WSDBG_PTX_B16;
    case '3':
        return WSDBG_PTX_B32;
    case '6':
        return WSDBG_PTX_B64;
    case 'f':
        return WSDBG_PTX_F32;
    default:
        return (enum wsdbg_ptx_type)instruction->type;
    }
}

static bool is_float(enum wsdbg_ptx_type type)
{
    return type == WSDBG_PTX_F32 || type == WSDBG_PTX_F64;
}

static bool is_whole(enum wsdbg_ptx_type type)
{
    return type >= WSDBG_PTX_U8 && type <= WSDBG_PTX_S64;
}

/* A register of a bit type holds anything of its size; whole numbers and floats do not mix. */
static bool fits(enum wsdbg_ptx_type has, enum wsdbg_ptx_type wants, bool may_be_wider)
{
    const unsigned bytes = wsdbg_ptx_type_bytes(has), wanted_bytes = wsdbg_ptx_type_bytes(wants);
    if (has == WSDBG_PTX_PRED || wants == WSDBG_PTX_PRED)
        return has == wants;
    if (may_be_wider ? bytes < wanted_bytes : bytes != wanted_bytes)
        return false;
    if (is_float(has))
        return has == wants || (wants >= WSDBG_PTX_B8 && wants <= WSDBG_PTX_B128);
    return !is_float(wants) || !is_whole(has);
}

/* %tid and its like were 16 bits wide once and may still be read so. */
static bool special_fits(const struct ptx_written *written, enum wsdbg_ptx_type wants)
{
    return fits((enum wsdbg_ptx_type)written->type, wants, false) ||
           (written->operand.number <= WSDBG_PTX_NCTAID_Z && wsdbg_ptx_type_bytes(wants) == 2 && !is_float(wants));
}

static const char *type_words(const struct ptx_slot *slot, enum wsdbg_ptx_type type)
{
    static const char *const by_bytes[] = {[1] = "an 8-bit value",
                                           [2] = "a 16-bit value",
                                           [4] = "a 32-bit value",
                                           [8] = "a 64-bit value",
                                           [16] = "a 128-bit value"};
    if (type == WSDBG_PTX_PRED)
        return slot->is_written ? "a predicate register" : "a predicate";
    if (type == WSDBG_PTX_F32 || type == WSDBG_PTX_F64)
        return type == WSDBG_PTX_F32 ? "an f32 value" : "an f64 value";
    if (slot->is_written)
        return "a register of the type";
    return by_bytes[wsdbg_ptx_type_bytes(type)];
}

/* The address of a function.  For who follows values it is not known: a register of its own that nothing writes. */
static struct wsdbg_error *bind_function(const struct binding *binding, enum wsdbg_ptx_type type, struct ptx_slice name,
                                         struct wsdbg_ptx_operand *out)
{
    const struct ptx_symbol *const symbol = ptx_symbols_find(binding->parser->symbols, name);
    if (!binding->parser->is_to_read) {
        out->kind = WSDBG_PTX_OPERAND_IMMEDIATE;
        out->value = ptx_function_address(symbol->number);
        return NULL;
    }
    out->kind = WSDBG_PTX_OPERAND_REGISTER;
    return ptx_new_register(binding->parser, (uint8_t)type, &out->number);
}

static bool is_function(const struct binding *binding, struct ptx_slice name)
{
    const struct ptx_symbol *const symbol = ptx_symbols_find(binding->parser->symbols, name);
    return symbol && symbol->kind == PTX_SYMBOL_FUNCTION;
}

/* A label, a function, or nothing that was declared. */
static struct wsdbg_error *refuse_name(const struct binding *binding, struct ptx_slice name)
{
    char what[128];
    const struct ptx_symbol *const symbol = ptx_symbols_find(binding->parser->symbols, name);
    snprintf(what, sizeof what, "%s (%.*s is %s)", symbol ? "a value" : "known",
             (int)(name.length < 60 ? name.length : 60), name.bytes,
             is_function(binding, name) ? "a function, whose address has 64 bits"
             : symbol                   ? "none"
                                        : "not declared");
    return refuse(binding, what);
}

static struct wsdbg_error *bind_value(const struct binding *binding, const struct ptx_slot *slot,
                                      enum wsdbg_ptx_type type, const struct ptx_written *written,
                                      struct wsdbg_ptx_operand *out)
{
    bool good = false;
    *out = written->operand;
    out->is_written = slot->is_written;
    switch (written->kind) {
    case PTX_WRITTEN_SINK:
        good = slot->may_sink;
        break;
    case PTX_WRITTEN_REGISTER: {
        const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)written->type);
        good = slot->width == '*' ? bytes == 4 || bytes == 8
                                  : fits((enum wsdbg_ptx_type)written->type, type, slot->may_be_wider);
        break;
    }
    case PTX_WRITTEN_CONSTANT:
        good = !slot->is_written && slot->width != '*' && ptx_constant_as(&written->constant, type, &out->value);
        out->kind = WSDBG_PTX_OPERAND_IMMEDIATE;
        break;
    case PTX_WRITTEN_SPECIAL:
        good = !slot->is_written && special_fits(written, type);
        break;
    case PTX_WRITTEN_VARIABLE:
        good = slot->may_be_address || slot->width == '*';
        good = good && (slot->width == '*' || (wsdbg_ptx_type_bytes(type) >= 4 && !is_float(type)));
        break;
    case PTX_WRITTEN_NAME:
        if (!slot->is_written && is_function(binding, written->name) &&
            (binding->parser->is_to_read || wsdbg_ptx_type_bytes(type) == sizeof(uint64_t)))
            return bind_function(binding, type, written->name, out);
        return refuse_name(binding, written->name);
    default:
        break;
    }
    if (written->operand.negated && !slot->may_negate)
        return refuse(binding, "one that may be negated");
    return good ? NULL : refuse(binding, slot->width == '*' ? "an address" : type_words(slot, type));
}

/* Where the operand stands in the end, for variables whose offset is not known yet. */
static struct wsdbg_error *note_shared(const struct binding *binding, const struct ptx_written *written, bool in_vector,
                                       uint32_t operand, uint32_t index)
{
    if (written->shared == WSDBG_PTX_NONE)
        return NULL;
    const struct ptx_use use = {PTX_USE_SHARED, in_vector, (uint8_t)operand, index, written->shared};
    return ptx_add_use(binding->parser, &use);
}

static struct wsdbg_error *add_element(const struct binding *binding, const struct ptx_written *written,
                                       const struct wsdbg_ptx_operand *operand)
{
    const uint32_t index = (uint32_t)binding->parser->vectors.count;
    struct wsdbg_ptx_operand *added = ptx_append(&binding->parser->vectors, sizeof *added);
    if (!added)
        return &wsdbg_error_no_memory;
    *added = *operand;
    if (added->kind == WSDBG_PTX_OPERAND_SINK)
        added->kind = WSDBG_PTX_OPERAND_NONE;
    return note_shared(binding, written, true, 0, index);
}

/* Elements of one type, `count` of them. */
static struct wsdbg_error *bind_elements(const struct binding *binding, const struct ptx_slot *slot,
                                         enum wsdbg_ptx_type type, const struct ptx_written *written, uint32_t count,
                                         struct wsdbg_ptx_operand *out)
{
    struct ptx_slot element = *slot;
    element.may_sink = slot->is_written;
    if (written->kind != PTX_WRITTEN_VECTOR || written->count != count) {
        char what[48];
        snprintf(what, sizeof what, "a vector of %u", (unsigned)count);
        return refuse(binding, what);
    }
    *out = (struct wsdbg_ptx_operand){.kind = WSDBG_PTX_OPERAND_VECTOR, .count = count, .is_written = slot->is_written};
    out->number = (uint32_t)binding->parser->vectors.count;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_written *from = &binding->statement->elements[written->first + i];
        struct wsdbg_ptx_operand operand;
        PTX_TRY(bind_value(binding, &element, type, from, &operand));
        PTX_TRY(add_element(binding, from, &operand));
    }
    return NULL;
}

static bool is_address(const struct ptx_written *written)
{
    const enum wsdbg_ptx_type type = (enum wsdbg_ptx_type)written->type;
    const unsigned bytes = wsdbg_ptx_type_bytes(type);
    return written->kind == PTX_WRITTEN_ADDRESS && !written->operand.negated &&
           (written->operand.number == WSDBG_PTX_NONE || ((bytes == 4 || bytes == 8) && !is_float(type)));
}

static struct wsdbg_error *bind_map(const struct binding *binding, const struct ptx_written *written,
                                    struct wsdbg_ptx_operand *out)
{
    const unsigned dimensions = binding->instruction->dimensions;
    if (written->kind != PTX_WRITTEN_MAP || written->count != dimensions + 1) {
        char what[64];
        snprintf(what, sizeof what, "a tensor's map with %u coordinates", dimensions);
        return refuse(binding, what);
    }
    const struct ptx_written *elements = &binding->statement->elements[written->first];
    const struct ptx_slot coordinate = {.kind = PTX_SLOT_VALUE, .width = '3'};
    if (!is_address(&elements[0]))
        return refuse(binding, "an address of a tensor's map");
    *out = (struct wsdbg_ptx_operand){.kind = WSDBG_PTX_OPERAND_TENSOR, .count = dimensions};
    out->number = (uint32_t)binding->parser->vectors.count;
    PTX_TRY(add_element(binding, &elements[0], &elements[0].operand));
    for (unsigned i = 1; i <= dimensions; i++) {
        struct wsdbg_ptx_operand operand;
        PTX_TRY(bind_value(binding, &coordinate, WSDBG_PTX_S32, &elements[i], &operand));
        PTX_TRY(add_element(binding, &elements[i], &operand));
    }
    return NULL;
}

/* mov: one value, or 2 or 4 parts of equal size that make up one. */
static struct wsdbg_error *bind_pack(const struct binding *binding, const struct ptx_slot *slot,
                                     const struct ptx_written *written, struct wsdbg_ptx_operand *out)
{
    const enum wsdbg_ptx_type type = (enum wsdbg_ptx_type)binding->instruction->type;
    struct ptx_slot value = *slot;
    value.may_be_address = !slot->is_written;
    if (written->kind != PTX_WRITTEN_VECTOR)
        return bind_value(binding, &value, type, written, out);
    const unsigned part = written->count == 2 || written->count == 4 ? wsdbg_ptx_type_bytes(type) / written->count : 0;
    if (type < WSDBG_PTX_B16 || type > WSDBG_PTX_B128 || part == 0)
        return refuse(binding, "a vector that makes up the type");
    value.may_be_address = false;
    return bind_elements(binding, &value,
                         part == 1   ? WSDBG_PTX_B8
                         : part == 2 ? WSDBG_PTX_B16
                         : part == 4 ? WSDBG_PTX_B32
                                     : WSDBG_PTX_B64,
                         written, written->count, out);
}

/* Registers of each thread that hold its part of a matrix: packed in 32 bits, but for f64. */
static struct wsdbg_error *bind_fragment(const struct binding *binding, const struct ptx_slot *slot,
                                         const struct ptx_written *written, struct wsdbg_ptx_operand *out)
{
    const struct wsdbg_ptx_instruction *instruction = binding->instruction;
    const unsigned threads = instruction->operation == WSDBG_PTX_OP_wgmma_mma_async ? 128 : 32;
    const bool is_sum = slot->width == 'd' || slot->width == 'c';
    const enum wsdbg_ptx_type type = is_sum               ? (enum wsdbg_ptx_type)instruction->type
                                     : slot->width == 'a' ? (enum wsdbg_ptx_type)instruction->source_type
                                                          : (enum wsdbg_ptx_type)instruction->third_type;
    const unsigned elements = is_sum               ? instruction->m * instruction->n
                              : slot->width == 'a' ? instruction->m * instruction->k
                                                   : instruction->k * instruction->n;
    const enum wsdbg_ptx_type held = is_float(type) ? type : WSDBG_PTX_B32;
    return bind_elements(binding, slot, held, written,
                         elements * wsdbg_ptx_type_bits(type) / threads / wsdbg_ptx_type_bits(held), out);
}

static struct wsdbg_error *bind_label(const struct binding *binding, const struct ptx_written *written,
                                      enum ptx_reference_kind kind)
{
    if (!written->name.length || written->operand.negated)
        return refuse(binding, kind == PTX_TO_TABLE ? "a table of labels" : "a label");
    return ptx_add_reference(binding->parser, written->name, binding->statement->line, kind,
                             (uint32_t)binding->parser->instructions.count);
}

static struct wsdbg_error *bind_slot(const struct binding *binding, const struct ptx_slot *slot,
                                     const struct ptx_written *written, struct wsdbg_ptx_operand *out)
{
    const struct wsdbg_ptx_instruction *instruction = binding->instruction;
    const enum wsdbg_ptx_type type = wanted(slot, instruction);
    *out = written->operand;
    switch ((enum ptx_slot_kind)slot->kind) {
    case PTX_SLOT_VALUE:
        return bind_value(binding, slot, type, written, out);
    case PTX_SLOT_CONSTANT:
        if (written->kind != PTX_WRITTEN_CONSTANT || written->constant.kind != PTX_CONSTANT_INTEGER)
            return refuse(binding, "a constant whole number");
        out->kind = WSDBG_PTX_OPERAND_IMMEDIATE;
        out->value = (int64_t)written->constant.bits;
        return NULL;
    case PTX_SLOT_SINK:
        return written->kind == PTX_WRITTEN_SINK ? NULL : refuse(binding, "a sink (_)");
    case PTX_SLOT_ADDRESS:
        return is_address(written) ? NULL : refuse(binding, "an address in brackets");
    case PTX_SLOT_MAP:
        return bind_map(binding, written, out);
    case PTX_SLOT_VECTOR:
        if (instruction->vector_length == 1 && slot->width == 't') {
            const bool is_in_braces = written->kind == PTX_WRITTEN_VECTOR && written->count == 1;
            return bind_value(binding, slot, type,
                              is_in_braces ? &binding->statement->elements[written->first] : written, out);
        }
        return bind_elements(binding, slot, type, written, instruction->vector_length, out);
    case PTX_SLOT_FRAGMENT:
        return bind_fragment(binding, slot, written, out);
    case PTX_SLOT_OFFSETS:
        return instruction->dimensions < 3
                   ? refuse(binding, "there: im2col has 3 dimensions or more")
                   : bind_elements(binding, slot, WSDBG_PTX_B16, written, instruction->dimensions - 2u, out);
    case PTX_SLOT_PACK:
        return bind_pack(binding, slot, written, out);
    case PTX_SLOT_LABEL:
        return bind_label(binding, written, PTX_TO_LABEL);
    case PTX_SLOT_TABLE:
        return bind_label(binding, written, PTX_TO_TABLE);
    case PTX_SLOT_CALL: /* call.c reads what a call has */
        break;
    }
    return NULL;
}

static bool is_control(const struct ptx_slot *slot)
{
    return slot->kind == PTX_SLOT_LABEL || slot->kind == PTX_SLOT_TABLE || slot->kind == PTX_SLOT_CALL;
}

/* How many operands there are beyond those that must be; negative: too few. */
static int count_spare(const struct ptx_table *table, const struct ptx_form *form, const struct binding *binding)
{
    int spare = 0;
    for (size_t i = 0; i < binding->statement->operand_count; i++)
        spare += !binding->statement->operands[i].is_joined;
    for (uint32_t i = 0; i < form->slot_count; i++) {
        const struct ptx_slot *slot = &table->slots[form->first_slot + i];
        const bool is_there = !slot->with_flag || (binding->instruction->flags & slot->with_flag);
        spare -= is_there && !slot->is_optional && !slot->is_joined;
    }
    return spare;
}

static struct wsdbg_error *wrong_count(const struct binding *binding, const char *what)
{
    char text[PTX_STATEMENT_TEXT];
    ptx_statement_text(binding->statement->text, binding->parser->lexer.end, text, sizeof text);
    return ptx_error(binding->parser, binding->statement->line, "too %s operands: %s", what, text);
}

struct wsdbg_error *ptx_bind(struct ptx_parser *parser, const struct ptx_statement *statement,
                             const struct ptx_form *form, struct wsdbg_ptx_instruction *instruction)
{
    struct binding binding = {parser, statement, instruction, 0};
    int spare = count_spare(parser->table, form, &binding);
    size_t at = 0;
    if (spare < 0)
        return wrong_count(&binding, "few");
    for (uint32_t i = 0; i < form->slot_count; i++) {
        const struct ptx_slot *slot = &parser->table->slots[form->first_slot + i];
        const struct ptx_written *written = at < statement->operand_count ? &statement->operands[at] : NULL;
        binding.operand = (unsigned)at + 1;
        if (slot->with_flag && !(instruction->flags & slot->with_flag))
            continue;
        if (slot->is_joined) {
            if (slot->is_optional && (!written || !written->is_joined))
                continue;
            if (!written || !written->is_joined)
                return wrong_count(&binding, "few");
            instruction->flags |= WSDBG_PTX_WITH_PREDICATE;
        } else if (slot->is_optional) {
            if (spare == 0)
                continue;
            spare--;
        }
        if (!written)
            return wrong_count(&binding, "few");
        if (written->is_joined != slot->is_joined)
            return refuse(&binding, "one that stands behind `|`");
        struct wsdbg_ptx_operand operand;
        PTX_TRY(bind_slot(&binding, slot, written, &operand));
        at++;
        if (is_control(slot))
            continue;
        PTX_TRY(
            note_shared(&binding, written, false, instruction->operand_count, (uint32_t)parser->instructions.count));
        instruction->operands[instruction->operand_count++] = operand;
    }
    return at == statement->operand_count ? NULL : wrong_count(&binding, "many");
}
