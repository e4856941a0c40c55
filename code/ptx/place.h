/* place.h - what the parser remembers of source places.  Private to ptx/. */
#ifndef WSDBG_PTX_PLACE_H
#define WSDBG_PTX_PLACE_H

#include "ptx/parser.h"

struct ptx_places;

struct ptx_places *ptx_places_create(void); /* NULL = out of memory */
void ptx_places_destroy(struct ptx_places *places);

/* Behind .file, .loc and .section: up to the directive's end. */
struct wsdbg_error *ptx_read_file(struct ptx_parser *parser);
struct wsdbg_error *ptx_read_location(struct ptx_parser *parser);
struct wsdbg_error *ptx_read_section(struct ptx_parser *parser);
/* What a place is inlined at: a row of places; `called` is the function whose code stands there, NULL = .loc says. */
struct ptx_place_level {
    uint32_t place;
    const char *called;
};
/* A row like `place`, of code of the kernel that was copied to another place. */
struct wsdbg_error *ptx_copy_place(struct ptx_parser *parser, uint32_t place, uint32_t kernel,
                                   const struct ptx_place_level *outer, uint32_t *row);
/* Behind the module: files and functions' names get to the places that were read before them. */
struct wsdbg_error *ptx_finish_places(struct ptx_parser *parser);

#endif
