/* site_stacks.c - see site_stacks.h.
 *
 * Reads: rows of the rings (site_rows.c), the program's unwind tables and code objects.  Writes: rows of the snapshot.
 *
 * The piece of stack that a row has takes the place of the thread's stack, which is another one by now.  Beyond the
 * piece nothing is known, so the stack ends there.  A code object counts only if it still has the name and the line
 * that the row has.
 */
#include "host/site_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/site_rows.h"
#include "host/stack_rows.h"
#include "model/rows.h"

#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)
#define STACK_BYTES_MOST UINT64_C(1048576)

/* A stack that was read, not yet named. */
struct found {
    struct wsdbg_launch_site site;
    bool has_stack; /* the next one of `stacks` is its */
    uint64_t hash;
};

struct sites {
    const struct wsdbg_host_reader *reader;
    const struct wsdbg_host_request *request;
    struct wsdbg_site_rings rings;
    struct wsdbg_host_memory *memory; /* the process's, with the row's piece in place of the stack */
    struct wsdbg_site_row row;        /* what is being read */
    struct wsdbg_host_thread_picture *picture;
    struct wsdbg_snapshot stacks; /* one for each of those found that has one */
    struct wsdbg_host_unnamed *unnamed;
    struct wsdbg_native_inlines inlines;
    struct found *found;
    size_t count;
    struct wsdbg_site_row last; /* whose stack was unwound last */
    struct found *last_found;   /* ... its row of found; NULL = there is none */
};

/* ---- the row's piece as memory ---- */

static uint64_t stack_first(const struct wsdbg_site_row *row)
{
    return row->registers[WSDBG_SITE_RSP];
}

static const uint64_t *stack_of(const struct wsdbg_site_row *row)
{
    return row->words + row->python_frames * WSDBG_SITE_FRAME_WORDS;
}

/* A page that the piece lies in has nothing else: addresses beyond the piece give no value that could be one. */
static ssize_t read_with_piece(void *context, uint64_t address, void *out, size_t bytes)
{
    const struct sites *s = context;
    const uint64_t first = stack_first(&s->row), end = first + s->row.stack_words * sizeof(uint64_t);
    if (address >= end || address + bytes <= first)
        return wsdbg_host_read(s->reader->memory, address, out, bytes) ? (ssize_t)bytes : -1;
    memset(out, 0xff, bytes);
    const uint64_t from = address > first ? address : first;
    const uint64_t to = address + bytes < end ? address + bytes : end;
    memcpy((unsigned char *)out + (from - address), (const unsigned char *)stack_of(&s->row) + (from - first),
           to - from);
    return (ssize_t)bytes;
}

/* ---- one row's frames ---- */

static struct wsdbg_host_python_row python_row(struct sites *s, const uint64_t words[WSDBG_SITE_FRAME_WORDS])
{
    const struct wsdbg_host_reader *reader = s->reader;
    struct wsdbg_python_frame frame = {.code = words[0] & ADDRESS_MASK & ~UINT64_C(7)};
    struct wsdbg_host_python_row unknown = {.frame.kind = WSDBG_HOST_FRAME_PYTHON,
                                            .is_entry = words[0] & WSDBG_SITE_ENTRY};
    frame.is_entry = unknown.is_entry;
    const struct wsdbg_python_code *code = wsdbg_python_code_at(reader->codes, frame.code);
    if (!code || (code->function_text & ADDRESS_MASK) != (words[2] & ADDRESS_MASK) ||
        (code->first_line & 0xffff) != words[2] >> 48 ||
        !wsdbg_python_offset(reader->python, reader->memory, frame.code, (uint32_t)(words[0] >> 48), words[1],
                             &frame.offset_bytes))
        return unknown;
    return wsdbg_host_python_row(reader, &frame);
}

static void read_python(struct sites *s)
{
    struct wsdbg_host_thread_picture *out = s->picture;
    out->python_count = 0;
    out->python_end = NULL;
    if (!s->reader->python)
        return;
    for (uint32_t i = 0; i < s->row.python_frames; i++)
        out->python[out->python_count++] = python_row(s, s->row.words + i * WSDBG_SITE_FRAME_WORDS);
    if (s->row.flags & WSDBG_SITE_PYTHON_LOST)
        out->python_end = "Python's frames could not be read then";
    else if (s->row.flags & WSDBG_SITE_PYTHON_CUT)
        out->python_end = "there are more Python frames";
}

