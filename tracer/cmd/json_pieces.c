/* json_pieces.c - see json_pieces.h.  Writes the stream. */
#include "cmd/json_pieces.h"

static void put(struct wsdbg_json_pieces *pieces, json_t *value)
{
    if (!value || json_dumpf(value, pieces->out, JSON_ENCODE_ANY | JSON_COMPACT) != 0)
        pieces->is_out_of_memory = true; /* a stream that cannot be written is found when it is flushed */
    json_decref(value);
}

void wsdbg_json_element(struct wsdbg_json_pieces *pieces, json_t *value)
{
    fputs(pieces->has_elements ? ",\n" : "\n", pieces->out);
    pieces->has_elements = true;
    put(pieces, value);
}

void wsdbg_json_keep(struct wsdbg_json_pieces *pieces, json_t *array, json_t *value)
{
    if (!value || json_array_append_new(array, value) != 0)
        pieces->is_out_of_memory = true;
}

void wsdbg_json_member(struct wsdbg_json_pieces *pieces, const char *name, json_t *value)
{
    fprintf(pieces->out, "\"%s\": ", name);
    put(pieces, value);
}

struct wsdbg_error *wsdbg_json_check(const struct wsdbg_json_pieces *pieces)
{
    return pieces->is_out_of_memory && !ferror(pieces->out) ? &wsdbg_error_no_memory : NULL;
}
