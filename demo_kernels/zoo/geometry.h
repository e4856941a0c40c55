/* geometry.h - what the kernels of the zoo and the host program agree on.
 *
 * The shapes can be varied when the images and the program are built (-DSTAGES=3): every case keeps its defect.  The
 * targets zoo-SHAPE do so.
 */
#ifndef ZOO_GEOMETRY_H
#define ZOO_GEOMETRY_H

#include <stdint.h>

#ifndef STAGES
#define STAGES 2
#endif
#ifndef COPY_BYTES
#define COPY_BYTES 1024 /* of one stage */
#endif
#ifndef CONSUMER_GROUPS
#define CONSUMER_GROUPS 1 /* warpgroups that empty the ring */
#endif
#ifndef CLUSTER_CTAS
#define CLUSTER_CTAS 2 /* of the cases that are a cluster */
#endif
#ifndef GRID_CTAS
#define GRID_CTAS 2 /* a multiple of CLUSTER_CTAS */
#endif

#define WARPGROUP_THREADS 128
#define RING_THREADS (WARPGROUP_THREADS * (1 + CONSUMER_GROUPS)) /* of a CTA with a ring */
#define WORDS 64                       /* of global memory, zero at first */
#define BIG_SHARED_BYTES (200 * 1024)  /* dynamic: with it one CTA fills a multiprocessor */
#define CTAS_TOO_MANY 16               /* of the cases that launch more CTAs than fit */

/* The parameter of every kernel. */
struct zoo_input {
    uint32_t *words;             /* WORDS of global memory */
    const unsigned char *source; /* to copy from: 64 KiB */
    uint32_t *host_word;         /* in the host's memory; the host sets it to 1 after a while where a case says so */
    uint64_t work_ns;            /* how long a decoy works, by the GPU's clock */
    uint32_t part;               /* 1 in the second launch of a case that has two */
};
#define SOURCE_BYTES (64 * 1024)

#endif
