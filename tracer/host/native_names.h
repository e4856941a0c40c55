/* native_names.h - functions and source lines of native frames. */
#ifndef WSDBG_HOST_NATIVE_NAMES_H
#define WSDBG_HOST_NATIVE_NAMES_H

#include "host/native_modules.h"
#include "model/snapshot.h"

/* An instruction, and the frame that is to get its names. */
struct wsdbg_native_place {
    uint32_t file;    /* in the maps' files */
    uint32_t frame;   /* index */
    uint64_t address; /* of the file */
};

/* Fills in the frames' names.  Sorts the places by file and address.  The offset of a frame with a symbol counts from
 * the symbol.  When the time is over, source lines are left out. */
void wsdbg_native_name(struct wsdbg_host_modules *modules, const struct wsdbg_host_memory *memory,
                       struct wsdbg_native_place *places, size_t count, struct wsdbg_host_frame *frames);

#endif
