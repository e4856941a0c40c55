/* place.c - source places: .file, .loc with inlining, and the functions' names in .section .debug_str.
 *
 * Reads tokens; writes program->places and ->files.  The same place is kept once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/inlined.h"
#include "ptx/constant.h"
#include "ptx/parse.h"
#include "ptx/place.h"

enum { KEY_WORDS = 5, FIRST_ENTRIES = 256, NAME_BYTES_MAX = 1 << 16, ALL_NAMES_BYTES_MAX = 1 << 26 };

/* Five numbers to one. */
struct entry {
    uint32_t key[KEY_WORDS];
    uint32_t value_plus_1; /* 0 = free */
};
struct map {
    struct entry *entries;
    size_t count, room; /* room: a power of two */
};

struct function_name { /* a label of .debug_str with an offset */
    struct ptx_slice label;
    uint64_t offset;
    uint32_t line;
};
struct place_note { /* of a row of places */
    uint32_t text_line;
    uint32_t function_name_plus_1;
    uint32_t function;  /* the first that has code from there */
    const char *called; /* of a copy: the function whose code was copied, NULL = another one was inlined into it */
};

struct ptx_places {
    struct map rows;   /* file, line, column, function name, inlined at: the row */
    struct map latest; /* file, line, column: the row that named this position last */
    struct map names;  /* a label's number, offset: function name */
    struct map files;  /* number in the text: index in program->files */
    struct ptx_array notes, function_names, strings;
    struct ptx_symbols *labels;
};

struct ptx_places *ptx_places_create(void)
{
    struct ptx_places *places = calloc(1, sizeof *places);
    if (places)
        places->labels = ptx_symbols_create();
    if (places && !places->labels) {
        free(places);
        return NULL;
    }
    return places;
}

void ptx_places_destroy(struct ptx_places *places)
{
    if (!places)
        return;
    free(places->rows.entries);
    free(places->latest.entries);
    free(places->names.entries);
    free(places->files.entries);
    free(places->notes.items);
    free(places->function_names.items);
    free(places->strings.items);
    ptx_symbols_destroy(places->labels);
    free(places);
}

static struct entry *slot_of(const struct map *map, const uint32_t key[KEY_WORDS])
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < KEY_WORDS; i++)
        hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15), hash ^= hash >> 29;
    size_t at = hash & (map->room - 1);
    while (map->entries[at].value_plus_1 && memcmp(map->entries[at].key, key, sizeof map->entries[at].key) != 0)
        at = (at + 1) & (map->room - 1);
    return &map->entries[at];
}

/* The value of the key; it is `fallback` from now on where there was none.  NULL = out of memory. */
static uint32_t *find_or_put(struct map *map, const uint32_t key[KEY_WORDS], uint32_t fallback)
{
    if (2 * (map->count + 1) > map->room) {
        struct map larger = {.room = map->room ? 2 * map->room : FIRST_ENTRIES, .count = map->count};
        larger.entries = calloc(larger.room, sizeof *larger.entries);
        if (!larger.entries)
            return NULL;
        for (size_t i = 0; i < map->room; i++)
            if (map->entries[i].value_plus_1)
                *slot_of(&larger, map->entries[i].key) = map->entries[i];
        free(map->entries);
        *map = larger;
    }
    struct entry *entry = slot_of(map, key);
    if (!entry->value_plus_1) {
        memcpy(entry->key, key, sizeof entry->key);
        entry->value_plus_1 = fallback + 1;
        map->count++;
    }
    return &entry->value_plus_1;
}

/* ---- .file and .loc ---- */

struct wsdbg_error *ptx_read_file(struct ptx_parser *parser)
{
    uint64_t number, ignored;
    struct ptx_lexer *lexer = &parser->lexer;
    PTX_TRY(ptx_expect_count(parser, UINT32_MAX - 1, "a file's number", &number));
    if (lexer->token.kind != PTX_TOKEN_STRING)
        return ptx_unexpected(parser, "a file's name");
    char *path = ptx_arena_text(&parser->storage->arena, lexer->token.text.bytes, lexer->token.text.length);
    const uint32_t key[KEY_WORDS] = {(uint32_t)number};
    const uint32_t *value = find_or_put(&parser->place_index->files, key, (uint32_t)parser->files.count);
    const char **file =
        value && path && *value - 1 == parser->files.count ? ptx_append(&parser->files, sizeof *file) : NULL;
    if (!value || !path || (*value > parser->files.count))
        return &wsdbg_error_no_memory;
    *PTX_ITEM(parser->files, const char *, *value - 1) = path;
    ptx_lexer_next(lexer);
    while (ptx_take_mark(lexer, ',')) /* time stamp and size */
        PTX_TRY(ptx_expect_count(parser, UINT64_MAX, "a number", &ignored));
    return NULL;
}

