/* image.h - takes the PTX out of a module's image, and makes an image with other PTX.
 *
 * Reads: an image as a program passes it to the driver.  Writes: new images.
 */
#ifndef WSDBG_MUTATE_IMAGE_H
#define WSDBG_MUTATE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* The PTX of an image: PTX text, a fatbin, a fatbin's wrapper or a cubin.  False: *out says why it has none.  The
 * caller frees *out in both cases. */
bool image_ptx(const void *image, char **out);
/* The image with `ptx` instead of its own PTX: text for text, a fatbin for a fatbin.  The new fatbin has no other PTX.
 * With `keeps_cubin` it keeps the old machine code: the simulator takes register counts from it and executes the PTX. A
 * GPU would execute the machine code.  The caller frees the image; NULL = out of memory, or a fatbin without PTX. */
void *image_with(const void *image, const char *ptx, bool keeps_cubin);

#endif
