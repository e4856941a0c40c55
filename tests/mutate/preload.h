/* preload.h - what preload.c (PTX) and preload_calls.c (the driver's calls) need from each other. */
#ifndef WSDBG_MUTATE_PRELOAD_H
#define WSDBG_MUTATE_PRELOAD_H

#include <stdbool.h>

/* preload.c: the image that the driver gets instead of the program's; `image` itself where nothing is replaced. */
const void *preload_image(const void *image);
/* The same for a file; NULL: the driver loads the file. */
const void *preload_file(const char *path);

/* preload_calls.c: whether device 0 is simulated. */
bool preload_is_simulated(void);

#endif
