/* images.h - the images beside this file, for the tests. */
#ifndef TESTS_SASS_IMAGES_H
#define TESTS_SASS_IMAGES_H

#include <stddef.h>

struct bytes {
    unsigned char *at;
    size_t count;
};

/* The fatbin `name`; the caller frees at.  Fails the running test when it cannot be read. */
struct bytes read_image(const char *name);

#endif
