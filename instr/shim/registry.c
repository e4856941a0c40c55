/* registry.c - writes the rows of the shared segment by the protocol of wsdbg/session.h.
 *
 * Appended tables are written under the lock and published by their count.  The launch and activity rings and
 * the thread rows are lock-free: a launch costs one atomic add, one compare-and-swap and twelve stores.
 */
#include "registry.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cache_lines.h"
#include "clock.h"
#include "driver_api.h"
#include "segment.h"
#include "shim.h"

#define ROW_BUSY UINT64_MAX

static void publish(uint32_t *count, uint32_t value)
{
    __atomic_store_n(count, value, __ATOMIC_RELEASE);
}

static uint32_t lose_row(struct wsdbg_segment *segment)
{
    __atomic_fetch_add(&segment->lost_rows, 1, __ATOMIC_RELAXED);
    return WSDBG_UNKNOWN32;
}

uint32_t registry_add_context(const struct wsdbg_context_row *row)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    uint32_t index = segment->context_count;
    if (index == WSDBG_CONTEXT_ROWS)
        return lose_row(segment);
    segment->contexts[index] = *row;
    publish(&segment->context_count, index + 1);
    return index;
}

uint32_t registry_add_module(const struct wsdbg_module_row *row)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    uint32_t index = segment->module_count;
    if (index == WSDBG_MODULE_ROWS)
        return lose_row(segment);
    segment->modules[index] = *row;
    publish(&segment->module_count, index + 1);
    return index;
}

uint32_t registry_add_function(const struct wsdbg_function_row *row)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    uint32_t count = segment->function_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_function_row *old = &segment->functions[i];
        if (old->handle == row->handle && old->module == row->module && strcmp(old->name, row->name) == 0)
            return i;
    }
    if (count == WSDBG_FUNCTION_ROWS)
        return lose_row(segment);
    segment->functions[count] = *row;
    publish(&segment->function_count, count + 1);
    return count;
}

uint32_t registry_add_names(const struct wsdbg_name *names, uint32_t count, uint32_t *first)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    uint32_t at = segment->name_count;
    uint32_t room = WSDBG_NAME_ROWS - at;
    uint32_t kept = count < room ? count : room;
    if (kept < count)
        __atomic_fetch_add(&segment->lost_rows, count - kept, __ATOMIC_RELAXED);
    memcpy(&segment->names[at], names, kept * sizeof *names);
    publish(&segment->name_count, at + kept);
    *first = at;
    return kept;
}

/* Stores a row word by word, since a reader may be copying it; the first word is the sequence.  Release, so
 * that a reader who sees a new word also sees the busy mark. */
static void store_row(void *to, const void *from, size_t bytes)
{
    uint64_t *words = to;
    const uint64_t *source = from;
    for (size_t i = 1; i < bytes / sizeof *words; i++)
        __atomic_store_n(&words[i], source[i], __ATOMIC_RELEASE);
}

/* Takes a ring row for writing.  A row that another thread is still writing, or that a later entry has
 * already taken, is left alone: that entry is lost, never torn. */
