/* libnccl.c - finds the function of NCCL that a call would have reached without the shim.
 *
 * Reads:  the loader's list of libraries, and their symbols.  Writes: the function found for each call site.
 *
 * A process may hold several copies of NCCL, each private to a framework.  A communicator of one copy is of no use to
 * another.  So the loader's order decides: the copy in the global scope first, then the copy that the caller's library
 * needs.  The functions of another preloaded observer count as a copy.  Only libraries behind the shim are called: an
 * observer before it has already had the call.
 */
#include "libnccl.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "loader.h"
#include "real_dlsym.h"

#define X(symbol, ...) #symbol,
const char *const nccl_name[NCCL_HOOK_COUNT] = {NCCL_CALLS(X) NCCL_GROUPS(X) NCCL_OTHERS(X)};
#undef X

enum { PLACES_LOG2 = 10, PLACES = 1 << PLACES_LOG2, PROBES = 16, COPIES_MOST = 8 };

/* A call site of a hooked function, and the function that its calls are forwarded to.  It is written once, `function`
 * last. */
struct place {
    _Atomic uintptr_t key; /* 0 = free */
    void *_Atomic function;
};
static struct place places[PLACES];
static void *_Atomic given[NCCL_HOOK_COUNT];

int libnccl_hook_by_name(const char *name)
{
    if (!name || strncmp(name, "nccl", 4) != 0)
        return -1;
    for (int i = 0; i < NCCL_HOOK_COUNT; i++)
        if (strcmp(nccl_name[i], name) == 0)
            return i;
    return -1;
}

/* ---- the libraries that have a function ---- */

struct copies {
    const char *name;
    bool behind_only;             /* only of libraries behind the shim */
    void *functions[COPIES_MOST]; /* in the loader's order */
    unsigned count;
};

/* No library is loaded or unloaded while dl_iterate_phdr calls this.  One call walks the whole list. */
static int find_copies(struct dl_phdr_info *object, size_t size, void *data)
{
    (void)object;
    (void)size;
    struct copies *copies = data;
    struct loader_object read;
    bool counts = !copies->behind_only;
    for (const struct link_map *at = loader_first(); at && copies->count < COPIES_MOST; at = at->l_next) {
        const bool is_own = at->l_ld == _DYNAMIC;
        void *function = counts && !is_own && loader_read(at, &read) ? loader_function(&read, copies->name, 0) : NULL;
        counts |= is_own;
        if (function)
            copies->functions[copies->count++] = function;
    }
    return 1;
}

static struct copies copies_of(const char *name, bool behind_only)
{
    struct copies copies = {.name = name, .behind_only = behind_only};
    dl_iterate_phdr(find_copies, &copies);
    return copies;
}

static bool is_one_of(const struct copies *copies, const void *function)
{
    for (unsigned i = 0; i < copies->count; i++)
        if (copies->functions[i] == function)
            return true;
    return false;
}

/* The function of the copy that the caller's library needs; NULL = it needs none. */
static void *needed_by(const void *caller, const struct copies *copies)
{
    Dl_info info;
    void *library = dladdr(caller, &info) && info.dli_fname ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : NULL;
    void *function = library ? wsdbg_real_dlsym(library, copies->name) : NULL;
    if (library)
        dlclose(library);
    return is_one_of(copies, function) ? function : NULL;
}

static void *choose(const struct copies *copies, const void *caller)
{
    void *function = libnccl_seen_by_all(copies->name);
    if (!is_one_of(copies, function))
        function = needed_by(caller, copies);
    return function ? function : copies->functions[0];
}

static void *find_next(enum nccl_hook id, const void *caller)
{
    const int kept = errno;
    real_dlsym_find();
    const struct copies copies = copies_of(nccl_name[id], true);
    void *function = copies.count ? copies.functions[0] : NULL;
    if (copies.count > 1)
        function = choose(&copies, caller);
    else if (!function)
        function = libnccl_seen_by_all(nccl_name[id]); /* in a library without DT_GNU_HASH */
    if (copies.count != 1)
        real_dlsym_forget_errors();
    errno = kept;
    return function;
}

bool libnccl_has(enum nccl_hook id)
{
    return copies_of(nccl_name[id], false).count != 0;
}

void *libnccl_seen_by_all(const char *name)
{
    return wsdbg_real_dlsym(RTLD_NEXT, name); /* the next one after the shim */
}

/* ---- forwarding calls ---- */

/* The place with this key, else a free one; NULL = there is no room near its slot. */
static struct place *place_of(uintptr_t key)
{
    const size_t first = (key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PLACES_LOG2);
    for (size_t i = 0; i < PROBES; i++) {
        struct place *place = &places[(first + i) % PLACES];
        const uintptr_t held = atomic_load_explicit(&place->key, memory_order_relaxed);
        if (held == key || held == 0)
            return place;
    }
    return NULL;
}

/* If two threads look up the same site at once, both find the same function, and one of them stores it. */
void *libnccl_next(enum nccl_hook id, const void *caller)
{
    _Static_assert(NCCL_HOOK_COUNT <= 64, "six bits of the key");
    const uintptr_t key = ((uintptr_t)caller << 6) | (uintptr_t)id;
    struct place *place = place_of(key);
    uintptr_t nobody = 0;
    void *function = place && atomic_load_explicit(&place->key, memory_order_relaxed) == key
                         ? atomic_load_explicit(&place->function, memory_order_acquire)
                         : NULL;
    if (function)
        return function;
    function = find_next(id, caller);
    if (place && function && atomic_compare_exchange_strong(&place->key, &nobody, key))
        atomic_store_explicit(&place->function, function, memory_order_release);
    return function;
}

bool libnccl_found(enum nccl_hook id, void *function)
{
    void *nothing = NULL;
    return atomic_compare_exchange_strong(&given[id], &nothing, function) || nothing == function;
}

void *libnccl_real(enum nccl_hook id)
{
    return atomic_load_explicit(&given[id], memory_order_acquire);
}

/* ---- other functions of the same library ---- */

struct beside {
    uintptr_t function;
    const char *name;
    void *found;
};

/* dl_iterate_phdr() calls this under one of the loader's locks.  dladdr() would take the other one, which dlopen()
 * takes first: a deadlock. */
static int find_beside(struct dl_phdr_info *object, size_t size, void *data)
{
    (void)size;
    struct beside *wanted = data;
    struct link_map map = {.l_addr = object->dlpi_addr};
    struct loader_object read;
    bool holds = false;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        holds |= part->p_type == PT_LOAD && wanted->function >= begin && wanted->function - begin < part->p_memsz;
        if (part->p_type == PT_DYNAMIC)
            map.l_ld = (ElfW(Dyn) *)begin;
    }
    if (holds && loader_read(&map, &read))
        wanted->found = loader_function(&read, wanted->name, 0);
    return holds;
}

void *libnccl_beside(const void *function, const char *name)
{
    struct beside wanted = {.function = (uintptr_t)function, .name = name};
    const int kept = errno;
    dl_iterate_phdr(find_beside, &wanted);
    errno = kept;
    return wanted.found;
}
