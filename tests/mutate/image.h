/* image.h - the image of a module with other PTX in it. */
#ifndef WSDBG_MUTATE_IMAGE_H
#define WSDBG_MUTATE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* The PTX of an image as a program passes it to the driver (a text, a fatbin, a fatbin's wrapper, a cubin): the caller
 * frees *out.  False: *out says why there is none, and is freed by the caller as well. */
bool image_ptx(const void *image, char **out);
/* The image with `ptx` in the place of its own: a text of a text; of a fatbin one with this PTX as its only entry, and
 * with the machine code of the old one before it where `keeps_cubin` (a simulator takes the registers from it and
 * executes the PTX; a GPU would execute the machine code).  The caller frees it; NULL = out of memory, or not such an
 * image. */
void *image_with(const void *image, const char *ptx, bool keeps_cubin);

#endif
