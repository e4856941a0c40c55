/* host_waits.h - whether the host can still write what a grid polls; see host_waits.c for the argument. */
#ifndef WSDBG_DIAGNOSE_HOST_WAITS_H
#define WSDBG_DIAGNOSE_HOST_WAITS_H

#include "diagnose/case.h"

/* The launch of a grid; NULL = not known. */
const struct wsdbg_launch *wsdbg_launch_of(const struct wsdbg_snapshot *snapshot, uint32_t grid);

/* A thread of the process that a driver call keeps until the case's grid is done, however short it has been there; NULL
 * = none is known. */
const struct wsdbg_host_thread *wsdbg_host_blocked(const struct wsdbg_case *c);

/* The same, where that call has lasted and no other thread of the process can go on by itself, so that none is free to
 * give the GPU anything: what the case's grid waits for the host will not bring, as far as seen.  NULL = it may. */
const struct wsdbg_host_thread *wsdbg_host_waits(const struct wsdbg_case *c);

/* True where a debugger attached while the case's grid may already have run.  From then on the driver delays new work
 * until the grid ends, so the grid may be waiting for work that only the debugger delays.  False if the program
 * has given the GPU no work since, as far as known, and none of its threads can give it any. */
bool wsdbg_host_is_held_back(const struct wsdbg_case *c);

#endif
