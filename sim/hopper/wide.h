/* wide.h - the executors of mov, ld, st and atom where the type is .b128; see execute_wide.c.  Private to hopper/. */
#ifndef WSDBG_HOPPER_WIDE_H
#define WSDBG_HOPPER_WIDE_H

#include "hopper/warp.h"

enum hopper_outcome hopper_wide_mov(struct hopper_step *step);
enum hopper_outcome hopper_wide_ld(struct hopper_step *step);
enum hopper_outcome hopper_wide_st(struct hopper_step *step);
enum hopper_outcome hopper_wide_atom(struct hopper_step *step);

#endif
