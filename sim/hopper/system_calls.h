/* system_calls.h - calls of functions that the system brings; see system_calls.c. */
#ifndef WSDBG_HOPPER_SYSTEM_CALLS_H
#define WSDBG_HOPPER_SYSTEM_CALLS_H

#include "hopper/warp.h"

/* The step's lanes call a function without a body. */
enum hopper_outcome hopper_call_system(const struct hopper_step *step, const struct wsdbg_ptx_function *callee);

#endif
