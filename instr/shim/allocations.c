/* allocations.c - see allocations.h.
 *
 * Reads:  what hooks_memory.c saw of the program's calls.
 * Writes: the segment's allocation rows; the private maps that lead from an address or a handle to its row.
 *
 * An allocation costs a look-up and a row under the lock, so that programs which allocate by streams lose little.  A
 * free that races with the next allocation of the same address must not hit that one: it ends only rows that were
 * there when its call began.
 */
#include "allocations.h"

#include <string.h>

#include "clock.h"
#include "key_map.h"
#include "messages.h"
#include "segment.h"
#include "state.h"

#define ROWS WSDBG_ALLOCATION_ROWS
#define HANDLES 4096u

static uint64_t row_memory[ROWS]; /* shim_allocation.memory */
static uint16_t freed_rows[ROWS]; /* a queue: the one that was freed first is used again first */
static uint32_t freed_first, freed_count;
static struct key_place live_places[4 * ROWS];
static struct key_map live = {live_places, 4 * ROWS}; /* address of living memory -> row */
static _Atomic uint64_t newest_number;
static uint64_t newest_memory;
static uint32_t context_peers[WSDBG_CONTEXT_ROWS], pool_peers;

struct handle_row {
    struct shim_allocation made;
    uint64_t handle; /* 0 = free */
    uint32_t users;
};
static struct handle_row handles[HANDLES];
static uint32_t handle_rows; /* ever used */
static uint32_t handle_next; /* where a free one is looked for */
static struct key_place handle_places[2 * HANDLES];
static struct key_map handle_map = {handle_places, 2 * HANDLES};

static struct wsdbg_segment *segment(void)
{
    return atomic_load_explicit(&shim_segment, memory_order_acquire);
}