static void read_native(struct sites *s)
{
    const uint64_t *registers = s->row.registers;
    const uint64_t kept[] = {registers[WSDBG_SITE_RBX], registers[WSDBG_SITE_RBP], registers[WSDBG_SITE_R12],
                             registers[WSDBG_SITE_R13], registers[WSDBG_SITE_R14], registers[WSDBG_SITE_R15]};
    const struct wsdbg_native_start start = {.pc = registers[WSDBG_SITE_PC],
                                             .sp = stack_first(&s->row),
                                             .kept = kept,
                                             .stack_end = stack_first(&s->row) + s->row.stack_words * sizeof(uint64_t)};
    wsdbg_host_memory_forget(s->memory);
    wsdbg_native_unwind(s->reader->modules, s->memory, &start, &s->picture->native);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/* Rows whose frames are the same have the same hash. */
static uint64_t hash_of(const struct sites *s)
{
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), s->row.flags);
    for (uint32_t i = 0; i < s->row.python_frames * WSDBG_SITE_FRAME_WORDS; i++)
        hash = mix(hash, s->row.words[i]);
    for (size_t i = 0; i < s->picture->native.count; i++)
        hash = mix(hash, s->picture->native.frames[i].pc);
    return mix(hash, s->picture->native.end != NULL);
}

/* ---- what was found ---- */

/* Whether two sites are of the same grid or call. */
static bool is_same_subject(const struct wsdbg_launch_site *a, const struct wsdbg_launch_site *b)
{
    return a->kind == b->kind && a->tag == b->tag;
}

/* One of the same grid or call with the same stack; NULL = there is none. */
static struct found *find_alike(struct sites *s, const struct wsdbg_launch_site *site, bool has_stack, uint64_t hash)
{
    for (size_t i = s->count; i-- > 0 && is_same_subject(&s->found[i].site, site);)
        if (s->found[i].has_stack == has_stack && s->found[i].hash == hash)
            return &s->found[i];
    return NULL;
}

static struct wsdbg_error *add(struct sites *s, const struct wsdbg_launch_site *site, bool has_stack, uint64_t hash)
{
    struct found *alike = site->kind == WSDBG_SITE_OF_LAUNCH ? find_alike(s, site, has_stack, hash) : NULL;
    if (alike) {
        alike->site.count++;
        return NULL;
    }
    s->found[s->count++] = (struct found){.site = *site, .has_stack = has_stack, .hash = hash};
    return has_stack ? wsdbg_host_stack_add(s->unnamed, s->reader, site->thread_id, s->picture) : NULL;
}

/* ---- rows that repeat ---- */

/* A frame may be found by it. */
static bool may_be_of_stack(uint64_t value, uint64_t sp)
{
    return value - (sp - STACK_BYTES_MOST) < 2 * STACK_BYTES_MOST;
}

/* Words that tell a frame: addresses of the stack. */
static bool words_tell_the_same(const uint64_t *a, const uint64_t *b, size_t count, uint64_t sp)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i] && (may_be_of_stack(a[i], sp) || may_be_of_stack(b[i], sp)))
            return false;
    return true;
}

static bool returns_are_the_same(const struct sites *s)
{
    const uint64_t first = stack_first(&s->row);
    for (size_t i = 0; i < s->picture->native.count; i++) {
        const uint64_t cfa = s->picture->native.frames[i].cfa, at = (cfa - first) / sizeof(uint64_t) - 1;
        if (cfa && (at >= s->row.stack_words || stack_of(&s->row)[at] != stack_of(&s->last)[at]))
            return false;
    }
    return true;
}

/* Whether unwinding gives what it gave for the row before.  It follows the program counter, return addresses, and
 * registers and words that hold addresses of the stack: these must be the same. */
static bool repeats_last(const struct sites *s)
{
    const struct wsdbg_site_row *a = &s->row, *b = &s->last;
    const uint64_t sp = stack_first(a);
    return s->last_found && a->flags == b->flags && a->python_frames == b->python_frames &&
           a->stack_words == b->stack_words && sp == stack_first(b) && a->thread_id == b->thread_id &&
           a->registers[WSDBG_SITE_PC] == b->registers[WSDBG_SITE_PC] &&
           memcmp(a->words, b->words, a->python_frames * WSDBG_SITE_FRAME_WORDS * sizeof *a->words) == 0 &&
           words_tell_the_same(a->registers, b->registers, WSDBG_SITE_REGISTERS, sp) &&
           words_tell_the_same(stack_of(a), stack_of(b), a->stack_words, sp) && returns_are_the_same(s);
}

static struct wsdbg_launch_site new_site(const struct sites *s, enum wsdbg_launch_site_kind kind, uint32_t tag,
                                         uint64_t entry)
{
    return (struct wsdbg_launch_site){.process_id = s->request->process_id,
                                      .kind = kind,
                                      .grid = WSDBG_NONE,
                                      .collective = WSDBG_NONE,
                                      .launch = WSDBG_NONE,
                                      .count = 1,
                                      .function = WSDBG_NONE,
                                      .before = WSDBG_NONE,
                                      .after = WSDBG_NONE,
                                      .tag = tag,
                                      .rows = {WSDBG_UNKNOWN32, WSDBG_UNKNOWN32, WSDBG_UNKNOWN32},
                                      .entry = entry};
}

