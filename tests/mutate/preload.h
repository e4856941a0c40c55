/* preload.h - what the parts of the preloaded library share. */
#ifndef WSDBG_MUTATE_PRELOAD_H
#define WSDBG_MUTATE_PRELOAD_H

#include <stdbool.h>

/* preload.c: the image that the driver gets in the place of one that the program passes, or of a file; NULL: the file
 * itself. */
const void *preload_image(const void *image);
const void *preload_file(const char *path);

/* preload_calls.c: whether the device is a simulated one. */
bool preload_is_simulated(void);

#endif
