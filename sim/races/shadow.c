/* shadow.c - see shadow.h: pages of cells, made when they are first used.
 *
 * A cell whose bytes were used differently is cut into equal parts, as large as its accesses allow.  The bytes of one
 * access mostly have the same history, so what was found about the last write and the last set of reads is kept until
 * they change.
 */
#include "races/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { CELL_SHIFT = 4, CELL_BYTES = 1 << CELL_SHIFT, PAGE_SHIFT = 12, PAGE_CELLS = 1 << (PAGE_SHIFT - CELL_SHIFT) };
enum { PAGES_FIRST = 64 };

struct use {
    uint32_t write, reads; /* of the history; 0 = none */
};
struct cell {
    union {
        struct use all;
        uint32_t part_shift; /* where there are parts: each has 1 << part_shift bytes */
    };
    struct use *parts; /* NULL = all bytes were used alike */
};
struct page {
    uint64_t number; /* plus 1; 0 = free */
    struct cell *cells;
};
struct race_shadow {
    struct race_history *history;
    struct page *pages; /* open addressing */
    size_t page_count, page_capacity;
    uint64_t last_number;
    struct cell *last;
};

struct race_shadow *race_shadow_create(void)
{
    struct race_shadow *const shadow = calloc(1, sizeof *shadow);
    if (shadow)
        shadow->history = race_history_create();
    if (shadow && shadow->history)
        return shadow;
    free(shadow);
    return NULL;
}

void race_shadow_destroy(struct race_shadow *shadow)
{
    if (!shadow)
        return;
    for (size_t i = 0; i < shadow->page_capacity; i++) {
        for (unsigned j = 0; shadow->pages[i].cells && j < PAGE_CELLS; j++)
            free(shadow->pages[i].cells[j].parts);
        free(shadow->pages[i].cells);
    }
    free(shadow->pages);
    race_history_destroy(shadow->history);
    free(shadow);
}

/* ---- cells ---- */

static struct page *slot_of(struct page *pages, size_t capacity, uint64_t number)
{
    size_t i = (number * 0x9e3779b97f4a7c15ull) >> 32 & (capacity - 1);
    while (pages[i].number && pages[i].number != number + 1)
        i = (i + 1) & (capacity - 1);
    return &pages[i];
}

static bool grow_pages(struct race_shadow *shadow)
{
    const size_t capacity = shadow->page_capacity ? 2 * shadow->page_capacity : PAGES_FIRST;
    struct page *const larger = calloc(capacity, sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < shadow->page_capacity; i++)
        if (shadow->pages[i].number)
            *slot_of(larger, capacity, shadow->pages[i].number - 1) = shadow->pages[i];
    free(shadow->pages);
    shadow->pages = larger;
    shadow->page_capacity = capacity;
    return true;
}

/* NULL: no memory. */
static struct cell *page_cells(struct race_shadow *shadow, uint64_t number)
{
    if (shadow->last && shadow->last_number == number)
        return shadow->last;
    if (2 * (shadow->page_count + 1) > shadow->page_capacity && !grow_pages(shadow))
        return NULL;
    struct page *const page = slot_of(shadow->pages, shadow->page_capacity, number);
    if (!page->number) {
        page->cells = calloc(PAGE_CELLS, sizeof *page->cells);
        if (!page->cells)
            return NULL;
        page->number = number + 1;
        shadow->page_count++;
    }
    shadow->last_number = number;
    shadow->last = page->cells;
    return page->cells;
}

static struct cell *cell_of(struct race_shadow *shadow, uint64_t address)
{
    struct cell *const cells = page_cells(shadow, address >> PAGE_SHIFT);
    return cells ? &cells[address >> CELL_SHIFT & (PAGE_CELLS - 1)] : NULL;
}

/* Cuts the cell into parts of at most 1 << shift bytes.  False: no memory. */
static bool part_cell(struct cell *cell, uint32_t shift)
{
    if (cell->parts && cell->part_shift <= shift)
        return true;
    const uint32_t count = (uint32_t)CELL_BYTES >> shift;
    struct use *const parts = malloc(count * sizeof *parts);
    if (!parts)
        return false;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = cell->parts ? cell->parts[i << shift >> cell->part_shift] : cell->all;
    free(cell->parts);
    cell->parts = parts;
    cell->part_shift = shift;
    return true;
}

static void unite_cell(struct cell *cell)
{
    const struct use first = cell->parts[0];
    for (uint32_t i = 1; i < (uint32_t)CELL_BYTES >> cell->part_shift; i++)
        if (cell->parts[i].write != first.write || cell->parts[i].reads != first.reads)
            return;
    free(cell->parts);
    cell->parts = NULL;
    cell->all = first;
}

/* ---- one access ---- */