/* Rows are read while they are written. */
static void set(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* ---- rows; the lock is held ---- */

static bool is_live(const struct wsdbg_allocation_row *row)
{
    return row->number && !row->freed_ns;
}

static void end_row(uint32_t index)
{
    struct wsdbg_allocation_row *row = &segment()->allocations[index];
    set(&row->freed_ns, shim_now_ns());
    key_map_remove(&live, row->address);
    freed_rows[(freed_first + freed_count++) % ROWS] = (uint16_t)index;
}

static uint32_t take_row(void)
{
    const uint32_t used = segment()->allocation_count;
    if (used < ROWS)
        return used;
    if (!freed_count)
        return WSDBG_UNKNOWN32;
    const uint32_t index = freed_rows[freed_first];
    freed_first = (freed_first + 1) % ROWS;
    freed_count--;
    return index;
}

static uint32_t bit_of(uint32_t device)
{
    return device < 32 ? 1u << device : 0;
}

static uint32_t peers_of(const struct shim_allocation *a)
{
    uint32_t peers = a->peer_devices;
    if (a->kind == WSDBG_ALLOCATION_POOL)
        peers = pool_peers;
    else if ((a->kind == WSDBG_ALLOCATION_DEVICE || a->kind == WSDBG_ALLOCATION_PITCHED) &&
             a->context < WSDBG_CONTEXT_ROWS)
        peers = context_peers[a->context];
    return peers & ~bit_of(a->device);
}

static void write_row(uint32_t index, const struct shim_allocation *a, uint64_t number)
{
    struct wsdbg_allocation_row row = {.address = a->address,
                                       .bytes = a->bytes,
                                       .time_ns = shim_now_ns(),
                                       .kind = a->kind,
                                       .flags = a->flags,
                                       .context = a->context,
                                       .device = a->device,
                                       .peer_devices = peers_of(a),
                                       .call_number = a->call_number};
    strncpy(row.call, a->call, sizeof row.call - 1);
    uint64_t words[sizeof row / sizeof(uint64_t)];
    memcpy(words, &row, sizeof row);
    uint64_t *to = &segment()->allocations[index].number;
    set(to, 0);
    for (size_t i = 1; i < sizeof words / sizeof *words; i++)
        set(&to[i], words[i]);
    set(to, number);
    row_memory[index] = a->memory;
}

/* False: there is no room. */
static bool add_locked(const struct shim_allocation *a)
{
    const uint32_t old = key_map_find(&live, a->address);
    if (old != WSDBG_UNKNOWN32)
        end_row(old);
    const uint64_t number = atomic_load(&newest_number) + 1;
    const uint32_t index = take_row();
    atomic_store(&newest_number, number);
    if (index == WSDBG_UNKNOWN32) {
        __atomic_fetch_add(&segment()->allocations_left_out, 1, __ATOMIC_RELAXED);
        return false;
    }
    write_row(index, a, number);
    key_map_put(&live, a->address, index);
    if (index == segment()->allocation_count)
        __atomic_store_n(&segment()->allocation_count, index + 1, __ATOMIC_RELEASE);
    return true;
}

/* Once: a program may go on like that. */
static void say_full(void)
{
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        shim_note("the program has more than %u allocations at a time; of the later ones it is not known who may write "
                  "them",
                  ROWS);
}

void allocations_add(const struct shim_allocation *allocation)
{
    if (!allocation->address)
        return;
    shim_lock();
    const bool added = add_locked(allocation);
    shim_unlock();
    if (!added)
        say_full();
}

uint64_t allocations_newest(void)
{
    return atomic_load(&newest_number);
}

void allocations_freed(uint64_t address, uint64_t bytes, uint64_t newest)
{
    shim_lock();
    const struct wsdbg_segment *s = segment();
    const uint32_t at = key_map_find(&live, address);
    if (!bytes && at != WSDBG_UNKNOWN32 && s->allocations[at].number <= newest)
        end_row(at);
    for (uint32_t i = 0; bytes && i < s->allocation_count; i++) {
        const struct wsdbg_allocation_row *row = &s->allocations[i];
        if (is_live(row) && row->number <= newest && row->address >= address && row->address - address < bytes)
            end_row(i);
    }
    shim_unlock();
}

static bool ends_with_context(uint32_t kind)
{
    return kind == WSDBG_ALLOCATION_DEVICE || kind == WSDBG_ALLOCATION_PITCHED || kind == WSDBG_ALLOCATION_HOST ||
           kind == WSDBG_ALLOCATION_REGISTERED || kind == WSDBG_ALLOCATION_MANAGED || kind == WSDBG_ALLOCATION_IMPORTED;
}

void allocations_end_context(uint32_t context)
{
    shim_lock();
    const struct wsdbg_segment *s = segment();
    for (uint32_t i = 0; i < s->allocation_count; i++)
        if (is_live(&s->allocations[i]) && s->allocations[i].context == context &&
            ends_with_context(s->allocations[i].kind))
            end_row(i);
    shim_unlock();
}

static void raise_row(struct wsdbg_allocation_row *row, uint32_t flags, uint32_t peer_devices)
{
    __atomic_fetch_or(&row->flags, flags, __ATOMIC_RELEASE);
    __atomic_fetch_or(&row->peer_devices, peer_devices & ~bit_of(row->device), __ATOMIC_RELEASE);
}

static bool meets(const struct wsdbg_allocation_row *row, uint64_t address, uint64_t bytes)
{
    return row->address <= address ? address - row->address < (row->bytes ? row->bytes : 1)
                                   : row->address - address < bytes;
}

struct allocation_writers allocation_writers(const struct cu_memory_access *access, size_t count)
{
    struct allocation_writers writers = {0, false};
    for (size_t i = 0; access && i < count; i++) {
        const bool writes = access[i].flags == CU_MEM_ACCESS_READ_WRITE;
        if (writes && access[i].location_type == CU_MEM_LOCATION_TYPE_DEVICE)
            writers.peer_devices |= bit_of((uint32_t)access[i].location_id);
        else if (writes)
            writers.host = true;
    }
    return writers;
}

/* All that stands for a memory: its mappings, and its handles, of which there may be more. */
static void raise_memory(uint64_t memory, uint32_t flags, uint32_t peer_devices)
{
    struct wsdbg_segment *s = segment();
    for (uint32_t i = 0; memory && i < s->allocation_count; i++)
        if (is_live(&s->allocations[i]) && row_memory[i] == memory)
            raise_row(&s->allocations[i], flags, peer_devices);
    for (uint32_t i = 0; memory && i < handle_rows; i++)
        if (handles[i].handle && handles[i].made.memory == memory) {
            handles[i].made.flags |= flags;
            handles[i].made.peer_devices |= peer_devices;
        }
}

void allocations_mark(uint64_t address, uint64_t bytes, uint32_t flags, uint32_t peer_devices)
{
    shim_lock();
    struct wsdbg_segment *s = segment();
    for (uint32_t i = 0; i < s->allocation_count; i++) {
        struct wsdbg_allocation_row *row = &s->allocations[i];
        if (!is_live(row) || !meets(row, address, bytes) || !(flags | (peer_devices & ~bit_of(row->device))))
            continue;
        raise_row(row, flags, peer_devices);
        raise_memory(row_memory[i], flags, peer_devices);
    }
    shim_unlock();
}

void allocations_let_peer(uint32_t context, uint32_t device)
{
    if (context >= WSDBG_CONTEXT_ROWS)
        return;
    shim_lock();
    struct wsdbg_segment *s = segment();
    context_peers[context] |= bit_of(device);
    for (uint32_t i = 0; i < s->allocation_count; i++) {
        struct wsdbg_allocation_row *row = &s->allocations[i];
        if (is_live(row) && row->context == context &&
            (row->kind == WSDBG_ALLOCATION_DEVICE || row->kind == WSDBG_ALLOCATION_PITCHED))
            raise_row(row, 0, bit_of(device));
    }
    shim_unlock();
}

void allocations_let_into_pools(uint32_t devices)
{
    shim_lock();
    struct wsdbg_segment *s = segment();
    pool_peers |= devices;
    for (uint32_t i = 0; i < s->allocation_count; i++)
        if (is_live(&s->allocations[i]) && s->allocations[i].kind == WSDBG_ALLOCATION_POOL)
            raise_row(&s->allocations[i], 0, devices);
    shim_unlock();
}

/* ---- handles ---- */

static struct handle_row *find_handle(uint64_t handle)
{
    const uint32_t at = key_map_find(&handle_map, handle);
    return at == WSDBG_UNKNOWN32 ? NULL : &handles[at];
}

static struct handle_row *free_handle(void)
{
    if (handle_rows < HANDLES)
        return &handles[handle_rows++];
    for (uint32_t i = 0; i < HANDLES; i++) {
        handle_next = (handle_next + 1) % HANDLES;
        if (!handles[handle_next].handle)
            return &handles[handle_next];
    }
    return NULL;
}

/* No room: its mappings are of a handle of which nothing is known. */
static void make_handle(uint64_t handle, const struct shim_allocation *made)
{
    struct handle_row *row = find_handle(handle);
    row = row || !handle ? row : free_handle();
    if (!row)
        return;
    *row = (struct handle_row){.made = *made, .handle = handle, .users = 1};
    key_map_put(&handle_map, handle, (uint32_t)(row - handles));
}

void allocation_handle_made(uint64_t handle, const struct shim_allocation *made)
{
    shim_lock();
    struct shim_allocation memory = *made;
    memory.memory = ++newest_memory;
    make_handle(handle, &memory);
    shim_unlock();
}

/* The living row that holds the address. */
static uint32_t row_at(uint64_t address)
{
    const struct wsdbg_segment *s = segment();
    for (uint32_t i = 0; i < s->allocation_count; i++)
        if (is_live(&s->allocations[i]) && meets(&s->allocations[i], address, 1))
            return i;
    return WSDBG_UNKNOWN32;
}

void allocation_handle_retained(uint64_t handle, uint64_t address)
{
    shim_lock();
    struct handle_row *known = find_handle(handle);
    const uint32_t at = row_at(address);
    if (known) {
        known->users++;
    } else if (at != WSDBG_UNKNOWN32) {
        const struct wsdbg_allocation_row *row = &segment()->allocations[at];
        make_handle(handle, &(struct shim_allocation){.kind = row->kind,
                                                      .flags = row->flags,
                                                      .device = row->device,
                                                      .peer_devices = row->peer_devices,
                                                      .memory = row_memory[at]});
    }
    shim_unlock();
}

void allocation_handle_released(uint64_t handle)
{
    shim_lock();
    struct handle_row *row = find_handle(handle);
    if (row && --row->users == 0) {
        key_map_remove(&handle_map, handle);
        row->handle = 0;
    }
    shim_unlock();
}

void allocation_handle_exported(uint64_t handle, uint32_t more)
{
    shim_lock();
    const struct handle_row *row = find_handle(handle);
    if (row)
        raise_memory(row->made.memory, WSDBG_ALLOCATION_EXPORTED | more, 0);
    shim_unlock();
}

/* A handle that was retained is called by its mapping, as is one that is not known. */
void allocation_handle_mapped(uint64_t handle, const struct shim_allocation *as)
{
    if (!as->address)
        return;
    shim_lock();
    const struct handle_row *row = find_handle(handle);
    struct shim_allocation mapping = row ? row->made : (struct shim_allocation){.kind = WSDBG_ALLOCATION_VMM_UNKNOWN};
    mapping.address = as->address;
    mapping.bytes = as->bytes;
    mapping.context = as->context;
    if (!row) {
        mapping.device = WSDBG_UNKNOWN32;
        mapping.memory = ++newest_memory;
    }
    if (!mapping.call) {
        mapping.call = as->call;
        mapping.call_number = as->call_number;
    }
    const bool added = add_locked(&mapping);
    shim_unlock();
    if (!added)
        say_full();
}
