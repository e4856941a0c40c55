/* launch_sites.c - see launch_sites.h.
 *
 * Reads:  WSDBG_LAUNCH_SITES, the calling thread's stack (stack_piece.c) and Python frames (python_frames.c).
 * Writes: rows of the rings that wsdbg/segment_sites.h describes; the segment's size, once.
 *
 * A launch costs a copy of some words.  Nothing is looked up and nothing is named here: wsdbg does that, if something
 * hangs.  Where there is no room for the rings none are kept.
 */
#include "launch_sites.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cache_lines.h"
#include "captures.h"
#include "clock.h"
#include "messages.h"
#include "python_frames.h"
#include "registry.h"
#include "segment.h"
#include "stack_piece.h"
#include "state.h"

/* A core has room for so many lines that are under way.  More at a time hold up the driver's call. */
#define ASKED_AT_ONCE_BYTES 1024u

static struct wsdbg_site_row *_Atomic site_rows; /* NULL = none are kept, or not yet */
static _Atomic bool is_started;
/* The rest of the row of this thread's next launch, which is not asked for yet. */
static SHIM_THREAD_LOCAL const char *rest;
static SHIM_THREAD_LOCAL size_t rest_bytes;

/* ---- the rings ---- */

static bool is_wanted(void)
{
#if defined(__x86_64__)
    const char *value = getenv(WSDBG_ENV_LAUNCH_SITES);
    return !value || strcmp(value, "off") != 0;
#else
    return false;
#endif
}

static void make_rings(void)
{
    char why[WSDBG_TEXT_BYTES] = "";
    void *memory;
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    shim_lock();
    /* The offset is written before the segment's size: a recorder that sees the rows knows that they are to be left
     * out. */
    const bool has_grown =
        segment_grow_beyond(WSDBG_SITES_ROWS * sizeof(struct wsdbg_site_row), &segment->sites_offset, &memory, why);
    shim_unlock();
    if (!has_grown) {
        shim_note("no launch sites are kept: %.200s", why);
        return;
    }
    atomic_store_explicit(&site_rows, memory, memory_order_release);
}

/* NULL = none are kept. */
static struct wsdbg_site_row *rows_of(enum wsdbg_site_ring ring)
{
    static const uint32_t first[] = {0, WSDBG_SITES_LAUNCHED_ROWS,
                                     WSDBG_SITES_LAUNCHED_ROWS + WSDBG_SITES_CAPTURED_ROWS};
    struct wsdbg_site_row *rows = atomic_load_explicit(&site_rows, memory_order_acquire);
    if (!rows && !atomic_load_explicit(&is_started, memory_order_relaxed) && !atomic_exchange(&is_started, true) &&
        is_wanted()) {
        make_rings();
        rows = atomic_load_explicit(&site_rows, memory_order_acquire);
    }
    return rows ? rows + first[ring] : NULL;
}

/* ---- one row ---- */

/* On a stack that is not the thread's own the interpreter may be in the middle of anything. */
static void fill(struct wsdbg_site_row *row, const struct site_registers *here)
{
    const uint64_t sp = here->values[WSDBG_SITE_RSP];
    int is_own = 0;
    uint32_t words = stack_words_above(sp, WSDBG_SITE_WORDS, &is_own);
    row->flags = 0;
    row->python_frames = is_own ? python_frames_read(row->words, &row->flags) : 0;
    const uint32_t used = row->python_frames * WSDBG_SITE_FRAME_WORDS;
    if (words > WSDBG_SITE_WORDS - used)
        words = WSDBG_SITE_WORDS - used;
    row->stack_words = words;
    memcpy(row->registers, here->values, sizeof row->registers);
    stack_copy(row->words + used, sp, words);
}

/* What a row says beside the stack. */
struct subject {
    uint64_t owner, group, time_ns;
    const struct wsdbg_launch_row *kernel; /* of CAPTURED */
    uint32_t capture;
};

