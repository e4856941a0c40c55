/* placed_cubin.h - a cubin as a driver might have loaded it: its functions have addresses, and its calls lead there. */
#ifndef WSDBG_TEST_PLACED_CUBIN_H
#define WSDBG_TEST_PLACED_CUBIN_H

#include "sass/fatbin.h"

/* Reads a file; the caller frees the bytes. */
struct wsdbg_image placed_cubin_read(const char *path);

#endif
