/* parse_table.c - see parse_table.h.  Reads instructions.def; writes the table. */
#include "ptx/parse_table.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *id, *mnemonics, *suffixes, *operands;
} rows[] = {
#define PTX(id, mnemonics, suffixes, operands, meaning) [WSDBG_PTX_OP_##id] = {#id, mnemonics, suffixes, operands},
#include "ptx/instructions.def"
#undef PTX
};

static struct wsdbg_error *mistake(const char *id, const char *what, struct ptx_slice at)
{
    return wsdbg_error_create(WSDBG_ERROR_OTHER, "instructions.def: %s: %s: %.*s", id, what, (int)at.length, at.bytes);
}

/* The text up to `divider`, which is passed in *rest; false when there is no more. */
static bool split(struct ptx_slice *rest, const char *divider, struct ptx_slice *part)
{
    if (!rest->bytes)
        return false;
    const char *found = memmem(rest->bytes, rest->length, divider, strlen(divider));
    *part = (struct ptx_slice){rest->bytes, found ? (size_t)(found - rest->bytes) : rest->length};
    *rest = found ? (struct ptx_slice){found + strlen(divider), rest->length - part->length - strlen(divider)}
                  : (struct ptx_slice){NULL, 0};
    return true;
}

static bool starts(struct ptx_slice *slice, const char *text)
{
    const size_t length = strlen(text);
    if (slice->length < length || memcmp(slice->bytes, text, length) != 0)
        return false;
    *slice = (struct ptx_slice){slice->bytes + length, slice->length - length};
    return true;
}

static bool ends(struct ptx_slice *slice, char last)
{
    if (!slice->length || slice->bytes[slice->length - 1] != last)
        return false;
    slice->length--;
    return true;
}

/* ---- compiling ---- */

/* a/b:compare/<int>; lists do not hold lists. */
static struct wsdbg_error *add_choices(struct ptx_table *table, const char *id, struct ptx_slice words)
{
    struct ptx_slice word, field_name;
    while (split(&words, "/", &word)) {
        if (starts(&word, "<") && ends(&word, '>')) {
            const char *list = ptx_word_list(word);
            if (!list)
                return mistake(id, "no such list", word);
            struct wsdbg_error *error = add_choices(table, id, (struct ptx_slice){list, strlen(list)});
            if (error)
                return error;
            continue;
        }
        struct ptx_choice choice = {.word = word};
        enum ptx_field field;
        const char *colon = memchr(word.bytes, ':', word.length);
        if (colon && colon + 1 < word.bytes + word.length && colon[1] != ':') {
            choice.word.length = (size_t)(colon - word.bytes);
            field_name = (struct ptx_slice){colon + 1, word.length - choice.word.length - 1};
            ptx_word_meaning_in(choice.word, field_name, &field, &choice.value);
        } else {
            ptx_word_meaning(word, &field, &choice.value);
        }
        if (field == PTX_FIELD_UNKNOWN || table->choice_count == PTX_CHOICES_MAX)
            return mistake(id, "no such word", word);
        choice.field = (uint8_t)field;
        table->choices[table->choice_count++] = choice;
    }
    return NULL;
}

static struct wsdbg_error *add_items(struct ptx_table *table, const char *id, struct ptx_slice text,
                                     struct ptx_form *form)
{
    struct ptx_slice word;
    form->first_item = table->item_count;
    while (split(&text, " ", &word)) {
        if (!word.length)
            continue;
        if (ends(&word, ':')) {
            form->mnemonic = word;
            continue;
        }
        struct ptx_item item = {.first_choice = table->choice_count, .is_free = starts(&word, "~")};
        item.is_implied = starts(&word, "+");
        item.is_optional = starts(&word, "[") && ends(&word, ']');
        struct wsdbg_error *error = add_choices(table, id, word);
        if (error)
            return error;
        item.choice_count = table->choice_count - item.first_choice;
        if (table->item_count == PTX_ITEMS_MAX)
            return mistake(id, "too many suffixes", word);
        table->items[table->item_count++] = item;
    }
    form->item_count = table->item_count - form->first_item;
    return NULL;
}

