/* copy_async.h - cp.async of one warp: groups, and arrivals that wait for copies.  Private to hopper/. */
#ifndef WSDBG_HOPPER_COPY_ASYNC_H
#define WSDBG_HOPPER_COPY_ASYNC_H

#include "hopper/copy_groups.h"

void hopper_copies_free(struct hopper_warp *warp);

#endif
