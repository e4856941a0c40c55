/* handles.c - which pointers are handles; see objects.h.
 *
 * A program may hand over anything: a pointer is looked up before it is followed, with the kind that the call wants.
 * Reads and writes: a table of addresses and kinds.
 */
#include "libcuda/objects.h"

#include <stdlib.h>

static size_t first_row(const struct handle_table *table, const void *pointer)
{
    return ((uintptr_t)pointer >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (table->capacity - 1);
}

/* The pointer's row, NULL when there is none.  A table is never full. */
static struct handle_row *find(const struct handle_table *table, const void *pointer)
{
    if (!pointer || !table->capacity)
        return NULL;
    for (size_t i = first_row(table, pointer);; i = (i + 1) & (table->capacity - 1)) {
        if (table->rows[i].pointer == pointer)
            return &table->rows[i];
        if (!table->rows[i].pointer)
            return NULL;
    }
}

static void insert(struct handle_table *table, const void *pointer, enum handle_kind kind)
{
    size_t i = first_row(table, pointer);
    while (table->rows[i].pointer)
        i = (i + 1) & (table->capacity - 1);
    table->rows[i] = (struct handle_row){pointer, kind};
    table->used++;
}

/* A new table of at least twice the live rows, without the removed ones. */
static bool rebuild(struct handle_table *table)
{
    size_t live = 1;
    for (size_t i = 0; i < table->capacity; i++)
        live += table->rows[i].kind != HANDLE_NONE;
    struct handle_table larger = {.capacity = 64};
    while (larger.capacity < 4 * live)
        larger.capacity *= 2;
    larger.rows = calloc(larger.capacity, sizeof *larger.rows);
    if (!larger.rows)
        return false;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->rows[i].kind != HANDLE_NONE)
            insert(&larger, table->rows[i].pointer, table->rows[i].kind);
    free(table->rows);
    *table = larger;
    return true;
}

bool handle_add(struct handle_table *table, const void *pointer, enum handle_kind kind)
{
    if (2 * (table->used + 1) > table->capacity && !rebuild(table))
        return false;
    insert(table, pointer, kind);
    return true;
}

void handle_remove(struct handle_table *table, const void *pointer)
{
    struct handle_row *row = find(table, pointer);
    if (row)
        *row = (struct handle_row){table, HANDLE_NONE};
}

bool handle_is(const struct handle_table *table, const void *pointer, enum handle_kind kind)
{
    const struct handle_row *row = find(table, pointer);
    return row && row->kind == kind;
}
