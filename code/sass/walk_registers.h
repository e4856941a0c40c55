/* walk_registers.h - sets of registers, a bit each, by their numbers in definitions.h.  Private to the walks. */
#ifndef WSDBG_SASS_WALK_REGISTERS_H
#define WSDBG_SASS_WALK_REGISTERS_H

#include "sass/definitions.h"

enum { WSDBG_WALK_REGISTER_WORDS = (WSDBG_REGISTER_COUNT + 63) / 64 };

#endif