bool registry_claim_row(uint64_t *sequence, uint64_t entry)
{
    uint64_t old = __atomic_load_n(sequence, __ATOMIC_RELAXED);
    if (old == ROW_BUSY || old > entry)
        return false;
    return __atomic_compare_exchange_n(sequence, &old, ROW_BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static SHIM_THREAD_LOCAL uint64_t last_launch, launch_gap = 1; /* this thread's */

static void note_launch(uint64_t entry)
{
    enum { GAP_MOST = 64 };
    const uint64_t gap = entry - last_launch;
    launch_gap = gap && gap < GAP_MOST ? gap : 1;
    last_launch = entry;
}

uint64_t registry_next_launch(void)
{
    return last_launch + launch_gap;
}

uint64_t registry_launch_begin(const struct wsdbg_launch_row *row)
{
    struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    uint64_t entry = __atomic_fetch_add(&segment->launch_count, 1, __ATOMIC_RELAXED);
    struct wsdbg_launch_row *slot = &segment->launches[entry % WSDBG_LAUNCH_ROWS];
    note_launch(entry);
    cache_lines_ask(&segment->launches[registry_next_launch() % WSDBG_LAUNCH_ROWS], sizeof *slot);
    if (!registry_claim_row(&slot->sequence, entry)) {
        lose_row(segment);
        return UINT64_MAX;
    }
    store_row(slot, row, sizeof *row);
    __atomic_store_n(&slot->sequence, entry + 1, __ATOMIC_RELEASE);
    return entry;
}

void registry_launch_end(uint64_t entry, int result)
{
    struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    struct wsdbg_launch_row *slot = &segment->launches[entry % WSDBG_LAUNCH_ROWS];
    uint64_t mine = entry + 1;
    if (entry == UINT64_MAX ||
        !__atomic_compare_exchange_n(&slot->sequence, &mine, ROW_BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    if (result != CUDA_SUCCESS)
        __atomic_fetch_or(&slot->flags, WSDBG_LAUNCH_REFUSED, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->result, result, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->sequence, entry + 1, __ATOMIC_RELEASE);
}

void registry_add_activity(const struct wsdbg_activity_row *row)
{
    struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    uint64_t entry = __atomic_fetch_add(&segment->activity_count, 1, __ATOMIC_RELAXED);
    struct wsdbg_activity_row *slot = &segment->activities[entry % WSDBG_ACTIVITY_ROWS];
    if (!registry_claim_row(&slot->sequence, entry)) {
        lose_row(segment);
        return;
    }
    store_row(slot, row, sizeof *row);
    __atomic_store_n(&slot->sequence, entry + 1, __ATOMIC_RELEASE);
}

/* ---- threads ---- */

static SHIM_THREAD_LOCAL struct wsdbg_thread_row *thread_row;
static SHIM_THREAD_LOCAL bool thread_row_missing;
static SHIM_THREAD_LOCAL const char *thread_call;
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static void free_thread_row(void *row)
{
    struct wsdbg_thread_row *gone = row;
    /* In a forked child the row is still that of the parent's thread. */
    if (__atomic_load_n(&gone->thread_id, __ATOMIC_ACQUIRE) != (uint32_t)syscall(SYS_gettid))
        return;
    __atomic_store_n(&gone->since_ns, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&gone->thread_id, 0, __ATOMIC_RELEASE);
    thread_row = NULL;
    thread_call = NULL;
}

static void make_key(void)
{
    pthread_key_create(&thread_key, free_thread_row);
}

static struct wsdbg_thread_row *claim_thread_row(void)
{
    struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    uint32_t id = shim_thread_id();
    pthread_once(&thread_once, make_key);
    for (uint32_t i = 0; i < WSDBG_THREAD_ROWS; i++) {
        uint32_t nobody = 0;
        if (!__atomic_compare_exchange_n(&segment->threads[i].thread_id, &nobody, id, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        uint32_t count = __atomic_load_n(&segment->thread_count, __ATOMIC_RELAXED);
        while (count < i + 1 && !__atomic_compare_exchange_n(&segment->thread_count, &count, i + 1, false,
                                                             __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
        pthread_setspecific(thread_key, &segment->threads[i]);
        return &segment->threads[i];
    }
    lose_row(segment);
    return NULL;
}

/* `call` is stored as words: a reader copies it while it may change. */
static void store_call(struct wsdbg_thread_row *row, const char *call)
{
    uint64_t words[sizeof row->call / sizeof(uint64_t)] = {0};
    strncpy((char *)words, call, sizeof words - 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        __atomic_store_n((uint64_t *)(void *)row->call + i, words[i], __ATOMIC_RELAXED);
}

void registry_thread_enter(const char *call, uint32_t context, uint64_t stream, uint64_t now_ns)
{
    if (!thread_row && !thread_row_missing) {
        thread_row = claim_thread_row();
        thread_row_missing = thread_row == NULL;
    }
    struct wsdbg_thread_row *row = thread_row;
    if (!row)
        return;
    if (call != thread_call) {
        store_call(row, call);
        thread_call = call;
    }
    __atomic_store_n(&row->context, context, __ATOMIC_RELAXED);
    __atomic_store_n(&row->stream, stream, __ATOMIC_RELAXED);
    __atomic_store_n(&row->since_ns, now_ns, __ATOMIC_RELEASE);
}

void registry_thread_leave(void)
{
    if (thread_row)
        __atomic_store_n(&thread_row->since_ns, 0, __ATOMIC_RELEASE);
}

bool registry_launch_is_blocked(uint64_t since_ns)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    const uint32_t count = __atomic_load_n(&segment->thread_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t began_ns = __atomic_load_n(&segment->threads[i].since_ns, __ATOMIC_ACQUIRE);
        const char *call = segment->threads[i].call;
        if (began_ns && began_ns < since_ns && (strncmp(call, "cuLaunch", 8) == 0 || strncmp(call, "cuGraph", 7) == 0))
            return true;
    }
    return false;
}

uint32_t registry_find_function(const char *name)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    uint32_t count = __atomic_load_n(&segment->function_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(segment->functions[i].name, name) == 0)
            return i;
    return WSDBG_UNKNOWN32;
}
