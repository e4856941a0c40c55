/* execute.h - one function for each row of ptx/instructions.def.  Private to hopper/. */
#ifndef WSDBG_HOPPER_EXECUTE_H
#define WSDBG_HOPPER_EXECUTE_H

#include "hopper/warp.h"

#define PTX(id, ...) enum hopper_outcome hopper_do_##id(struct hopper_step *step);
#include "ptx/instructions.def"
#undef PTX

#endif