static struct wsdbg_error *add_lost(struct sites *s, struct wsdbg_launch_site *site, const char *why)
{
    const bool is_late = wsdbg_host_memory_is_late(s->reader->memory);
    snprintf(site->end, sizeof site->end, "%s", is_late ? "there was no time to read it" : why);
    return add(s, site, false, 0);
}

static struct wsdbg_error *add_row(struct sites *s, struct wsdbg_launch_site *site)
{
    if (site->kind == WSDBG_SITE_OF_LAUNCH && repeats_last(s) && is_same_subject(&s->last_found->site, site)) {
        s->last_found->site.count++;
        return NULL;
    }
    site->thread_id = s->row.thread_id;
    site->time_ns = s->row.time_ns;
    read_python(s);
    read_native(s);
    const uint64_t hash = hash_of(s);
    struct wsdbg_error *error = add(s, site, true, hash);
    s->last = s->row;
    s->last_found = error ? NULL : find_alike(s, site, true, hash);
    return error;
}

/* ---- the three rings ---- */

#define NOT_KEPT "the observer kept no stack of it"

static struct wsdbg_error *read_launch(struct sites *s, const struct wsdbg_host_wanted *wanted)
{
    struct wsdbg_launch_site site = new_site(s, WSDBG_SITE_OF_LAUNCH, wanted->tag, wanted->owner);
    if (wsdbg_site_row_read(&s->rings, WSDBG_SITES_LAUNCHED, wanted->owner, &s->row))
        return add_row(s, &site);
    const bool is_later = wsdbg_site_row_is_later(&s->row, wanted->owner);
    return add_lost(s, &site, is_later ? "later launches took its place" : NOT_KEPT);
}

/* The oldest entry that may be there. */
static uint64_t oldest(uint64_t count, enum wsdbg_site_ring ring)
{
    const uint64_t rows = wsdbg_site_ring_rows(ring);
    return count > rows ? count - rows : 0;
}

static struct wsdbg_error *read_call(struct sites *s, const struct wsdbg_host_wanted *wanted)
{
    struct wsdbg_launch_site site = new_site(s, WSDBG_SITE_OF_CALL, wanted->tag, wanted->owner);
    const uint64_t count = wsdbg_site_row_count(&s->rings, WSDBG_SITES_CALLED);
    for (uint64_t n = count; n-- > oldest(count, WSDBG_SITES_CALLED);)
        if (wsdbg_site_row_read(&s->rings, WSDBG_SITES_CALLED, n, &s->row) && s->row.owner == wanted->owner &&
            s->row.group == wanted->group)
            return add_row(s, &site);
    const bool are_all_there = oldest(count, WSDBG_SITES_CALLED) == 0;
    return add_lost(s, &site, are_all_there ? NOT_KEPT : "later calls took its place");
}

/* The kernel that was captured next to entry n, in the same stream: the next one in the direction of `step`.
 * WSDBG_UNKNOWN32 = none is known. */
static uint32_t neighbour(struct sites *s, uint64_t n, int step, uint64_t first, uint64_t count)
{
    struct wsdbg_site_row other;
    for (uint64_t i = n + (uint64_t)step; i >= first && i < count && i - n + 64 <= 128; i += (uint64_t)step)
        if (wsdbg_site_row_read(&s->rings, WSDBG_SITES_CAPTURED, i, &other) && other.capture == s->row.capture &&
            other.group == s->row.group)
            return other.function;
    return WSDBG_UNKNOWN32;
}

static struct wsdbg_error *read_nodes(struct sites *s, const struct wsdbg_host_wanted *wanted)
{
    const uint64_t count = wsdbg_site_row_count(&s->rings, WSDBG_SITES_CAPTURED);
    const uint64_t first = oldest(count, WSDBG_SITES_CAPTURED);
    struct wsdbg_error *error = NULL;
    uint64_t n = first;
    for (; !error && n < count && s->count < WSDBG_HOST_WANTED_MAX; n++) {
        if (!wsdbg_site_row_read(&s->rings, WSDBG_SITES_CAPTURED, n, &s->row) ||
            s->row.function != wanted->function_row)
            continue;
        struct wsdbg_launch_site site = new_site(s, WSDBG_SITE_OF_NODE, wanted->tag, s->row.owner);
        site.rows[0] = s->row.function;
        site.rows[1] = s->row.capture ? neighbour(s, n, -1, first, count) : WSDBG_UNKNOWN32;
        site.rows[2] = s->row.capture ? neighbour(s, n, 1, first, count) : WSDBG_UNKNOWN32;
        error = add_row(s, &site);
    }
    if (error || (first == 0 && n == count))
        return error;
    struct wsdbg_launch_site lost = new_site(s, WSDBG_SITE_OF_NODE, wanted->tag, WSDBG_UNKNOWN64);
    lost.rows[0] = wanted->function_row;
    return add_lost(s, &lost, "earlier captures are not kept");
}

