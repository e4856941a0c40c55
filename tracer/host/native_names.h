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

/* A call that the compiler has inlined: a frame further in than the one whose code it is part of. */
struct wsdbg_native_inlined {
    uint32_t before; /* index of that frame */
    struct wsdbg_host_frame frame;
};
/* Of one frame innermost first, in the order of the places. */
struct wsdbg_native_inlines {
    struct wsdbg_native_inlined *rows; /* owned */
    size_t count, capacity;
};
void wsdbg_native_inlines_free(struct wsdbg_native_inlines *inlines);

/* Fills in the frames' names.  Sorts the places by file and address.  The offset of a frame with a symbol counts from
 * the symbol.  When the time is over, source lines are left out.  inlines: gets the calls that were inlined, each
 * with its line; a frame itself then has the line of the outermost one.  NULL = a frame has its innermost line. */
void wsdbg_native_name(struct wsdbg_host_modules *modules, const struct wsdbg_host_memory *memory,
                       struct wsdbg_native_place *places, size_t count, struct wsdbg_host_frame *frames,
                       struct wsdbg_native_inlines *inlines);

#endif
