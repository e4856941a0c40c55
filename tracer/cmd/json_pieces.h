/* json_pieces.h - what writes a long JSON document piece by piece: each piece a jansson value, freed once written. */
#ifndef WSDBG_CMD_JSON_PIECES_H
#define WSDBG_CMD_JSON_PIECES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "store/json_rows.h"

struct wsdbg_json_pieces {
    FILE *out;
    bool is_out_of_memory;
    bool has_elements; /* of the array that is being written */
};

/* Writes the value as the next element of an array.  Takes it; NULL = out of memory, which is kept. */
void wsdbg_json_element(struct wsdbg_json_pieces *pieces, json_t *value);
/* Keeps the value for later as an element of `array`.  Takes it, likewise. */
void wsdbg_json_keep(struct wsdbg_json_pieces *pieces, json_t *array, json_t *value);
/* Writes "name": value. */
void wsdbg_json_member(struct wsdbg_json_pieces *pieces, const char *name, json_t *value);
/* Whether all was written. */
struct wsdbg_error *wsdbg_json_check(const struct wsdbg_json_pieces *pieces);

#endif