static struct wsdbg_error *read_wanted(struct sites *s, const struct wsdbg_host_wanted *wanted)
{
    if (wanted->ring == WSDBG_SITES_LAUNCHED)
        return read_launch(s, wanted);
    return wanted->ring == WSDBG_SITES_CALLED ? read_call(s, wanted) : read_nodes(s, wanted);
}

/* ---- all of them ---- */

static void put_frame(struct wsdbg_snapshot *rows, const struct wsdbg_host_frame *frame)
{
    struct wsdbg_host_frame *to = &rows->site_frames[rows->site_frame_count++];
    *to = *frame;
    to->stack = (uint32_t)rows->launch_site_count - 1;
}

/* A frame, and before it the calls that were inlined into its function. */
static void put_frames(const struct sites *s, uint32_t number, struct wsdbg_snapshot *rows)
{
    for (size_t i = 0; i < s->inlines.count; i++)
        if (s->inlines.rows[i].before == number)
            put_frame(rows, &s->inlines.rows[i].frame);
    put_frame(rows, &s->stacks.host_frames[number]);
}

static struct wsdbg_error *put_rows(const struct sites *s, struct wsdbg_snapshot *rows)
{
    struct wsdbg_error *error = wsdbg_rows_reserve(
        rows, &(struct wsdbg_table_counts){.launch_sites = s->count,
                                           .site_frames = s->stacks.host_frame_count + s->inlines.count});
    size_t stack = 0;
    for (size_t i = 0; !error && i < s->count; i++) {
        struct wsdbg_launch_site *site = &rows->launch_sites[rows->launch_site_count++];
        *site = s->found[i].site;
        if (!s->found[i].has_stack)
            continue;
        const struct wsdbg_host_stack *from = &s->stacks.host_stacks[stack++];
        memcpy(site->end, from->end, sizeof site->end);
        site->frame_first = (uint32_t)rows->site_frame_count;
        for (uint32_t f = 0; f < from->frame_count; f++)
            put_frames(s, from->frame_first + f, rows);
        site->frame_count = (uint32_t)rows->site_frame_count - site->frame_first;
    }
    return error;
}

static struct wsdbg_error *begin(struct sites *s, uint64_t deadline_ns)
{
    s->picture = calloc(1, sizeof *s->picture);
    s->found = calloc(2 * WSDBG_HOST_WANTED_MAX + 1, sizeof *s->found);
    if (!s->picture || !s->found)
        return &wsdbg_error_no_memory;
    s->picture->system_call = -1;
    struct wsdbg_error *error = wsdbg_host_memory_of(read_with_piece, s, deadline_ns, &s->memory);
    if (!error)
        error = wsdbg_rows_reserve(&s->stacks, &(struct wsdbg_table_counts){.host_processes = 1});
    if (error)
        return error;
    s->stacks.host_processes[s->stacks.host_process_count++] = (struct wsdbg_host_process){0};
    return wsdbg_host_unnamed_create(&s->stacks, &s->unnamed);
}

static void end(struct sites *s)
{
    wsdbg_host_unnamed_destroy(s->unnamed);
    wsdbg_native_inlines_free(&s->inlines);
    wsdbg_snapshot_deinit(&s->stacks);
    wsdbg_host_memory_close(s->memory);
    free(s->found);
    free(s->picture);
}

struct wsdbg_error *wsdbg_site_stacks_read(const struct wsdbg_host_reader *reader, uint32_t segment_file,
                                           const struct wsdbg_host_request *request, struct wsdbg_snapshot *rows)
{
    struct sites s = {.reader = reader, .request = request};
    if (request->wanted_count == 0 || !reader->modules ||
        !wsdbg_site_rings_find(wsdbg_host_modules_maps(reader->modules), segment_file, reader->memory, &s.rings))
        return NULL;
    struct wsdbg_error *error = begin(&s, UINT64_MAX);
    for (size_t i = 0; !error && i < request->wanted_count && s.count < WSDBG_HOST_WANTED_MAX; i++)
        error = read_wanted(&s, &request->wanted[i]);
    if (!error) {
        wsdbg_host_stacks_name(s.unnamed, reader, &s.inlines);
        error = put_rows(&s, rows);
    }
    end(&s);
    return error;
}
