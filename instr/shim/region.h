/* region.h - memory of the segment for the rings of contexts. */
#ifndef WSDBG_SHIM_REGION_H
#define WSDBG_SHIM_REGION_H

#include <stdbool.h>
#include <stdint.h>

/* True when region_take can succeed. */
bool region_fits(uint64_t bytes);
/* `bytes` of zeroed segment memory for the ring of context row `context`; false: `why` says what is missing. */
bool region_take(uint32_t context, uint64_t bytes, uint64_t *offset, void **memory, char *why);
/* As much memory beside the segment as that region has, for the copy engine to write to: since Linux 6.5 nobody may
 * pin memory of a file on a disk.  It stays for whoever takes the region next.  NULL = there is no memory. */
void *region_landing(const void *memory);

#endif
