/* loader.c - see loader.h.
 *
 * Reads:  the loader's list and the dynamic sections of what is on it.  Writes: nothing.
 *
 * Built so that the compiler makes no call of what looks like strlen or memset (CMakeLists.txt).
 */
#include "loader.h"

#include <stddef.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/ifunc.h>
#endif

const struct link_map *loader_first(void)
{
    return _r_debug.r_map;
}

/* ---- one object ---- */

/* glibc relocates these entries in place, musl does not. */
static const void *dynamic_pointer(uintptr_t base, ElfW(Addr) value)
{
    return (const void *)(value < base ? value + base : value);
}

static void read_entry(const ElfW(Dyn) * entry, struct loader_object *out)
{
    const void *address = dynamic_pointer(out->base, entry->d_un.d_ptr);
    switch (entry->d_tag) {
    case DT_SYMTAB:
        out->symbols = address;
        break;
    case DT_STRTAB:
        out->strings = address;
        break;
    case DT_GNU_HASH:
        out->gnu_hash = address;
        break;
    case DT_VERSYM:
        out->versions = address;
        break;
    case DT_VERDEF:
        out->defined = address;
        break;
    case DT_VERNEED:
        out->needed = address;
        break;
    case DT_RELA:
        out->relocations[0] = address;
        break;
    case DT_RELASZ:
        out->relocation_bytes[0] = entry->d_un.d_val;
        break;
    case DT_JMPREL:
        out->relocations[1] = address;
        break;
    case DT_PLTRELSZ:
        out->relocation_bytes[1] = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

bool loader_read(const struct link_map *library, struct loader_object *out)
{
    *out = (struct loader_object){.base = library->l_addr};
    for (const ElfW(Dyn) *entry = library->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        read_entry(entry, out);
    return out->symbols && out->strings && out->gnu_hash;
}

/* ---- names ---- */

bool loader_same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

bool loader_is_named(const struct link_map *library, const char *beginning)
{
    const char *name = library->l_name ? library->l_name : "";
    for (const char *at = name; *at; at++)
        if (*at == '/')
            name = at + 1;
    while (*beginning && *name == *beginning) {
        name++;
        beginning++;
    }
    return *beginning == '\0';
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* ---- versions ---- */

enum { VERSION_HIDDEN = 0x8000, VERSION_NUMBER = 0x7fff };

uint32_t loader_wanted_version(const struct loader_object *object, uint32_t symbol)
{
    const unsigned number = object->versions ? object->versions[symbol] & VERSION_NUMBER : 0;
    const char *at = object->needed;
    while (at) {
        const ElfW(Verneed) *library = (const void *)at;
        const char *entry = at + library->vn_aux;
        for (unsigned i = 0; i < library->vn_cnt; i++) {
            const ElfW(Vernaux) *version = (const void *)entry;
            if (version->vna_other == number)
                return version->vna_hash;
            entry += version->vna_next;
        }
        at = library->vn_next ? at + library->vn_next : NULL;
    }
    return 0;
}

static uint32_t defined_version(const struct loader_object *object, unsigned number)
{
    const char *at = object->defined;
    while (at) {
        const ElfW(Verdef) *version = (const void *)at;
        if (version->vd_ndx == number)
            return version->vd_hash;
        at = version->vd_next ? at + version->vd_next : NULL;
    }
    return 0;
}

static bool has_version(const struct loader_object *object, uint32_t symbol, uint32_t wanted)
{
    if (!object->versions)
        return true;
    const unsigned version = object->versions[symbol];
    return wanted ? defined_version(object, version & VERSION_NUMBER) == wanted : !(version & VERSION_HIDDEN);
}

/* ---- functions ---- */

/* A function of which the library chooses one for this processor, as the loader has it choose. */
static uintptr_t chosen(uintptr_t resolver)
{
#if defined(__aarch64__)
    const __ifunc_arg_t argument = {sizeof argument, getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    return ((uintptr_t(*)(uint64_t, const __ifunc_arg_t *))resolver)(argument._hwcap | _IFUNC_ARG_HWCAP, &argument);
#else
    return ((uintptr_t(*)(void))resolver)();
#endif
}

static uintptr_t address_of(const struct loader_object *object, const ElfW(Sym) * symbol)
{
    const uintptr_t address = object->base + symbol->st_value;
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF)
        return 0;
    return type == STT_GNU_IFUNC ? chosen(address) : type == STT_FUNC ? address : 0;
}

void *loader_function(const struct loader_object *object, const char *name, uint32_t version)
{
    const uint32_t hash = gnu_hash_of(name);
    const uint32_t bucket_count = object->gnu_hash[0], first = object->gnu_hash[1], bloom_words = object->gnu_hash[2];
    const uint32_t *buckets = object->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = buckets + bucket_count;
    for (uint32_t i = buckets[hash % bucket_count]; i >= first && i; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        if (((chain[i - first] ^ hash) >> 1) == 0 && loader_same(object->strings + symbol->st_name, name) &&
            has_version(object, i, version)) {
            const uintptr_t address = address_of(object, symbol);
            if (address)
                return (void *)address;
        }
        if (chain[i - first] & 1)
            break;
    }
    return NULL;
}

bool loader_is_libc(const struct link_map *library)
{
    return loader_is_named(library, "libc.so") || loader_is_named(library, "libdl.so") ||
           loader_is_named(library, "libpthread.so") || loader_is_named(library, "librt.so");
}

void *loader_libc_function(const char *name, uint32_t version)
{
    struct loader_object object;
    void *found = NULL;
    for (const struct link_map *at = loader_first(); at && !found; at = at->l_next)
        if (loader_is_libc(at) && loader_read(at, &object))
            found = loader_function(&object, name, version);
    return found;
}

/* ---- in the order of the libraries ---- */

void *loader_next_function(const char *name)
{
    struct loader_object object;
    const struct link_map *at = loader_first();
    void *found = NULL;
    while (at && at->l_ld != _DYNAMIC) /* this library's own */
        at = at->l_next;
    for (at = at ? at->l_next : NULL; at && !found; at = at->l_next)
        if (loader_read(at, &object))
            found = loader_function(&object, name, 0);
    return found ? found : loader_libc_function(name, 0);
}
