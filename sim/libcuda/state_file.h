/* state_file.h - what the device is doing, for wsdbg, while nothing on it can move; see wsdbg/device_state.h. */
#ifndef WSDBG_LIBCUDA_STATE_FILE_H
#define WSDBG_LIBCUDA_STATE_FILE_H

#include "libcuda/driver.h"

/* Puts the state of the context's device in place, where wsdbg has a folder for it; one that shows the same already
 * stays.  The first error is printed; after it nothing is written any more.  With the lock held. */
void state_file_publish(struct context *context, enum wsdbg_gpu_outcome outcome);
/* Leaves the state in which a fault ended everything, for as long as the session's folder is there.  Likewise. */
void state_file_publish_fault(struct context *context);
/* Tells wsdbg that instructions are executed, so that it does not take a long kernel for a stall.  Called on the
 * device's thread; needs no lock. */
void state_file_works(struct context *context);
/* Takes it away: something moves, or the context ends.  With the lock held. */
void state_file_withdraw(struct context *context);

#endif
