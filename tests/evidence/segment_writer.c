/* segment_writer.c - see segment_writer.h.  Stores to words that a live reader polls are atomic: a 16-byte
 * device store becomes two 8-byte stores, the worst tearing the reader has to stand. */
#include "evidence/segment_writer.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "evidence/slot_identity.h"
#include "segment_place.h"

#define EVENT_STEP_NS 1000u

struct segment_writer {
    struct wsdbg_segment *segment;
    int fd; /* -1 = in memory */
    char session[64];
    int process_id;
    struct wsdbg_event *device_history[WSDBG_CONTEXT_ROWS];
    uint64_t gpu_time_ns;
};

static void *at(struct segment_writer *writer, uint64_t offset)
{
    return (unsigned char *)writer->segment + offset;
}

/* Makes the segment larger; the mapping has its full length from the start, so pointers stay. */
static uint64_t grow(struct segment_writer *writer, uint64_t bytes)
{
    /* As the observer does: areas start on a cache line, whatever the fixed part's size. */
    const uint64_t offset = (writer->segment->used_bytes + 63u) & ~63ull;
    const uint64_t used_bytes = offset + ((bytes + 63u) & ~63ull);
    assert_true(used_bytes <= WSDBG_SEGMENT_BYTES_DEFAULT);
    if (writer->fd >= 0)
        assert_int_equal(ftruncate(writer->fd, (off_t)used_bytes), 0);
    __atomic_store_n(&writer->segment->used_bytes, used_bytes, __ATOMIC_RELEASE);
    return offset;
}

