/* loaded.c - see loaded.h.  The loader calls an empty function for debuggers (r_brk in its r_debug) when it has mapped
 * or unmapped objects, under its lock and before constructors run, whoever asked: dlopen, dlmopen, RTLD_DEEPBIND, the
 * C library itself.  That function gets a jump to ours.  An interposed dlopen would miss some of these callers and
 * change whose RUNPATH is searched; LD_AUDIT would load a second C library into every process.
 *
 * Reads: the loader's lists.  Writes: its empty function.
 */
#include "static_runtime/loaded.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { OBJECTS_MAX = 4096, MARK_BYTES = 4, ALIGNMENT = 16 };

struct object {
    const struct link_map *map; /* NULL: behind the last row */
    ElfW(Addr) base;
    struct jump_pages pages;
    bool is_there;
};

/* Changed under the loader's lock alone, or before there is a second thread. */
static struct object objects[OBJECTS_MAX];
static loaded_handler *handler;
static target_slot loader_says;

/* NULL: it is known already, or there are too many objects.  The rows have no gap. */
static struct object *add_new(const struct link_map *map)
{
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        if (!objects[i].map) {
            objects[i] = (struct object){.map = map, .base = map->l_addr, .is_there = true};
            return &objects[i];
        }
        if (objects[i].map == map && objects[i].base == map->l_addr) {
            objects[i].is_there = true;
            return NULL;
        }
    }
    return NULL;
}

/* The namespaces after the first one are known since glibc 2.35. */
static const struct r_debug *next_namespace(const struct r_debug *debug)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 35))
    return debug->r_version >= 2 ? &((const struct r_debug_extended *)debug)->r_next->base : NULL;
#else
    (void)debug;
    return NULL;
#endif
}

static bool all_are_consistent(void)
{
    for (const struct r_debug *debug = &_r_debug; debug; debug = next_namespace(debug))
        if (debug->r_state != RT_CONSISTENT)
            return false;
    return true;
}

/* Forgets the objects that were not found, and closes the gaps in the list. */
static void drop_gone(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < OBJECTS_MAX && objects[i].map; i++) {
        if (objects[i].is_there)
            objects[kept++] = objects[i];
        else
            jump_forget(&objects[i].pages);
    }
    for (; kept < OBJECTS_MAX && objects[kept].map; kept++)
        objects[kept] = (struct object){0};
}

static void look(void)
{
    if (!all_are_consistent())
        return;
    for (size_t i = 0; i < OBJECTS_MAX && objects[i].map; i++)
        objects[i].is_there = false;
    for (const struct r_debug *debug = &_r_debug; debug; debug = next_namespace(debug))
        for (const struct link_map *map = debug->r_map; map; map = map->l_next) {
            struct object *added = add_new(map);
            if (added)
                handler(map, debug == &_r_debug && map == debug->r_map, &added->pages);
        }
    drop_gone();
}

void loaded_each(loaded_handler *handle)
{
    handler = handle;
    look();
}

/* The length of an empty function: an endbr64 perhaps, and a return.  0: it is none. */
static uint64_t empty_bytes(const unsigned char *first)
{
    static const unsigned char endbr64[MARK_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
    const size_t mark = memcmp(first, endbr64, sizeof endbr64) == 0 ? MARK_BYTES : 0;
    const size_t repeat = first[mark] == 0xf3;
    return first[mark + repeat] == 0xc3 ? mark + repeat + 1 : 0;
}

bool loaded_follow(void)
{
    const struct jump jump = {.from = _r_debug.r_brk, .slot = &loader_says};
    const unsigned char *first = (const unsigned char *)(uintptr_t)jump.from;
    struct jump_pages pages = {0};
    const uint64_t length = first ? empty_bytes(first) : 0;
    atomic_store(&loader_says, (void *)look);
    return length > 0 && jump_fits(first, length, ALIGNMENT) &&
           !jump_place(&jump, 1, jump.from, ALIGNMENT, PROT_READ | PROT_EXEC, &pages);
}
