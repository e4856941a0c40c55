/* loader.h - the libraries of the process as the dynamic loader lists them, read without a call of any library.
 *
 * A sanitizer's runtime stands between a program and the C library, and cannot be called before it has started.  It asks
 * for dlsym(), which is ours, while it starts.
 */
#ifndef WSDBG_SHIM_LOADER_H
#define WSDBG_SHIM_LOADER_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct loader_object {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const ElfW(Half) * versions; /* of each symbol; NULL = it has none */
    const void *defined, *needed;
    const ElfW(Rela) * relocations[2]; /* of data and of calls */
    uint64_t relocation_bytes[2];
};

/* The first of the libraries; the others follow by l_next.  The list is still only as long as nobody else runs. */
const struct link_map *loader_first(void);
/* False: it has no symbols. */
bool loader_read(const struct link_map *library, struct loader_object *out);
bool loader_same(const char *a, const char *b);
/* Whether a library is called `beginning`…, whatever its folder. */
bool loader_is_named(const struct link_map *library, const char *beginning);
/* Whether it is a file of the C library: before 2.34 glibc was in several. */
bool loader_is_libc(const struct link_map *library);
/* A function that the object has, with this version's hash, or the one that it gives to new programs (0); NULL. */
void *loader_function(const struct loader_object *object, const char *name, uint32_t version);
/* The hash of the version that the object wants of a symbol that it lacks; 0 = any. */
uint32_t loader_wanted_version(const struct loader_object *object, uint32_t symbol);
/* A function of the libraries that come after this one, as dlsym(RTLD_NEXT) finds it; NULL.  Without a lock. */
void *loader_next_function(const char *name);
/* The same of the C library, whichever of its files has it. */
void *loader_libc_function(const char *name, uint32_t version);

#endif