static struct segment_writer *create(int fd, uint32_t process_id)
{
    struct segment_writer *writer = calloc(1, sizeof *writer);
    assert_non_null(writer);
    writer->fd = fd;
    if (fd >= 0)
        assert_int_equal(ftruncate(fd, sizeof(struct wsdbg_segment)), 0);
    const int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    writer->segment = mmap(NULL, WSDBG_SEGMENT_BYTES_DEFAULT, PROT_READ | PROT_WRITE, flags, fd, 0);
    assert_ptr_not_equal(writer->segment, MAP_FAILED);
    struct wsdbg_segment *segment = writer->segment;
    segment->version = WSDBG_SEGMENT_VERSION;
    segment->ring_version = WSDBG_ABI_VERSION;
    segment->fixed_bytes = sizeof *segment;
    segment->used_bytes = sizeof *segment;
    segment->limit_bytes = WSDBG_SEGMENT_BYTES_DEFAULT;
    segment->process_id = process_id;
    segment->observer_kind = WSDBG_OBSERVER_DRIVER;
    segment->observer_state = WSDBG_OBSERVER_ACTIVE;
    strcpy(segment->program, "test");
    writer->gpu_time_ns = 1000000000;
    __atomic_store_n(&segment->magic, WSDBG_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    return writer;
}

struct wsdbg_site_row *segment_writer_sites(struct segment_writer *writer)
{
    const uint64_t bytes = WSDBG_SITES_ROWS * sizeof(struct wsdbg_site_row);
    const uint64_t offset = (grow(writer, bytes + 4096) + 4095) / 4096 * 4096;
    writer->segment->sites_offset = offset;
    return at(writer, offset);
}

struct segment_writer *segment_writer_create(uint32_t process_id)
{
    return create(-1, process_id);
}

struct segment_writer *segment_writer_create_shm(const char *session, uint32_t process_id)
{
    const int fd = segment_place_create(session, (int)process_id);
    assert_true(fd >= 0);
    struct segment_writer *writer = create(fd, process_id);
    writer->process_id = (int)process_id;
    strcpy(writer->session, session);
    return writer;
}

void segment_writer_destroy(struct segment_writer *writer)
{
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        free(writer->device_history[i]);
    munmap(writer->segment, WSDBG_SEGMENT_BYTES_DEFAULT);
    if (writer->fd >= 0) {
        close(writer->fd);
        segment_place_remove(writer->session, writer->process_id);
    }
    free(writer);
}

struct wsdbg_segment *segment_writer_segment(struct segment_writer *writer)
{
    return writer->segment;
}

size_t segment_writer_bytes(const struct segment_writer *writer)
{
    return writer->segment->used_bytes;
}

struct wsdbg_slot *segment_writer_slot(struct segment_writer *writer, uint32_t context, uint32_t slot)
{
    assert_true(slot < writer->segment->contexts[context].slot_count);
    return (struct wsdbg_slot *)at(writer, writer->segment->contexts[context].slots_offset) + slot;
}

struct wsdbg_event *segment_writer_mirror(struct segment_writer *writer, uint32_t context, uint32_t slot, uint32_t n)
{
    const struct wsdbg_context_row *row = &writer->segment->contexts[context];
    const size_t index = (size_t)slot * row->history_depth + (n & (row->history_depth - 1));
    return (struct wsdbg_event *)at(writer, row->history_offset) + index;
}

uint32_t segment_writer_context(struct segment_writer *writer, uint32_t sm_count, uint32_t warps_per_sm,
                                uint32_t history_depth)
{
    struct wsdbg_segment *segment = writer->segment;
    const uint32_t n = segment->context_count;
    assert_true(n < WSDBG_CONTEXT_ROWS);
    struct wsdbg_context_row *row = &segment->contexts[n];
    row->handle = 0xc0de0000u + n;
    row->device_ordinal = n;
    row->state = WSDBG_CONTEXT_ALIVE;
    row->sm_count = sm_count;
    row->warps_per_sm = warps_per_sm;
    row->slot_count = sm_count * warps_per_sm;
    row->slots_offset = grow(writer, (uint64_t)row->slot_count * sizeof(struct wsdbg_slot));
    row->history_depth = history_depth;
    row->compute_capability = 90;
    strcpy(row->device_name, "NVIDIA Test GPU");
    if (history_depth) {
        const size_t events = (size_t)row->slot_count * history_depth;
        row->history_offset = grow(writer, events * sizeof(struct wsdbg_event));
        writer->device_history[n] = calloc(events, sizeof(struct wsdbg_event));
        assert_non_null(writer->device_history[n]);
    }
    __atomic_store_n(&segment->context_count, n + 1, __ATOMIC_RELEASE);
    return n;
}

void segment_writer_map_ring(struct segment_writer *writer, uint32_t context)
{
    writer->segment->ring_places[context] = WSDBG_RING_IN_HOST;
}

uint32_t segment_writer_module(struct segment_writer *writer, uint32_t context, const struct wsdbg_name *names,
                               uint32_t name_count)
{
    struct wsdbg_segment *segment = writer->segment;
    const uint32_t n = segment->module_count;
    assert_true(n < WSDBG_MODULE_ROWS && segment->name_count + name_count <= WSDBG_NAME_ROWS);
    segment->modules[n] = (struct wsdbg_module_row){.handle = 0x30d0000u + n,
                                                    .context = context,
                                                    .probed = 1,
                                                    .names_first = segment->name_count,
                                                    .names_count = name_count};
    if (name_count)
        memcpy(&segment->names[segment->name_count], names, name_count * sizeof *names);
    __atomic_store_n(&segment->name_count, segment->name_count + name_count, __ATOMIC_RELEASE);
    __atomic_store_n(&segment->module_count, n + 1, __ATOMIC_RELEASE);
    return n;
}

uint32_t segment_writer_function(struct segment_writer *writer, uint32_t module, const char *name, uint32_t registers)
{
    struct wsdbg_segment *segment = writer->segment;
    const uint32_t n = segment->function_count;
    assert_true(n < WSDBG_FUNCTION_ROWS);
    struct wsdbg_function_row *row = &segment->functions[n];
    *row = (struct wsdbg_function_row){.handle = 0xf0000u + n,
                                       .module = module,
                                       .registers = registers,
                                       .static_shared_bytes = 0,
                                       .max_threads = 1024,
                                       .binary_version = 90};
    snprintf(row->name, sizeof row->name, "%s", name);
    __atomic_store_n(&segment->function_count, n + 1, __ATOMIC_RELEASE);
    return n;
}

static void store_words(void *destination, const void *source, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, (const unsigned char *)source + 8 * i, 8);
        __atomic_store_n((uint64_t *)destination + i, word, __ATOMIC_RELAXED);
    }
}