/* Returns how many bytes of the row are written; 0: another thread writes it, and it may not be read. */
static size_t write_row(struct wsdbg_site_row *row, uint64_t entry, const struct subject *of,
                        const struct site_registers *here)
{
    if (!registry_claim_row(&row->sequence, entry))
        return 0;
    row->time_ns = of->time_ns;
    row->owner = of->owner;
    row->group = of->group;
    row->capture = of->capture;
    row->thread_id = shim_thread_id();
    row->function = WSDBG_UNKNOWN32;
    if (of->kernel) {
        row->function = of->kernel->function;
        memcpy(row->grid, of->kernel->grid, sizeof row->grid);
        memcpy(row->block, of->kernel->block, sizeof row->block);
    }
    fill(row, here);
    const size_t words = row->python_frames * WSDBG_SITE_FRAME_WORDS + row->stack_words;
    __atomic_store_n(&row->sequence, entry + 1, __ATOMIC_RELEASE);
    return offsetof(struct wsdbg_site_row, words) + words * sizeof *row->words;
}

static void write_next(enum wsdbg_site_ring ring, uint32_t ring_rows, const struct subject *of,
                       const struct site_registers *here)
{
    struct wsdbg_site_row *rows = rows_of(ring);
    if (!rows)
        return;
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    const uint64_t entry = __atomic_fetch_add(&segment->site_counts[ring], 1, __ATOMIC_RELAXED);
    write_row(&rows[entry % ring_rows], entry, of, here);
}

/* The next row will be as long as this one, as a rule. */
static void ask_for_next(const struct wsdbg_site_row *rows, size_t bytes)
{
    const char *next = (const char *)&rows[registry_next_launch() % WSDBG_SITES_LAUNCHED_ROWS];
    const size_t now_bytes = bytes < ASKED_AT_ONCE_BYTES ? bytes : ASKED_AT_ONCE_BYTES;
    cache_lines_ask(next, now_bytes);
    rest = next + now_bytes;
    rest_bytes = bytes - now_bytes;
}

/* ---- the three rings ---- */

void launch_site_launched(const struct site_registers *here, uint64_t entry, const struct wsdbg_launch_row *launch)
{
    const int kept = errno;
    struct subject of = {.owner = entry, .time_ns = launch->time_ns};
    if (entry == UINT64_MAX)
        return;
    if (launch->flags & WSDBG_LAUNCH_CAPTURED) {
        of.group = launch->stream;
        of.capture = captures_number();
        of.kernel = launch;
        write_next(WSDBG_SITES_CAPTURED, WSDBG_SITES_CAPTURED_ROWS, &of, here);
    } else {
        struct wsdbg_site_row *rows = rows_of(WSDBG_SITES_LAUNCHED);
        if (rows) {
            const size_t bytes = write_row(&rows[entry % WSDBG_SITES_LAUNCHED_ROWS], entry, &of, here);
            if (bytes > 0)
                ask_for_next(rows, bytes);
        }
    }
    errno = kept;
}

void launch_site_returned(void)
{
    if (rest_bytes)
        cache_lines_ask(rest, rest_bytes);
    rest_bytes = 0;
}

void launch_site_node(const struct site_registers *here, uint64_t graph, const struct wsdbg_launch_row *kernel)
{
    const int kept = errno;
    const struct subject of = {.owner = WSDBG_UNKNOWN64, .group = graph, .time_ns = shim_now_ns(), .kernel = kernel};
    write_next(WSDBG_SITES_CAPTURED, WSDBG_SITES_CAPTURED_ROWS, &of, here);
    errno = kept;
}

void launch_site_called(const struct site_registers *here, uint64_t communicator, uint64_t entry)
{
    const int kept = errno;
    const struct subject of = {.owner = entry, .group = communicator, .time_ns = shim_now_ns()};
    write_next(WSDBG_SITES_CALLED, WSDBG_SITES_CALLED_ROWS, &of, here);
    errno = kept;
}
