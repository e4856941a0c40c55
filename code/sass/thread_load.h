/* thread_load.h - what a load brings a thread: constants, and global memory.  Private to this room: part of
 * thread_step.h.
 */
#ifndef WSDBG_SASS_THREAD_LOAD_H
#define WSDBG_SASS_THREAD_LOAD_H

#include "sass/thread_operand.h"

enum { WSDBG_LOAD_WORDS = 4 };

/* Where bank 0 of machine code has the generic address of the kernel's parameters, and the parameters (as ptxas 13.0
 * takes them; seen on H100 and H200). */
enum { WSDBG_PARAMETERS_POINTER = 0x198, WSDBG_PARAMETERS = 0x210, WSDBG_PARAMETERS_MOST = 32764 };

/* The words that the load brings.  A load of less than four bytes brings the number that its register gets.  Global
 * memory is assumed not to have changed since the load.  False: the address, or what is there, is not known. */
bool wsdbg_thread_load(const struct wsdbg_instruction *load, const struct wsdbg_thread_world *world,
                       const struct wsdbg_thread_state *state, uint32_t words[WSDBG_LOAD_WORDS]);
/* Whether a generic load, store or atomic concerns shared memory.  Of a generic address that PTX makes of one in shared
 * memory the high half is not known. */
enum wsdbg_truth wsdbg_thread_names_shared(const struct wsdbg_instruction *access,
                                           const struct wsdbg_thread_world *world,
                                           const struct wsdbg_thread_state *state);
/* Whether a generic load of machine code brings a parameter of the kernel, which nobody writes. */
bool wsdbg_thread_loads_parameter(const struct wsdbg_instruction *load, const struct wsdbg_thread_world *world,
                                  const struct wsdbg_thread_state *state);
/* Whether each register of PTX that the load writes gets 64 bits. */
bool wsdbg_thread_load_is_long(const struct wsdbg_instruction *load);
/* What a load of one or two bytes makes of the word that they lie in, at this byte of it; false where it is not known.
 */
bool wsdbg_thread_part(const struct wsdbg_instruction *load, uint32_t word, uint32_t at_byte, uint32_t *value);

#endif