void segment_writer_graph_kernel(struct segment_writer *writer, uint32_t graph, uint32_t function, uint32_t ctas,
                                 uint32_t threads)
{
    struct wsdbg_segment *segment = writer->segment;
    const uint32_t n = segment->graph_kernel_count;
    assert_true(n < WSDBG_GRAPH_KERNEL_ROWS);
    segment->graph_kernels[n] = (struct wsdbg_graph_kernel_row){
        .graph = graph, .function = function, .grid = {ctas, 1, 1}, .block = {threads, 1, 1}};
    memset(segment->graph_kernels[n].cluster, 0xff, sizeof segment->graph_kernels[n].cluster);
    __atomic_store_n(&segment->graph_kernel_count, n + 1, __ATOMIC_RELEASE);
}

uint64_t segment_writer_launch(struct segment_writer *writer, const struct segment_launch *launch)
{
    struct wsdbg_segment *segment = writer->segment;
    const uint64_t n = segment->launch_count;
    struct wsdbg_launch_row *row = &segment->launches[n % WSDBG_LAUNCH_ROWS];
    __atomic_store_n(&row->sequence, 0, __ATOMIC_RELAXED);
    const uint32_t cluster = launch->cluster ? launch->cluster : WSDBG_UNKNOWN32;
    const uint32_t cluster_yz = launch->cluster ? 1 : WSDBG_UNKNOWN32;
    const struct wsdbg_launch_row filled = {.time_ns = 1000 * (n + 1),
                                            .stream = launch->stream,
                                            .function = launch->function,
                                            .context = launch->context,
                                            .thread_id = launch->thread_id,
                                            .grid = {launch->ctas, 1, 1},
                                            .block = {launch->threads, 1, 1},
                                            .cluster = {cluster, cluster_yz, cluster_yz},
                                            .flags = launch->flags,
                                            .graph = launch->graph,
                                            .result = launch->result};
    store_words(row, &filled, sizeof filled / 8);
    __atomic_store_n(&row->sequence, n + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&segment->launch_count, n + 1, __ATOMIC_RELEASE);
    return n;
}

void segment_writer_thread(struct segment_writer *writer, uint32_t thread_id, uint32_t context, const char *call,
                           uint64_t since_ns)
{
    struct wsdbg_segment *segment = writer->segment;
    const uint32_t n = segment->thread_count;
    assert_true(n < WSDBG_THREAD_ROWS);
    struct wsdbg_thread_row *row = &segment->threads[n];
    *row = (struct wsdbg_thread_row){.thread_id = thread_id, .context = context, .stream = WSDBG_UNKNOWN64};
    snprintf(row->call, sizeof row->call, "%s", call);
    __atomic_store_n(&row->since_ns, since_ns, __ATOMIC_RELEASE);
    __atomic_store_n(&segment->thread_count, n + 1, __ATOMIC_RELEASE);
}

static uint32_t slot_of(struct segment_writer *writer, const struct segment_warp *warp)
{
    return warp->sm * writer->segment->contexts[warp->context].warps_per_sm + warp->sm_warp;
}