struct position {
    uint32_t file, line, column;
};

static struct wsdbg_error *read_position(struct ptx_parser *parser, struct position *out)
{
    uint64_t file, line, column;
    PTX_TRY(ptx_expect_count(parser, UINT32_MAX - 1, "a file's number", &file));
    PTX_TRY(ptx_expect_count(parser, UINT32_MAX, "a line", &line));
    PTX_TRY(ptx_expect_count(parser, UINT32_MAX, "a column", &column));
    *out = (struct position){(uint32_t)file, (uint32_t)line, (uint32_t)column};
    return NULL;
}

/* The row of this place, made where it is new; it is the position's latest now. */
static struct wsdbg_error *find_place(struct ptx_parser *parser, const struct position *at, uint32_t function_name,
                                      uint32_t inlined_at, uint32_t text_line, uint32_t *row)
{
    struct ptx_places *places = parser->place_index;
    const uint32_t key[KEY_WORDS] = {at->file, at->line, at->column, function_name, inlined_at};
    const uint32_t position_key[KEY_WORDS] = {at->file, at->line, at->column};
    const uint32_t *found = find_or_put(&places->rows, key, (uint32_t)parser->places.count);
    uint32_t *latest = found ? find_or_put(&places->latest, position_key, 0) : NULL;
    if (!latest)
        return &wsdbg_error_no_memory;
    *row = *found - 1;
    *latest = *found;
    if (*row < parser->places.count)
        return NULL;
    struct wsdbg_ptx_place *place = ptx_append(&parser->places, sizeof *place);
    struct place_note *note = place ? ptx_append(&places->notes, sizeof *note) : NULL;
    if (!note)
        return &wsdbg_error_no_memory;
    *place = (struct wsdbg_ptx_place){.file = at->file, .line = at->line, .inlined_at = inlined_at};
    *note = (struct place_note){text_line, function_name, parser->body.function, NULL};
    return NULL;
}

static struct wsdbg_error *read_function_name(struct ptx_parser *parser, uint32_t *number_plus_1)
{
    struct ptx_places *places = parser->place_index;
    struct function_name name = {.line = parser->lexer.token.line};
    PTX_TRY(ptx_expect_name(parser, &name.label));
    if (ptx_take_mark(&parser->lexer, '+'))
        PTX_TRY(ptx_expect_count(parser, UINT32_MAX, "an offset", &name.offset));
    /* Labels are numbered by their first use; the number stands for the name. */
    struct ptx_symbol *known = ptx_symbols_find(places->labels, name.label);
    if (!known) {
        const struct ptx_symbol symbol = {.name = name.label, .number = WSDBG_PTX_NONE, .count = WSDBG_PTX_NONE};
        if (!ptx_symbols_add(places->labels, &symbol))
            return &wsdbg_error_no_memory;
        known = ptx_symbols_find(places->labels, name.label);
    }
    if (known->count == WSDBG_PTX_NONE)
        known->count = (uint32_t)places->names.count;
    const uint32_t key[KEY_WORDS] = {known->count, (uint32_t)name.offset};
    const uint32_t *found = find_or_put(&places->names, key, (uint32_t)places->function_names.count);
    if (!found)
        return &wsdbg_error_no_memory;
    *number_plus_1 = *found;
    if (*found <= places->function_names.count)
        return NULL;
    struct function_name *added = ptx_append(&places->function_names, sizeof *added);
    if (!added)
        return &wsdbg_error_no_memory;
    *added = name;
    return NULL;
}

