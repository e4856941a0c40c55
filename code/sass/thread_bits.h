/* thread_bits.h - counts and places of bits: POPC, FLO, BREV.  Part of thread_step.h. */
#ifndef WSDBG_SASS_THREAD_BITS_H
#define WSDBG_SASS_THREAD_BITS_H

#include "sass/decode.h"

/* FLO's mode where it comes from PTX: bfind, bfind.shiftamt, clz. */
enum { WSDBG_FLO_PLACE, WSDBG_FLO_SHIFT, WSDBG_FLO_ZEROS };

/* What the instruction makes of a word; false where it is none of these, or of a signed number. */
bool wsdbg_thread_bits(const struct wsdbg_instruction *instruction, uint32_t word, uint32_t *out);

#endif
