/* embedded.h - fatbins and cubins among other bytes: what a program carries as data (.incbin, arrays that xxd or bin2c
 * wrote, objcopy) and hands to the driver itself.
 *
 * Reads bytes of unknown origin.  An image may begin at any byte; packed by other means than a fatbin's own it is not
 * found, nor is PTX text.
 */
#ifndef WSDBG_LINT_EMBEDDED_H
#define WSDBG_LINT_EMBEDDED_H

#include <stdbool.h>

#include "lint/file_span.h"

enum wsdbg_embedded_kind { WSDBG_EMBEDDED_FATBIN, WSDBG_EMBEDDED_CUBIN, WSDBG_EMBEDDED_KINDS };
enum { WSDBG_EMBEDDED_CHUNK_BYTES = 1 << 16 };

struct wsdbg_embedded_image {
    enum wsdbg_embedded_kind kind;
    struct wsdbg_file_span bytes;
    struct wsdbg_error *damage; /* not NULL: it begins here and is not all there; the caller's */
};

/* Set `span`, and zeros else. */
struct wsdbg_embedded_scan {
    struct wsdbg_file_span span;
    uint64_t at;                         /* in the span: all before it was looked at */
    uint64_t first, end;                 /* of the chunk */
    uint64_t hits[WSDBG_EMBEDDED_KINDS]; /* where in the chunk one of each kind may begin next; its end = nowhere */
    unsigned char chunk[WSDBG_EMBEDDED_CHUNK_BYTES];
};

/* The next image that is not within one found before.  *found is false when there are no more. */
struct wsdbg_error *wsdbg_embedded_next(struct wsdbg_embedded_scan *scan, struct wsdbg_embedded_image *out,
                                        bool *found);

#endif