/* Behind `.loc`. */
struct wsdbg_error *ptx_read_location(struct ptx_parser *parser)
{
    struct position at, outer;
    uint32_t function_name = 0, inlined_at = WSDBG_PTX_NONE;
    const uint32_t text_line = parser->lexer.token.line;
    PTX_TRY(read_position(parser, &at));
    while (ptx_take_mark(&parser->lexer, ',')) {
        struct ptx_slice word;
        PTX_TRY(ptx_expect_name(parser, &word));
        if (ptx_slice_is(word, "function_name")) {
            PTX_TRY(read_function_name(parser, &function_name));
        } else if (ptx_slice_is(word, "inlined_at")) {
            PTX_TRY(read_position(parser, &outer));
            const uint32_t key[KEY_WORDS] = {outer.file, outer.line, outer.column};
            const size_t known = parser->place_index->latest.count;
            const uint32_t *latest = find_or_put(&parser->place_index->latest, key, 0);
            if (!latest)
                return &wsdbg_error_no_memory;
            inlined_at = *latest - 1;
            if (parser->place_index->latest.count > known) /* never named before: not inlined itself */
                PTX_TRY(find_place(parser, &outer, 0, WSDBG_PTX_NONE, text_line, &inlined_at));
        } else {
            return ptx_error(parser, text_line, "a .loc with %.*s", PTX_NAME(word));
        }
    }
    return find_place(parser, &at, function_name, inlined_at, text_line, &parser->body.place);
}

/* ---- .section ---- */

static struct wsdbg_error *read_string_bytes(struct ptx_parser *parser)
{
    do {
        uint64_t value;
        PTX_TRY(ptx_expect_count(parser, UINT8_MAX, "a byte", &value));
        unsigned char *byte = ptx_append(&parser->place_index->strings, 1);
        if (!byte)
            return &wsdbg_error_no_memory;
        *byte = (unsigned char)value;
    } while (ptx_take_mark(&parser->lexer, ','));
    return NULL;
}

static struct wsdbg_error *read_string_label(struct ptx_parser *parser)
{
    struct ptx_places *places = parser->place_index;
    struct ptx_symbol symbol = {.number = (uint32_t)places->strings.count, .count = WSDBG_PTX_NONE};
    PTX_TRY(ptx_expect_name(parser, &symbol.name));
    PTX_TRY(ptx_expect_mark(parser, ':'));
    struct ptx_symbol *known = ptx_symbols_find(places->labels, symbol.name);
    if (known)
        known->number = symbol.number;
    else if (!ptx_symbols_add(places->labels, &symbol))
        return &wsdbg_error_no_memory;
    return NULL;
}

/* Behind `.section`: the strings are read, all others passed over. */
struct wsdbg_error *ptx_read_section(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    const bool has_strings = ptx_at_dotted(lexer, "debug_str");
    if (lexer->token.kind != PTX_TOKEN_DOTTED && lexer->token.kind != PTX_TOKEN_NAME &&
        lexer->token.kind != PTX_TOKEN_STRING)
        return ptx_unexpected(parser, "a section's name");
    ptx_lexer_next(lexer);
    PTX_TRY(ptx_expect_mark(parser, '{'));
    while (!ptx_take_mark(lexer, '}')) {
        if (lexer->token.kind == PTX_TOKEN_END || lexer->token.kind == PTX_TOKEN_BAD)
            return ptx_unexpected(parser, "}");
        if (!has_strings)
            ptx_lexer_next(lexer);
        else if (ptx_take_dotted(lexer, "b8"))
            PTX_TRY(read_string_bytes(parser));
        else
            PTX_TRY(read_string_label(parser));
    }
    return NULL;
}

/* ---- the end ---- */

/* Labels with offsets may lie in one long string: names have a limit, and so have all of them together. */
static struct wsdbg_error *name_function(struct ptx_parser *parser, const struct function_name *name, size_t *all_bytes,
                                         const char **out)
{
    const struct ptx_places *places = parser->place_index;
    const struct ptx_symbol *label = ptx_symbols_find(places->labels, name->label);
    const char *strings = places->strings.items;
    const uint64_t first = label && label->number != WSDBG_PTX_NONE ? label->number + name->offset : UINT64_MAX;
    const uint64_t left = first < places->strings.count ? places->strings.count - first : 0;
    const char *end = left ? memchr(strings + first, '\0', left < NAME_BYTES_MAX ? left : NAME_BYTES_MAX) : NULL;
    if (!end)
        return ptx_error(parser, name->line, "function_name %.*s is no string of .debug_str", PTX_NAME(name->label));
    const size_t length = (size_t)(end - strings - first);
    if ((*all_bytes += length) > ALL_NAMES_BYTES_MAX)
        return ptx_error(parser, name->line, "functions' names of more than 64 MiB");
    *out = ptx_arena_text(&parser->storage->arena, strings + first, length);
    return *out ? NULL : &wsdbg_error_no_memory;
}