/* What is in braces or stands for itself; false when it is none of these. */
static bool named_slot(struct ptx_slice text, struct ptx_slot *slot)
{
    static const struct {
        const char *text;
        enum ptx_slot_kind kind;
        char width;
    } named[] = {
        {"[]", PTX_SLOT_ADDRESS, 0},     {"[map]", PTX_SLOT_MAP, 0},      {"#", PTX_SLOT_CONSTANT, 0},
        {"_", PTX_SLOT_SINK, 0},         {"pack", PTX_SLOT_PACK, 't'},    {"label", PTX_SLOT_LABEL, 0},
        {"table", PTX_SLOT_TABLE, 0},    {"call", PTX_SLOT_CALL, 0},      {"{offsets}", PTX_SLOT_OFFSETS, '1'},
        {"{d}", PTX_SLOT_FRAGMENT, 'd'}, {"{a}", PTX_SLOT_FRAGMENT, 'a'}, {"{b}", PTX_SLOT_FRAGMENT, 'b'},
        {"{c}", PTX_SLOT_FRAGMENT, 'c'},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (ptx_slice_is(text, named[i].text)) {
            slot->kind = (uint8_t)named[i].kind;
            slot->width = named[i].width;
            slot->is_written = slot->is_written || slot->width == 'd';
            slot->is_optional = slot->is_optional || slot->kind == PTX_SLOT_CALL; /* read by call.c */
            return true;
        }
    return false;
}

static bool value_slot(struct ptx_slice text, struct ptx_slot *slot)
{
    slot->may_negate = starts(&text, "!");
    slot->may_sink = ends(&text, '_');
    slot->may_be_wider = ends(&text, '+');
    slot->may_be_address = ends(&text, '@');
    if (ptx_slice_is(text, "16") || ptx_slice_is(text, "32") || ptx_slice_is(text, "64"))
        text.length = 1;
    slot->width = text.length == 1 && strchr("tuvwp136f*", *text.bytes) ? *text.bytes : 0;
    return slot->width != 0;
}

static struct wsdbg_error *add_slots(struct ptx_table *table, const char *id, struct ptx_slice text,
                                     struct ptx_form *form)
{
    struct ptx_slice part;
    form->first_slot = table->slot_count;
    while (split(&text, ",", &part)) {
        while (starts(&part, " "))
            ;
        while (ends(&part, ' '))
            ;
        if (!part.length)
            continue;
        const struct ptx_slice whole = part;
        struct ptx_slot slot = {.kind = PTX_SLOT_VALUE};
        slot.with_flag = starts(&part, "hint:")   ? WSDBG_PTX_CACHE_HINT
                         : starts(&part, "mask:") ? WSDBG_PTX_MULTICAST
                                                  : 0;
        slot.is_optional = ends(&part, '?');
        slot.is_joined = starts(&part, "|");
        slot.is_written = starts(&part, "=") || slot.is_joined;
        const bool is_vector = !named_slot(part, &slot) && starts(&part, "{") && ends(&part, '}');
        if (is_vector) {
            slot.kind = PTX_SLOT_VECTOR;
            slot.is_written = starts(&part, "=");
        }
        if ((slot.kind == PTX_SLOT_VALUE || is_vector) && !value_slot(part, &slot))
            return mistake(id, "no such operand", whole);
        if (table->slot_count == PTX_SLOTS_MAX)
            return mistake(id, "too many operands", whole);
        table->slots[table->slot_count++] = slot;
    }
    form->slot_count = table->slot_count - form->first_slot;
    return NULL;
}

static struct wsdbg_error *add_row(struct ptx_table *table, unsigned operation)
{
    const char *id = rows[operation].id;
    struct ptx_slice suffixes = {rows[operation].suffixes, strlen(rows[operation].suffixes)};
    struct ptx_slice operands = {rows[operation].operands, strlen(rows[operation].operands)};
    struct ptx_slice mnemonics = {rows[operation].mnemonics, strlen(rows[operation].mnemonics)}, part, slots = {"", 0};
    const bool is_shared = !memmem(operands.bytes, operands.length, " | ", 3);
    while (split(&mnemonics, " ", &part)) {
        if (table->mnemonic_count == PTX_MNEMONICS_MAX)
            return mistake(id, "too many mnemonics", part);
        table->mnemonics[table->mnemonic_count++] = (struct ptx_mnemonic){part, (uint16_t)operation};
    }
    table->first_form[operation] = table->form_count;
    while (split(&suffixes, " | ", &part)) {
        if (is_shared)
            slots = operands;
        else if (!split(&operands, " | ", &slots))
            return mistake(id, "fewer forms of operands than of suffixes", part);
        if (table->form_count == PTX_FORMS_MAX)
            return mistake(id, "too many forms", part);
        struct ptx_form *form = &table->forms[table->form_count++];
        struct wsdbg_error *error = add_items(table, id, part, form);
        if (!error)
            error = add_slots(table, id, slots, form);
        if (error)
            return error;
    }
    return !is_shared && operands.bytes ? mistake(id, "more forms of operands than of suffixes", operands) : NULL;
}

static int compare_slices(struct ptx_slice a, struct ptx_slice b)
{
    const int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_mnemonics(const void *a, const void *b)
{
    return compare_slices(((const struct ptx_mnemonic *)a)->text, ((const struct ptx_mnemonic *)b)->text);
}

struct wsdbg_error *ptx_table_create(struct ptx_table **out)
{
    struct ptx_table *table = calloc(1, sizeof *table);
    struct wsdbg_error *error = table ? NULL : &wsdbg_error_no_memory;
    for (unsigned operation = 1; !error && operation < WSDBG_PTX_OPERATION_COUNT; operation++)
        error = add_row(table, operation);
    if (error) {
        free(table);
        return error;
    }
    table->first_form[WSDBG_PTX_OPERATION_COUNT] = table->form_count;
    qsort(table->mnemonics, table->mnemonic_count, sizeof *table->mnemonics, compare_mnemonics);
    *out = table;
    return NULL;
}

/* ---- matching ---- */

enum wsdbg_ptx_operation ptx_table_find(const struct ptx_table *table, struct ptx_slice opcode, size_t *length)
{
    for (size_t end = opcode.length; end > 0; end--) {
        if (end < opcode.length && opcode.bytes[end] != '.')
            continue;
        const struct ptx_mnemonic key = {{opcode.bytes, end}, 0};
        const struct ptx_mnemonic *found =
            bsearch(&key, table->mnemonics, table->mnemonic_count, sizeof key, compare_mnemonics);
        if (found) {
            *length = end;
            return (enum wsdbg_ptx_operation)found->operation;
        }
    }
    return WSDBG_PTX_NO_OPERATION;
}

static unsigned digits_at(struct ptx_slice word, size_t *at)
{
    unsigned value = 0;
    for (; *at < word.length && word.bytes[*at] >= '0' && word.bytes[*at] <= '9' && value < 1000; ++*at)
        value = value * 10 + (unsigned)(word.bytes[*at] - '0');
    return value;
}

/* m64n256k16 against m64n*k16. */
static bool is_shape_of(struct ptx_slice pattern, struct ptx_slice word)
{
    const char *star = memchr(pattern.bytes, '*', pattern.length);
    const size_t before = star ? (size_t)(star - pattern.bytes) : pattern.length;
    const size_t after = pattern.length - before - (star ? 1 : 0);
    if (!star)
        return false;
    if (word.length <= before + after || memcmp(word.bytes, pattern.bytes, before) != 0 ||
        memcmp(word.bytes + word.length - after, star + 1, after) != 0 || word.bytes[before] == '0')
        return false;
    size_t at = before;
    const unsigned n = digits_at(word, &at);
    return at == word.length - after && n >= 8 && n <= 256 && n % 8 == 0;
}

static void set_shape(struct wsdbg_ptx_instruction *instruction, struct ptx_slice word)
{
    size_t at = 1;
    instruction->m = (uint16_t)digits_at(word, &at);
    at++;
    instruction->n = (uint16_t)digits_at(word, &at);
    at++;
    instruction->k = (uint16_t)digits_at(word, &at);
}

/* The first type is also the second's default; a fourth says what the first did. */
static void set_type(struct wsdbg_ptx_instruction *instruction, unsigned types_before, uint8_t type)
{
    if (types_before == 0)
        instruction->type = instruction->source_type = type;
    else if (types_before == 1)
        instruction->source_type = type;
    else if (types_before == 2)
        instruction->third_type = type;
}

static void apply(const struct ptx_choice *choice, struct ptx_slice word, unsigned types_before,
                  struct wsdbg_ptx_instruction *instruction)
{
    const uint8_t value = (uint8_t)choice->value;
    switch ((enum ptx_field)choice->field) {
    case PTX_FIELD_TYPE:
        set_type(instruction, types_before, value);
        break;
    case PTX_FIELD_SPACE:
        *(instruction->space ? &instruction->source_space : &instruction->space) = value;
        break;
    case PTX_FIELD_FLAG:
        instruction->flags |= choice->value;
        break;
    case PTX_FIELD_COMPARE:
        instruction->compare = value;
        break;
    case PTX_FIELD_COMBINE:
        instruction->combine = value;
        break;
    case PTX_FIELD_ROUNDING:
        instruction->rounding = value;
        break;
    case PTX_FIELD_PART:
        instruction->part = value;
        break;
    case PTX_FIELD_VARIANT:
        instruction->variant = value;
        break;
    case PTX_FIELD_LENGTH:
        instruction->vector_length = value;
        break;
    case PTX_FIELD_DIMENSIONS:
        instruction->dimensions = value;
        break;
    case PTX_FIELD_SHAPE:
        set_shape(instruction, word);
        break;
    case PTX_FIELD_NONE:
    case PTX_FIELD_UNKNOWN:
        break;
    }
}

static const struct ptx_choice *choose(const struct ptx_table *table, const struct ptx_item *item,
                                       struct ptx_slice word)
{
    for (uint32_t i = 0; i < item->choice_count; i++) {
        const struct ptx_choice *choice = &table->choices[item->first_choice + i];
        if ((choice->word.length == word.length && memcmp(choice->word.bytes, word.bytes, word.length) == 0) ||
            (choice->field == PTX_FIELD_SHAPE && is_shape_of(choice->word, word)))
            return choice;
    }
    return NULL;
}

struct matching {
    const struct ptx_table *table;
    const struct ptx_slice *suffixes;
    size_t at, count;
    unsigned types; /* so far */
    struct wsdbg_ptx_instruction *instruction;
};

/* Takes the next suffix where it is one of the item's. */
static bool take(struct matching *matching, const struct ptx_item *item)
{
    const struct ptx_choice *choice = NULL;
    if (matching->at < matching->count)
        choice = choose(matching->table, item, matching->suffixes[matching->at]);
    if (!choice)
        return false;
    apply(choice, matching->suffixes[matching->at++], matching->types, matching->instruction);
    matching->types += choice->field == PTX_FIELD_TYPE;
    return true;
}

/* Items in any order, each once; false when one that must be there is not. */
static bool take_free(struct matching *matching, const struct ptx_item *items, uint32_t count)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count;) {
        const bool took = !(taken >> i & 1) && take(matching, &items[i]);
        taken |= (uint32_t)took << i;
        i = took ? 0 : i + 1;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!(taken >> i & 1) && !items[i].is_optional)
            return false;
    return true;
}

bool ptx_form_suffixes(const struct ptx_table *table, const struct ptx_form *form, const struct ptx_slice *suffixes,
                       size_t count, struct wsdbg_ptx_instruction *instruction, size_t *fitted)
{
    struct matching matching = {.table = table, .suffixes = suffixes, .count = count, .instruction = instruction};
    const struct ptx_item *items = &table->items[form->first_item];
    bool fits = true;
    instruction->vector_length = 1;
    for (uint32_t i = 0, length; fits && i < form->item_count; i += length) {
        for (length = 0; i + length < form->item_count && items[i + length].is_free && length < PTX_FREE_ITEMS_MAX;)
            length++;
        if (length) {
            fits = take_free(&matching, &items[i], length);
            continue;
        }
        length = 1;
        if (items[i].is_implied) {
            const struct ptx_choice *choice = &table->choices[items[i].first_choice];
            apply(choice, choice->word, matching.types, instruction);
        } else {
            fits = take(&matching, &items[i]) || items[i].is_optional;
        }
    }
    *fitted = matching.at;
    return fits && matching.at == count;
}
