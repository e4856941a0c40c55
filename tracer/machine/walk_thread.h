/* walk_thread.h - private to look_walks*.c: what one thread of a walk can ask of its launch and of memory.
 *
 * Reads: the machine.  Writes: what was read, so that the machine is asked for it once.
 */
#ifndef WSDBG_MACHINE_WALK_THREAD_H
#define WSDBG_MACHINE_WALK_THREAD_H

#include "machine/code.h"
#include "machine/machine.h"
#include "sass/thread_step.h"
#include "sass/walk.h"

enum { WALK_CONSTANTS_KEPT = 2048 };                                             /* words */
enum { WALK_GLOBALS_KEPT = 512, WALK_SHARED_KEPT = 128, WALK_LOCALS_KEPT = 16 }; /* blocks */
/* Arrays that the lanes of a warp index lie in few large blocks.  Memory may end inside of one, and what is kept of a
 * look may have only a smaller one. */
enum { WALK_BLOCK_BYTES = 512, WALK_SMALL_BLOCK_BYTES = 128 };
/* The GPU stands still while memory is read, and a read takes some 20 us, of a word as of a block.  Where no large
 * block is known, a word takes up to three reads.  Beyond this many blocks of a grid, global memory is not known.  No
 * CTA may use more than half of those that are left, so that the first ones leave something: others need to know at
 * least where their work begins. */
enum { WALK_GLOBALS_READ_MOST = 1024 };

/* An aligned piece of memory; `place` is what it was read of: a context, a CTA, a lane of all lanes. */
struct walk_block {
    uint64_t address;
    uint32_t place, byte_count; /* 0 = nothing was read */
    bool known;
    unsigned char bytes[WALK_BLOCK_BYTES];
};

/* What all threads of a grid have alike.  Zeroed: nothing was read. */
struct walk_memory {
    struct walk_word {
        bool asked, known;
        uint32_t value;
    } constants[WALK_CONSTANTS_KEPT];
    struct walk_block globals[WALK_GLOBALS_KEPT], shared[WALK_SHARED_KEPT], locals[WALK_LOCALS_KEPT];
    unsigned globals_read, globals_most; /* blocks so far; how many there may be */
    struct wsdbg_image tables;           /* of the kernel: see wsdbg_code_tables */
};

/* Before the threads of another CTA walk: gives it its share of the blocks that may still be read. */
void walk_memory_begin_cta(struct walk_memory *memory);

struct walk_thread {
    struct walk_memory *memory;
    struct wsdbg_machine *machine;
    uint32_t grid; /* row of the machine */
    const struct wsdbg_cta *cta;
    uint32_t cta_row; /* of the machine, WSDBG_NONE = it has exited; its shared memory is gone, then */
    uint32_t sibling; /* that row, or that of another CTA of its cluster */
    uint32_t linear, lane;
    uint32_t warp;             /* row of the machine, if it is that lane as it stands; */
    bool is_there;             /* ... else it has no local memory yet */
    uint32_t seen_at;          /* see struct wsdbg_thread_world */
    bool is_of_words;          /* its code is machine code; else PTX */
    bool has_loaded;           /* it was told a word of global memory */
    struct wsdbg_error *error; /* the first one */
};

/* Which CTA of the cluster an address in shared memory names, where its highest byte is not 0.  That of machine code is
 * the rank.  In walks of PTX an address of the own CTA has no rank there, though on hardware it has: a byte that mapa
 * did not set is what the code flipped in the own rank, to reach a peer. */
static inline uint32_t walk_rank_named(uint32_t byte, uint32_t own_rank, bool is_of_words)
{
    if (is_of_words)
        return byte;
    return byte >= WSDBG_WALK_RANKED ? byte - WSDBG_WALK_RANKED : own_rank ^ byte;
}

/* The thread must outlive it. */
struct wsdbg_thread_world walk_thread_world(struct walk_thread *thread);

#endif
