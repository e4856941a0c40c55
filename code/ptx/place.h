/* place.h - what the parser remembers of source places.  Private to ptx/. */
#ifndef WSDBG_PTX_PLACE_H
#define WSDBG_PTX_PLACE_H

#include "ptx/parser.h"

struct ptx_places;

struct ptx_places *ptx_places_create(void); /* NULL = out of memory */
void ptx_places_destroy(struct ptx_places *places);

#endif
