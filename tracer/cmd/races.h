/* races.h - races that the simulator saw: read from its file, said, kept for JSON. */
#ifndef WSDBG_CMD_RACES_H
#define WSDBG_CMD_RACES_H

#include <jansson.h>
#include <stdbool.h>

#include "program/spool.h"

/* A run with --races, or without: the file lies in a folder of its own. */
struct wsdbg_races {
    struct wsdbg_spool folder;
    char *path; /* NULL = nobody asked */
};
struct wsdbg_error *wsdbg_races_begin(bool is_wanted, struct wsdbg_races *out);
/* Each once, as docs/explore.schema.json has them; NULL = no memory.  The caller's. */
json_t *wsdbg_races_read(const struct wsdbg_races *races);
/* Says them, and how many there are, on stderr. */
void wsdbg_races_say(const json_t *rows, bool is_quiet);
void wsdbg_races_end(struct wsdbg_races *races);

#endif
