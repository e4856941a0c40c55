/* jump.h - makes functions of the program continue in others, which are looked up when they are first called.
 *
 * Looked up late, because the jumps are placed before the C library is initialised, and nothing can be loaded then.
 */
#ifndef WSDBG_STATIC_RUNTIME_JUMP_H
#define WSDBG_STATIC_RUNTIME_JUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JUMPS_MAX = 4096 }; /* in a process */

struct jump {
    uint64_t from;       /* address in memory */
    uint64_t byte_count; /* of the function there */
    uint32_t index;      /* below JUMPS_MAX, of no other jump */
};

/* Where the function with this index continues.  Asked when it is first called, perhaps by several threads.  Never
 * NULL. */
typedef void *jump_target(uint64_t index);
/* Another function's target that is known meanwhile. */
void jump_set(uint32_t index, void *target);

/* Whether a function of this length, with these first bytes, has room for a jump. */
bool jump_fits(uint64_t byte_count, const unsigned char *first);

/* Places all jumps or none.  [text, text + text_bytes) is the mapping with this protection (PROT_*) that holds every
 * `from`; nobody else may execute it meanwhile.  False: memory near it, or the right to write it, cannot be had. */
bool jump_place(const struct jump *jumps, size_t count, uint64_t text, size_t text_bytes, int protection,
                jump_target *target);

#endif
