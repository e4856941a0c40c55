/* region.h - memory of the segment for the rings of contexts. */
#ifndef WSDBG_SHIM_REGION_H
#define WSDBG_SHIM_REGION_H

#include <stdbool.h>
#include <stdint.h>

/* True when region_take can succeed. */
bool region_fits(uint64_t bytes);
/* `bytes` of zeroed segment memory for the ring of context row `context`; false: `why` says what is missing. */
bool region_take(uint32_t context, uint64_t bytes, uint64_t *offset, void **memory, char *why);
/* Anonymous memory of the region's size, to which the copy engine writes if the driver refuses to register the
 * segment's memory (an H100's did for a segment on a disk).  It is kept for the next owner of the region.  NULL = there
 * is no memory. */
void *region_landing(const void *memory);

#endif