void segment_writer_begin(struct segment_writer *writer, struct segment_warp *warp)
{
    const uint32_t size = warp->cluster_size ? warp->cluster_size : 1;
    struct wsdbg_slot identity = {
        .grid_id = warp->grid_id,
        .cta_x = warp->cta,
        .warp_in_cta = warp->warp | warp->warps << 8 | (warp->cta % size) << 16 | size << 24,
        .placement = warp->sm | warp->sm_warp << 16,
        .module_id = warp->module,
        .cluster_id = warp->cta / size,
        .grid_ctas = warp->ctas,
    };
    identity.check = slot_identity_check(&identity);
    store_words(segment_writer_slot(writer, warp->context, slot_of(writer, warp)), &identity, 8);
    warp->count = 0;
    segment_writer_event(writer, warp,
                         (struct segment_event){.kind = WSDBG_EVENT_BEGIN, .iteration = WSDBG_NO_ITERATION});
}

void segment_writer_role(struct segment_writer *writer, struct segment_warp *warp, uint32_t role)
{
    struct wsdbg_slot *slot = segment_writer_slot(writer, warp->context, slot_of(writer, warp));
    __atomic_store_n(&slot->role, role + 1, __ATOMIC_RELAXED);
    segment_writer_event(
        writer, warp,
        (struct segment_event){.kind = WSDBG_EVENT_ROLE_BEGIN, .iteration = WSDBG_NO_ITERATION, .value = role});
}

void segment_writer_event(struct segment_writer *writer, struct segment_warp *warp, struct segment_event event)
{
    const struct wsdbg_context_row *row = &writer->segment->contexts[warp->context];
    const uint32_t slot = slot_of(writer, warp);
    const struct wsdbg_event record = {.kind = (uint8_t)event.kind,
                                       .barrier = event.barrier,
                                       .stage = (uint8_t)(event.stage | event.parity << WSDBG_PARITY_SHIFT),
                                       .sequence = (uint8_t)warp->count,
                                       .iteration = event.iteration,
                                       .value = event.value,
                                       .time = (uint32_t)(writer->gpu_time_ns >> WSDBG_TIME_SHIFT)};
    if (!row->history_depth || wsdbg_event_is_milestone(record.kind))
        store_words(&segment_writer_slot(writer, warp->context, slot)->state, &record, 2);
    if (row->history_depth) {
        const size_t index = (size_t)slot * row->history_depth + (warp->count & (row->history_depth - 1));
        if (writer->segment->ring_places[warp->context] == WSDBG_RING_IN_HOST)
            store_words(segment_writer_mirror(writer, warp->context, slot, warp->count), &record, 2);
        else
            writer->device_history[warp->context][index] = record;
    }
    warp->count++;
    writer->gpu_time_ns += EVENT_STEP_NS;
}

void segment_writer_script(struct segment_writer *writer, struct segment_warp *warp, const struct segment_event *events,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        segment_writer_event(writer, warp, events[i]);
}

void segment_writer_set_gpu_time(struct segment_writer *writer, uint64_t gpu_time_ns)
{
    writer->gpu_time_ns = gpu_time_ns;
}

void segment_writer_copy_history(struct segment_writer *writer)
{
    struct wsdbg_segment *segment = writer->segment;
    const uint32_t raised = __atomic_load_n(&segment->history_request, __ATOMIC_ACQUIRE);
    /* Tests that read bytes raise no request of their own. */
    const uint32_t request = raised > segment->history_done ? raised : segment->history_done + 1;
    for (uint32_t i = 0; i < segment->context_count; i++) {
        struct wsdbg_context_row *row = &segment->contexts[i];
        if (row->state != WSDBG_CONTEXT_ALIVE || !row->history_depth || segment->ring_places[i] == WSDBG_RING_IN_HOST)
            continue;
        const size_t bytes = (size_t)row->slot_count * row->history_depth * sizeof(struct wsdbg_event);
        store_words(at(writer, row->history_offset), writer->device_history[i], bytes / 8);
        __atomic_store_n(&row->history_copied, request, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&segment->history_done, request, __ATOMIC_RELEASE);
}
