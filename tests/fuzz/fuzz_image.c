/* fuzz_image.c - any bytes as the image of a module, to its PTX. */
#include "fuzz/fuzz_targets.h"

#include <stdlib.h>

#include "sass/ptx.h"

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    char *text = NULL;
    struct wsdbg_error *error = wsdbg_ptx_of_image(&(struct wsdbg_image){bytes, count}, 1 << 20, &text);
    wsdbg_error_destroy(error);
    free(text);
    return 0;
}
