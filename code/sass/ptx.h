/* ptx.h - the PTX of a module's image: what a reader can be shown where the source is not at hand. */
#ifndef WSDBG_SASS_PTX_H
#define WSDBG_SASS_PTX_H

#include "sass/fatbin.h"

/* The PTX in an image (PTX text, a fatbin, a cubin), as text: of the newest architecture up to sm_90a.  The caller
 * frees *out.  An error says why there is none: NOT_FOUND where the image holds no PTX, BAD_INPUT or VERSION where it
 * cannot be read, or is longer than `most` bytes. */
struct wsdbg_error *wsdbg_ptx_of_image(const struct wsdbg_image *image, size_t most, char **out);

#endif
