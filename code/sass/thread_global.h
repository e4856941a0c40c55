/* thread_global.h - what a load from global memory brings a thread.  Private to this room: part of thread_step.h. */
#ifndef WSDBG_SASS_THREAD_GLOBAL_H
#define WSDBG_SASS_THREAD_GLOBAL_H

#include "sass/thread_step.h"

enum { WSDBG_GLOBAL_WORDS = 4 };

/* The words that the load brings, if memory still holds what it held then; of less than four bytes the number that its
 * register gets.  False where the address or what lies there is not known. */
bool wsdbg_thread_global(const struct wsdbg_instruction *load, const struct wsdbg_thread_world *world,
                         const struct wsdbg_thread_state *state, uint32_t words[WSDBG_GLOBAL_WORDS]);
/* Whether each register of PTX that the load writes gets 64 bits. */
bool wsdbg_thread_global_is_long(const struct wsdbg_instruction *load);

#endif
