/* images.c - see images.h.  Reads a fatbin, writes nothing. */
#include "sass/images.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct bytes read_image(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.fatbin", WSDBG_IMAGES, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    struct bytes image = {malloc(1 << 16), 0};
    assert_non_null(image.at);
    image.count = fread(image.at, 1, 1 << 16, file);
    fclose(file);
    assert_true(image.count > 64);
    return image;
}