static struct wsdbg_error *mark_wrappers(struct ptx_parser *parser)
{
    const size_t count = parser->places.count;
    struct wsdbg_inlined_row *rows = calloc(count + 1, sizeof *rows);
    bool *is_wrapper = calloc(count + 1, sizeof *is_wrapper);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    for (size_t i = 0; rows && i < count; i++) {
        const struct wsdbg_ptx_place *place = PTX_ITEM(parser->places, struct wsdbg_ptx_place, i);
        rows[i] = (struct wsdbg_inlined_row){
            .function = place->function_name ? place->function_name : "",
            .file = *PTX_ITEM(parser->files, const char *, place->file),
            .line = place->line,
            .caller = place->inlined_at == WSDBG_PTX_NONE ? WSDBG_NOT_INLINED : place->inlined_at,
            .kernel = PTX_ITEM(parser->place_index->notes, struct place_note, i)->function,
        };
    }
    if (rows && is_wrapper)
        error = wsdbg_inlined_wrappers(rows, count, is_wrapper);
    for (size_t i = 0; !error && i < count; i++)
        PTX_ITEM(parser->places, struct wsdbg_ptx_place, i)->is_wrapper = is_wrapper[i];
    free(rows);
    free(is_wrapper);
    return error;
}

struct wsdbg_error *ptx_copy_place(struct ptx_parser *parser, uint32_t place, uint32_t kernel,
                                   const struct ptx_place_level *outer, uint32_t *row)
{
    *row = (uint32_t)parser->places.count;
    struct wsdbg_ptx_place *copy = ptx_append(&parser->places, sizeof *copy);
    struct place_note *note = copy ? ptx_append(&parser->place_index->notes, sizeof *note) : NULL;
    if (!note)
        return &wsdbg_error_no_memory;
    *copy = *PTX_ITEM(parser->places, struct wsdbg_ptx_place, place);
    *note = *PTX_ITEM(parser->place_index->notes, struct place_note, place);
    copy->inlined_at = outer->place;
    /* the copies of a kernel lie behind each other, and so are rows of one kernel more */
    note->function = (uint32_t)parser->functions.count + kernel;
    note->called = outer->called;
    return NULL;
}

/* Files and names may be declared behind the code that uses them. */
struct wsdbg_error *ptx_finish_places(struct ptx_parser *parser)
{
    struct ptx_places *places = parser->place_index;
    const size_t name_count = places->function_names.count;
    const char **names = ptx_arena_take(&parser->storage->arena, name_count, sizeof *names);
    if (!names)
        return &wsdbg_error_no_memory;
    size_t bytes = 0;
    for (size_t i = 0; i < name_count; i++)
        PTX_TRY(name_function(parser, PTX_ITEM(places->function_names, struct function_name, i), &bytes, &names[i]));
    for (size_t i = 0; i < parser->places.count; i++) {
        struct wsdbg_ptx_place *place = PTX_ITEM(parser->places, struct wsdbg_ptx_place, i);
        const struct place_note *note = PTX_ITEM(places->notes, struct place_note, i);
        const uint32_t key[KEY_WORDS] = {place->file};
        const uint32_t *file = places->files.room ? &slot_of(&places->files, key)->value_plus_1 : NULL;
        if (!file || !*file)
            return ptx_error(parser, note->text_line, "file %u of .loc is not declared", (unsigned)place->file);
        place->file = *file - 1;
        place->function_name = note->function_name_plus_1 ? names[note->function_name_plus_1 - 1] : note->called;
    }
    return mark_wrappers(parser);
}

size_t wsdbg_ptx_levels(const struct wsdbg_ptx_program *program, uint32_t place, const struct wsdbg_ptx_place **out,
                        size_t most)
{
    size_t count = 0;
    for (; place < program->place_count && count < most; place = program->places[place].inlined_at) {
        if (program->places[place].file >= program->file_count)
            break;
        out[count++] = &program->places[place];
    }
    return count;
}
