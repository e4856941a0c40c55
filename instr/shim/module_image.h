/* module_image.h - how big a module image is, and its copy in the session's folder. */
#ifndef WSDBG_SHIM_MODULE_IMAGE_H
#define WSDBG_SHIM_MODULE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a module image by its own headers (ELF, fatbin, PTX), 0 = not known. */
uint64_t image_bytes(const void *image, const void **start);
/* Size of an image as its first header gives it; 0 = not known.  The header is not trusted: it may hold any value and
 * any pointer. */
uint64_t image_bytes_told(const void *image);
/* Fills image_* of module row `index` and keeps a copy in the spool. */
void image_record(const void *image, uint32_t index);
/* Copies an image that the driver refused, so of which nothing is believed, into the spool as number `number`; false =
 * it could not be read to an end, or is too large. */
bool image_keep_refused(const void *image, uint32_t number);
/* A second row of the same image (a library in another context) gets the first row's image_* and file. */
void image_share(uint32_t from, uint32_t to);

#endif
