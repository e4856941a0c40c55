/* forms.c - see forms.h.  Reads the compiled table. */
#include "semantics/forms.h"

#include <stdio.h>
#include <string.h>

enum { SUFFIXES_MOST = 24 };

static bool is_float(unsigned type)
{
    return (type >= WSDBG_PTX_F16 && type <= WSDBG_PTX_F64) || type >= WSDBG_PTX_E4M3;
}

static bool is_unsigned(unsigned type)
{
    return type >= WSDBG_PTX_U8 && type <= WSDBG_PTX_U64;
}

static bool is_bits(unsigned type)
{
    return type >= WSDBG_PTX_B8 && type <= WSDBG_PTX_B128;
}

static bool compares_well(unsigned compare, unsigned type)
{
    if (compare <= WSDBG_PTX_NE)
        return true;
    if (compare <= WSDBG_PTX_GE)
        return !is_bits(type);
    return compare <= WSDBG_PTX_HS ? is_unsigned(type) : is_float(type);
}

static bool is_packed(unsigned type)
{
    return type == WSDBG_PTX_F16X2 || type == WSDBG_PTX_BF16X2 || type == WSDBG_PTX_TF32 || type >= WSDBG_PTX_E4M3;
}

/* The suffixes of cvt depend on both types in a way that the table does not say. */
static bool converts_well(const struct wsdbg_ptx_instruction *instruction)
{
    const unsigned to = instruction->type, from = instruction->source_type, flags = instruction->flags;
    const unsigned to_bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)to);
    const unsigned from_bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)from);
    const bool is_integral = instruction->rounding >= WSDBG_PTX_RNI, is_rounded = instruction->rounding != 0;
    if (is_packed(to) || is_packed(from)) /* all that the table has */
        return true;
    if ((flags & (WSDBG_PTX_RELU | WSDBG_PTX_SATFINITE)) && (from != WSDBG_PTX_F32 || !is_float(to) || to_bytes != 2))
        return false;
    if ((flags & WSDBG_PTX_FTZ) && from != WSDBG_PTX_F32 && to != WSDBG_PTX_F32)
        return false;
    if (instruction->rounding == WSDBG_PTX_RNA)
        return to == WSDBG_PTX_BF16 && from == WSDBG_PTX_F32;
    if (is_float(from) && !is_float(to))
        return is_integral;
    if (is_float(to) && !is_float(from))
        return is_rounded && !is_integral;
    if (!is_float(to))
        return !is_rounded;
    if (to == from)
        return is_integral == is_rounded;
    return (to_bytes < from_bytes || to_bytes == from_bytes) ? is_rounded && !is_integral
                                                             : !is_integral || to == WSDBG_PTX_BF16;
}

static bool means_something(const struct semantics_form *form)
{
    const struct wsdbg_ptx_instruction *const instruction = &form->instruction;
    if (form->operation == WSDBG_PTX_OP_setp || form->operation == WSDBG_PTX_OP_set)
        return compares_well(instruction->compare, instruction->source_type);
    if (form->operation == WSDBG_PTX_OP_cvt)
        return converts_well(instruction);
    return true;
}

/* Values of 128 bits are not tested here. */
static bool is_tested(const struct ptx_choice *choice)
{
    return choice->field != PTX_FIELD_TYPE || choice->value != WSDBG_PTX_B128;
}

static uint64_t words_of(const struct ptx_table *table, const struct ptx_item *item)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < item->choice_count; i++)
        count += is_tested(&table->choices[item->first_choice + i]);
    return count;
}

static uint64_t choices_of(const struct ptx_table *table, const struct ptx_item *item)
{
    return item->is_implied ? 1 : words_of(table, item) + (item->is_optional ? 1u : 0);
}

/* The word of that number among those that are tested. */
static struct ptx_slice word_of(const struct ptx_table *table, const struct ptx_item *item, uint64_t number)
{
    uint32_t i = item->first_choice;
    for (; !is_tested(&table->choices[i]) || number > 0; i++)
        number -= is_tested(&table->choices[i]);
    return table->choices[i].word;
}

/* The opcode of the `number`th choice; false when the table itself does not take it. */
static bool spell(const struct ptx_table *table, const struct ptx_form *from, struct ptx_slice mnemonic,
                  uint64_t number, struct semantics_form *form)
{
    struct ptx_slice words[SUFFIXES_MOST];
    size_t count = 0, fitted;
    char *at = form->opcode, *const end = at + sizeof form->opcode;
    at += snprintf(at, (size_t)(end - at), "%.*s", (int)mnemonic.length, mnemonic.bytes);
    for (uint32_t i = 0; i < from->item_count; i++) {
        const struct ptx_item *const item = &table->items[from->first_item + i];
        const uint64_t chosen = number % choices_of(table, item);
        number /= choices_of(table, item);
        if (item->is_implied || chosen == words_of(table, item) || count == SUFFIXES_MOST)
            continue;
        words[count] = word_of(table, item, chosen);
        at += snprintf(at, (size_t)(end - at), ".%.*s", (int)words[count].length, words[count].bytes);
        count++;
    }
    form->instruction = (struct wsdbg_ptx_instruction){.operation = (uint16_t)form->operation};
    return at < end && ptx_form_suffixes(table, from, words, count, &form->instruction, &fitted);
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    return b ? divisor(b, a % b) : a;
}

static struct ptx_slice mnemonic_of(const struct ptx_table *table, unsigned operation)
{
    for (uint32_t i = 0; i < table->mnemonic_count; i++)
        if (table->mnemonics[i].operation == operation)
            return table->mnemonics[i].text;
    return (struct ptx_slice){NULL, 0};
}

static void each_of_form(const struct ptx_table *table, unsigned operation, const struct ptx_form *from,
                         semantics_form_visit visit, void *context)
{
    struct semantics_form form = {
        .operation = operation, .slots = &table->slots[from->first_slot], .slot_count = from->slot_count};
    const struct ptx_slice mnemonic = from->mnemonic.bytes ? from->mnemonic : mnemonic_of(table, operation);
    uint64_t total = 1, step = 1;
    for (uint32_t i = 0; i < from->item_count; i++)
        total *= choices_of(table, &table->items[from->first_item + i]);
    if (!total) /* of 128 bits only */
        return;
    const bool is_sampled = total > SEMANTICS_FORM_MOST && operation != WSDBG_PTX_OP_cvt;
    for (step = is_sampled ? (uint64_t)((double)total * 0.618) : 1; divisor(total, step) != 1;)
        step++;
    uint64_t visited = 0;
    for (uint64_t i = 0, number = 0; i < total && !(is_sampled && visited == SEMANTICS_FORM_MOST); i++) {
        if (spell(table, from, mnemonic, number, &form) && means_something(&form)) {
            visit(context, &form);
            visited++;
        }
        number = (number + step) % total;
    }
}

void semantics_each_form(const struct ptx_table *table, unsigned operation, semantics_form_visit visit, void *context)
{
    for (uint32_t i = table->first_form[operation]; i < table->first_form[operation + 1]; i++)
        each_of_form(table, operation, &table->forms[i], visit, context);
}
