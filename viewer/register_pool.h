/* register_pool.h - the registers of a CTA: what its warps hold and ask for, in the four register files of its SM.
 *
 * Warps whose numbers are equal modulo 4 share a file, and none gets what another file has free.  A CTA's pool is what
 * its warps got at launch.  Amounts are registers (32 lanes of a warp counted), unless a name says a thread.
 */
#ifndef VIEWER_REGISTER_POOL_H
#define VIEWER_REGISTER_POOL_H

#include "model/snapshot.h"

#define VIEWER_REGISTER_FILES 4u

struct viewer_register_file {
    struct wsdbg_optional_u32 total; /* the CTA's share at launch */
    struct wsdbg_optional_u32 held;
    struct wsdbg_optional_u32 asked; /* more than its askers hold */
    uint32_t warps;                  /* seen */
};

struct viewer_register_pool {
    struct viewer_register_file files[VIEWER_REGISTER_FILES];
    struct wsdbg_optional_u32 launch; /* a thread, rounded up to what is given out at once */
};

struct viewer_register_pool viewer_register_pool_read(const struct wsdbg_snapshot *snapshot, uint32_t cta);

#endif
