/* recorded_looks.h - the looks at the GPU in a recording; private to recorded.c.  The format is in record.h. */
#ifndef WSDBG_EVIDENCE_RECORDED_LOOKS_H
#define WSDBG_EVIDENCE_RECORDED_LOOKS_H

#include "evidence/record.h"
#include "machine/interpret.h"

struct wsdbg_recorded_look {
    struct wsdbg_record_look head;
    size_t offset; /* of its content in the file */
};

/* Begins as zero. */
struct wsdbg_recorded_looks {
    struct wsdbg_recorded_look *rows; /* by time */
    size_t count, capacity;
    struct wsdbg_code *code;
};

/* Adds the look whose head lies at `offset`, *next is where the next frame or look begins.  Words, a static string,
 * where it cannot be one: later ones are then not to be found. */
const char *wsdbg_recorded_looks_add(struct wsdbg_recorded_looks *looks, const unsigned char *file, size_t file_bytes,
                                     size_t offset, uint64_t least_ns, size_t *next);
/* Completes a snapshot of now_ns by the newest looks until then, unless something has moved since. */
struct wsdbg_error *wsdbg_recorded_looks_show(struct wsdbg_recorded_looks *looks, const unsigned char *file,
                                              const char *path, uint64_t now_ns, struct wsdbg_snapshot *snapshot);
void wsdbg_recorded_looks_deinit(struct wsdbg_recorded_looks *looks);

#endif
