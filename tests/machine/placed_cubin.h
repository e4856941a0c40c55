/* placed_cubin.h - a cubin as a driver might have loaded it: its functions and variables have addresses, and its calls
 * lead there.
 */
#ifndef WSDBG_TEST_PLACED_CUBIN_H
#define WSDBG_TEST_PLACED_CUBIN_H

#include "sass/fatbin.h"

/* Where the variables of the first section of variables are. */
#define PLACED_VARIABLES_AT UINT64_C(0x7f1300000000)

/* Reads a file; the caller frees the bytes. */
struct wsdbg_image placed_cubin_read(const char *path);

#endif
