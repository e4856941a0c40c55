/* engine_parts.c - what hangs on warps and CTAs for synchronisation and engines goes with their memory. */
#include "hopper/copy_async.h"
#include "hopper/found.h"
#include "hopper/mbarrier.h"
#include "hopper/race.h"
#include "hopper/wgmma.h"

#include <stdlib.h>

void hopper_warp_freed(struct hopper_warp *warp)
{
    hopper_wgmma_free(warp);
    hopper_copies_free(warp);
    hopper_found_free(warp);
    hopper_race_warp_freed(warp);
    free(warp->bulk);
    warp->bulk = NULL;
}

void hopper_cta_freed(struct hopper_cta *cta)
{
    hopper_mbarriers_free(cta);
}
