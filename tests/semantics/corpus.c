/* corpus.c - see corpus.h. */
#include "semantics/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/program.h"
#include "semantics/must.h"
#include "semantics/values.h"

static const char *const operation_ids[] = {
#define PTX(id, ...) [WSDBG_PTX_OP_##id] = #id,
#include "ptx/instructions.def"
#undef PTX
};

unsigned semantics_operation(const char *id)
{
    for (unsigned operation = 1; operation < WSDBG_PTX_OPERATION_COUNT; operation++)
        if (strcmp(operation_ids[operation], id) == 0)
            return operation;
    fprintf(stderr, "semantics: instructions.def has no row %s\n", id);
    exit(2);
}

const char *semantics_operation_id(unsigned operation)
{
    return operation_ids[operation];
}

uint64_t semantics_digest(uint64_t before, const void *bytes, size_t count)
{
    const unsigned char *const at = bytes;
    uint64_t hash = before ? before : 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

uint64_t semantics_any(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u; /* splitmix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct semantics_unit *semantics_add_unit(struct semantics_corpus *corpus, const char *name)
{
    corpus->units = must_grow(corpus->units, &corpus->unit_room, corpus->unit_count, sizeof *corpus->units);
    struct semantics_unit *const unit = &corpus->units[corpus->unit_count++];
    *unit = (struct semantics_unit){.name = must_copy(name), .ctas = 1, .threads = 32};
    return unit;
}

struct semantics_case *semantics_add_case(struct semantics_unit *unit, unsigned operation, const char *name,
                                          uint32_t count, unsigned bytes)
{
    unit->cases = must_grow(unit->cases, &unit->case_room, unit->case_count, sizeof *unit->cases);
    struct semantics_case *const added = &unit->cases[unit->case_count++];
    *added = (struct semantics_case){.name = must_copy(name),
                                     .operation = (uint16_t)operation,
                                     .offset = (uint32_t)unit->output_bytes,
                                     .count = count,
                                     .slot_bytes = 8,
                                     .bytes = (uint8_t)bytes};
    unit->output_bytes += (size_t)count * added->slot_bytes;
    return added;
}

bool semantics_has_case(const struct semantics_unit *unit, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < unit->case_count; i++) {
        const char *const other = unit->cases[i].name;
        if (strncmp(other, name, length) == 0 && (!other[length] || strncmp(other + length, " (", 2) == 0))
            return true;
    }
    return false;
}

static void read_refused(struct semantics_corpus *corpus, const char *path)
{
    FILE *const file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, refused_room = 0;
    if (!file) {
        fprintf(stderr, "semantics: cannot read %s\n", path);
        exit(2);
    }
    while (getline(&line, &room, file) > 0) {
        char *const tab = strchr(line, '\t');
        if (*line == '#' || !tab)
            continue;
        *tab = 0;
        tab[1 + strcspn(tab + 1, "\n")] = 0;
        corpus->refused = must_grow(corpus->refused, &refused_room, corpus->refused_count, sizeof *corpus->refused);
        corpus->refused[corpus->refused_count++] = (struct semantics_refused){must_copy(line), must_copy(tab + 1)};
    }
    free(line);
    fclose(file);
}

const char *semantics_refusal(const struct semantics_corpus *corpus, const char *name)
{
    for (size_t i = 0; i < corpus->refused_count; i++)
        if (strcmp(corpus->refused[i].name, name) == 0)
            return corpus->refused[i].message;
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Answers are found by name. */
static void check_names(const struct semantics_corpus *corpus)
{
    size_t count = 0, room = 0;
    char **names = NULL;
    for (size_t i = 0; i < corpus->unit_count; i++)
        for (size_t k = 0; k < corpus->units[i].case_count; k++) {
            names = must_grow(names, &room, count, sizeof *names);
            names[count++] = corpus->units[i].cases[k].name;
        }
    qsort(names, count, sizeof *names, by_text);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0) {
            fprintf(stderr, "semantics: two cases have the name %s\n", names[i]);
            exit(2);
        }
    free(names);
}

struct semantics_corpus *semantics_corpus_create(const char *refused_file)
{
    struct semantics_corpus *const corpus = must_zeros(1, sizeof *corpus);
    if (refused_file)
        read_refused(corpus, refused_file);
    corpus->values = semantics_values_create();
    semantics_add_scalars(corpus);
    semantics_add_lanes(corpus);
    semantics_add_memory(corpus);
    semantics_add_atomics(corpus);
    semantics_add_mbarriers(corpus);
    semantics_add_copies(corpus);
    semantics_add_tensors(corpus);
    semantics_add_matrices(corpus);
    semantics_add_control(corpus);
    check_names(corpus);
    return corpus;
}

void semantics_corpus_destroy(struct semantics_corpus *corpus)
{
    for (size_t i = 0; i < corpus->unit_count; i++) {
        struct semantics_unit *const unit = &corpus->units[i];
        for (size_t k = 0; k < unit->case_count; k++)
            free(unit->cases[k].name);
        if (unit->owns_input)
            free(unit->input);
        free(unit->cases);
        free(unit->text);
        free(unit->name);
    }
    for (size_t i = 0; i < corpus->refused_count; i++) {
        free(corpus->refused[i].name);
        free(corpus->refused[i].message);
    }
    semantics_values_destroy(corpus->values);
    free(corpus->refused);
    free(corpus->units);
    free(corpus);
}