/* The earlier access against this one. */
static void check(struct race_visit *visit, uint32_t number, bool earlier_writes)
{
    const struct race_access *const earlier = race_history_access(visit->shadow->history, number);
    const struct race_access *const later = visit->access;
    const bool is_seen = earlier->time <= race_clock_time(&visit->knowledge->ways[RACE_SEEN], earlier->component);
    enum race_kind kind;
    if (!is_seen && earlier->flags & later->flags & RACE_STRONG)
        return;
    if (!is_seen && earlier->agent == later->agent && earlier->site == later->site &&
        earlier->component == later->component && earlier->time == later->time)
        return; /* lanes of one instruction */
    if (!is_seen && earlier_writes && later->flags & RACE_SAME &&
        earlier->flags / RACE_WIDTH == later->flags / RACE_WIDTH)
        return;
    if (!is_seen)
        kind = earlier_writes && visit->is_write ? RACE_WRITE_WRITE : RACE_READ_WRITE;
    else if (!earlier_writes || earlier->flags & RACE_ASYNC || !(later->flags & (RACE_ASYNC | RACE_MAP)))
        return;
    else if (later->flags & RACE_MAP &&
             earlier->time > race_clock_time(&visit->knowledge->ways[RACE_SEEN_MAP], earlier->component))
        kind = RACE_FENCE_MAP;
    else if (!(later->flags & RACE_MAP) &&
             earlier->time > race_clock_time(&visit->knowledge->ways[RACE_SEEN_ASYNC], earlier->component))
        kind = RACE_FENCE_PROXY;
    else
        return;
    visit->find->found(visit->find->context, kind, visit->address, earlier, earlier_writes, later, visit->is_write);
}

static void check_reads(struct race_visit *visit, uint32_t set)
{
    uint32_t count;
    const uint32_t *const reads = race_history_reads(visit->shadow->history, set, &count);
    for (uint32_t i = 0; i < count; i++)
        check(visit, reads[i], false);
}

static void touch(struct race_visit *visit, struct use *use)
{
    if (use->write && use->write != visit->checked_write) {
        visit->checked_write = use->write;
        check(visit, use->write, true);
    }
    if (visit->is_write) {
        if (use->reads && use->reads != visit->checked_reads) {
            visit->checked_reads = use->reads;
            check_reads(visit, use->reads);
        }
        *use = (struct use){.write = visit->number};
        return;
    }
    if (use->reads != visit->reads_before || !visit->reads_after) {
        visit->reads_before = use->reads;
        visit->reads_after = race_history_add_read(visit->shadow->history, use->reads, visit->access,
                                                   &visit->knowledge->ways[RACE_SEEN]);
    }
    use->reads = visit->reads_after;
}

static void touch_cell(struct race_visit *visit, struct cell *cell, uint32_t first, uint32_t count)
{
    const bool is_whole = count == CELL_BYTES;
    if (is_whole && !cell->parts) {
        touch(visit, &cell->all);
        return;
    }
    if (!part_cell(cell, (uint32_t)__builtin_ctz(first | count)))
        return;
    for (uint32_t i = first >> cell->part_shift; i < (first + count) >> cell->part_shift; i++)
        touch(visit, &cell->parts[i]);
    if (first + count == CELL_BYTES)
        unite_cell(cell);
}

void race_visit_begin(struct race_visit *visit, struct race_shadow *shadow, const struct race_access *access,
                      bool is_write, const struct race_knowledge *knowledge, const struct race_find *find)
{
    *visit = (struct race_visit){.shadow = shadow,
                                 .access = access,
                                 .knowledge = knowledge,
                                 .find = find,
                                 .is_write = is_write,
                                 .number = is_write ? race_history_add(shadow->history, access) : 0};
}

void race_visit_range(struct race_visit *visit, uint64_t address, uint32_t byte_count)
{
    while (byte_count && (visit->number || !visit->is_write)) {
        const uint32_t first = (uint32_t)address & (CELL_BYTES - 1), room = CELL_BYTES - first;
        const uint32_t count = byte_count < room ? byte_count : room;
        struct cell *const cell = cell_of(visit->shadow, address);
        visit->address = address;
        if (cell)
            touch_cell(visit, cell, first, count);
        address += count;
        byte_count -= count;
    }
}

const struct race_access *race_shadow_written(const struct race_shadow *shadow, uint64_t address)
{
    const struct page *const page =
        shadow->page_capacity ? slot_of(shadow->pages, shadow->page_capacity, address >> PAGE_SHIFT) : NULL;
    if (!page || !page->number)
        return NULL;
    const struct cell *const cell = &page->cells[address >> CELL_SHIFT & (PAGE_CELLS - 1)];
    const struct use *const use =
        cell->parts ? &cell->parts[(address & (CELL_BYTES - 1)) >> cell->part_shift] : &cell->all;
    return use->write ? race_history_access(shadow->history, use->write) : NULL;
}
