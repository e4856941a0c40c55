/* device_events.h - what the GPU has told the driver of beside the end of work; see device_events.c. */
#ifndef WSDBG_SHIM_DEVICE_EVENTS_H
#define WSDBG_SHIM_DEVICE_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How often, while an inspector stays.  It changes 0.5 ms after the call that waited for a failed kernel has come back,
 * at the latest. */
extern _Atomic uint32_t device_events;
/* False: the driver's event thread has not been met, and device_events tells nothing. */
extern _Atomic bool device_events_are_seen;

#endif
