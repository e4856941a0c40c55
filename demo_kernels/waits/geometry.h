/* geometry.h - what the kernels of waits.cu and the host program agree on. */
#ifndef WAITS_GEOMETRY_H
#define WAITS_GEOMETRY_H

enum {
    COPY_BYTES = 1024,
    BIG_SHARED_BYTES = 200 * 1024, /* dynamic: with it one CTA fills a multiprocessor */
    MANY_CTAS = 1024               /* more than any GPU has multiprocessors */
};

#endif
