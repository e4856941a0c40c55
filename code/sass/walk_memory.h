/* walk_memory.h - loads, stores and atomics of a lane.  Private to the walks. */
#ifndef WSDBG_SASS_WALK_MEMORY_H
#define WSDBG_SASS_WALK_MEMORY_H

#include "sass/walk_group.h"

/* Keeps a store to shared memory, or an atomic on it, for other walks; nothing if the lane does not execute it. */
void walk_keep_store(const struct walk_lane *lane, const struct wsdbg_instruction *store);
bool walk_reads_shared(const struct walk_lane *lane, const struct wsdbg_instruction *instruction);
/* A load from shared memory: what other warps stored, or what is there now.  False: not known, nothing was written. */
bool walk_load(const struct walk_lane *lane, uint32_t number, const struct wsdbg_instruction *instruction);
void walk_execute_atomic(const struct walk_lane *lane, uint32_t number, const struct wsdbg_instruction *atomic);
/* Whether a load from global memory is one too many: it serves what is stored to shared memory, and no way but through
 * that.  Counts those that are not. */
bool walk_is_load_too_many(const struct walk_lane *lane, uint32_t number);
/* Whether a load from global memory only waits for another value of a word. */
bool walk_polls_global(const struct walk_lane *lane, uint32_t number);

#endif
