/* families.h - which mbarriers of a kernel belong together: one array in the source, a stage for each place.
 *
 * Reads: the kernel's accesses, and what else is known of its shared memory.  Writes: families, in order of their
 * addresses.
 */
#ifndef WSDBG_SASS_FAMILIES_H
#define WSDBG_SASS_FAMILIES_H

#include "sass/access.h"

/* Mbarriers that the code treats alike. */
struct wsdbg_family {
    uint32_t first, stride, places;
    uint32_t id;   /* of its name; whoever names it gives it */
    uint64_t uses; /* a bit for each kind of access of it; INIT is not among them */
    bool walked;   /* an access goes along it with its stride */
    bool closed;   /* no walk over it goes further: its variable ends there, or an array of another use begins */
    /* The source's, as a symbol, where it has nothing but mbarriers; NULL = not known. */
    const char *variable;
    bool is_all; /* of the variable; else others are in it, too */
    uint32_t variable_offset;
};

enum { WSDBG_FAMILIES_MAX = 64 };

struct wsdbg_families {
    struct wsdbg_family rows[WSDBG_FAMILIES_MAX];
    size_t count;
};

/* A variable in shared memory. */
struct wsdbg_shared_variable {
    const char *name; /* its symbol */
    uint32_t first, byte_count;
};

struct wsdbg_families_source {
    const struct wsdbg_access *accesses;
    size_t access_count;
    const uint64_t *comers; /* by access: a bit for each warp whose threads may reach it; NULL = not known */
    const uint32_t *waited; /* offsets at which warps were seen to wait */
    size_t waited_count;
    /* What the word of the mbarrier at an offset expects; 0 = not known.  May be NULL. */
    uint32_t (*expected)(void *context, uint32_t offset);
    void *context;
    const struct wsdbg_shared_variable *variables; /* 0 where the compiler left no names */
    size_t variable_count;
};

/* The variables' names must live as long as the families. */
struct wsdbg_error *wsdbg_families_find(const struct wsdbg_families_source *source, struct wsdbg_families *out);

/* The family and stage of an mbarrier; false where it belongs to none. */
bool wsdbg_family_at(const struct wsdbg_families *families, uint32_t offset, uint32_t *family, uint32_t *stage);
/* How many places an mbarrier access has: what its code says, else those to the end of a family that is closed; 0 = not
 * known. */
uint32_t wsdbg_family_places(const struct wsdbg_families *families, const struct wsdbg_value_set *address);
/* Whether an access may be of the mbarrier at this offset. */
bool wsdbg_access_may_be(const struct wsdbg_families *families, const struct wsdbg_access *access, uint32_t offset);

#endif
