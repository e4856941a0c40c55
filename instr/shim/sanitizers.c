/* sanitizers.c - see sanitizers.h.
 *
 * Reads:  the loader's list of libraries.
 * Writes: this library's own table of functions that it takes from others, in programs with a sanitizer.
 *
 * The runtime of a sanitizer (ASan, TSan, MSan, HWASan) stands in for functions of the C library.  It crashes where one
 * is called before it has started; it would take copies that we make for races or for unknown values, since this
 * library is not compiled with it.  So here such calls go to the C library itself.  Exceptions are what it has to know
 * of: new threads, and memory that others may give back.
 *
 * ASan's shared runtime ends a program in which another library stands before it, as one that is preloaded does.  It
 * only looks whether it is the first, at its start: until then this library is left out of the list.
 */
#include "sanitizers.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader.h"
#include "shim.h"

static _Atomic bool started;
/* Of the runtime that was in the process at its start; NULL = there was none.  None comes later: a runtime has to be
 * there before the functions it stands in for are called. */
static const char *_Atomic runtime_name;

/* ---- whether the program has one ---- */

static bool find_own(struct loader_object *own)
{
    for (const struct link_map *at = loader_first(); at; at = at->l_next)
        if (at->l_ld == _DYNAMIC)
            return loader_read(at, own);
    return false;
}

/* A runtime that is linked into the program shows of itself only what the C library has too. */
static bool stands_in(const struct loader_object *object)
{
    return loader_function(object, "memcpy", 0) && loader_function(object, "strncmp", 0) &&
           loader_function(object, "read", 0);
}

/* A runtime that GCC links into the program does not export what tells it from others. */
static const char *name_of(const struct loader_object *object)
{
    static const struct {
        const char *function, *name;
    } runtimes[] = {{"__asan_init", "AddressSanitizer"},
                    {"__hwasan_init", "HWAddressSanitizer"},
                    {"__tsan_init", "ThreadSanitizer"},
                    {"__msan_init", "MemorySanitizer"},
                    {"__lsan_init", "LeakSanitizer"}};
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (loader_function(object, runtimes[i].function, 0))
            return runtimes[i].name;
    return stands_in(object) ? "a sanitizer" : NULL;
}

/* Walks the loader's list without its lock: for the start of the process alone, when no other thread changes it. */
static const char *find_runtime(void)
{
    struct loader_object object;
    const char *name = NULL;
    for (const struct link_map *at = loader_first(); at && !name; at = at->l_next)
        if (!loader_is_libc(at) && loader_read(at, &object))
            name = name_of(&object);
    return name;
}

const char *sanitizers_name(void)
{
    return atomic_load(&runtime_name);
}

/* ---- calls of this library ---- */

#if defined(__aarch64__)
enum { TO_FUNCTION = R_AARCH64_JUMP_SLOT, TO_ADDRESS = R_AARCH64_GLOB_DAT };
#else
enum { TO_FUNCTION = R_X86_64_JUMP_SLOT, TO_ADDRESS = R_X86_64_GLOB_DAT };
#endif

static bool is_sanitizers(const char *name)
{
    static const char *const names[] = {"pthread_create", "malloc",  "calloc",         "realloc",          "free",
                                        "dlopen",         "dlclose", "__cxa_finalize", "__register_atfork"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (loader_same(names[i], name))
            return true;
    return false;
}

static void bind(const struct loader_object *own, const ElfW(Rela) * relocation)
{
    const unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    const uint32_t number = (uint32_t)ELF64_R_SYM(relocation->r_info);
    const char *name = own->strings + own->symbols[number].st_name;
    if ((type != TO_FUNCTION && type != TO_ADDRESS) || own->symbols[number].st_shndx != SHN_UNDEF ||
        is_sanitizers(name))
        return;
    void *function = loader_libc_function(name, loader_wanted_version(own, number));
    if (function)
        *(void **)(own->base + relocation->r_offset) = function;
}

static void bind_all(const struct loader_object *own)
{
    for (int table = 0; table < 2; table++)
        for (size_t i = 0; i < own->relocation_bytes[table] / sizeof(ElfW(Rela)); i++)
            bind(own, &own->relocations[table][i]);
}

/* The part of this library that the loader has made read-only: the table lies there. */
static bool find_table(const struct loader_object *own, uintptr_t *first, size_t *bytes)
{
    const ElfW(Ehdr) *header = (const void *)own->base;
    const ElfW(Phdr) *parts = (const void *)(own->base + header->e_phoff);
    const uintptr_t in_page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (parts[i].p_type == PT_GNU_RELRO) {
            const uintptr_t begin = own->base + parts[i].p_vaddr;
            *first = begin & ~in_page;
            *bytes = ((begin + parts[i].p_memsz) & ~in_page) - *first;
            return true;
        }
    return false;
}

static void bind_to_libc(const struct loader_object *own)
{
    uintptr_t first;
    size_t bytes;
    int (*protect)(void *, size_t, int) = (int (*)(void *, size_t, int))loader_libc_function("mprotect", 0);
    if (!protect || !find_table(own, &first, &bytes) || protect((void *)first, bytes, PROT_READ | PROT_WRITE))
        return;
    bind_all(own);
    protect((void *)first, bytes, PROT_READ);
}

/* ---- the list of libraries ---- */

struct walk {
    int (*visit)(struct dl_phdr_info *, size_t, void *);
    void *context;
    uintptr_t own;
};

/* What wsdbg preloads beside the observer.  Without libc's functions: a sanitizer's stand in for them, and may not have
 * started. */
static bool is_wsdbgs(const char *path)
{
    static const char prefix[] = "libwsdbg-";
    const char *base = path;
    for (const char *at = path; at && *at; at++)
        if (*at == '/')
            base = at + 1;
    for (size_t i = 0; i < sizeof prefix - 1; i++)
        if (!base || base[i] != prefix[i])
            return false;
    return true;
}

static int visit_others(struct dl_phdr_info *library, size_t bytes, void *context)
{
    const struct walk *walk = context;
    if (library->dlpi_addr == walk->own || is_wsdbgs(library->dlpi_name))
        return 0;
    return walk->visit(library, bytes, walk->context);
}

typedef int (*iteration)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

SHIM_EXPORT int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context)
{
    static iteration _Atomic real;
    iteration forward = atomic_load_explicit(&real, memory_order_acquire);
    if (!forward) {
        sanitizers_pass_by();
        forward = (iteration)loader_libc_function("dl_iterate_phdr", 0);
        atomic_store(&real, forward);
    }
    if (!forward)
        return 0;
    struct loader_object own;
    if (atomic_load(&started) || !find_own(&own))
        return forward(visit, context);
    struct walk walk = {visit, context, own.base};
    return forward(visit_others, &walk);
}

/* ---- the start ---- */

void sanitizers_pass_by(void)
{
    static _Atomic bool begun;
    struct loader_object own;
    if (atomic_load_explicit(&begun, memory_order_relaxed) || atomic_exchange(&begun, true))
        return;
    const char *name = find_runtime();
    atomic_store(&runtime_name, name);
    if (name && find_own(&own))
        bind_to_libc(&own);
}

void sanitizers_started(void)
{
    atomic_store(&started, true);
}
