/* integer.h - what the executors of integer arithmetic share. */
#ifndef WSDBG_HOPPER_INTEGER_H
#define WSDBG_HOPPER_INTEGER_H

#include "hopper/values.h"

/* Labels of a switch over types. */
#define BITS16          \
    case WSDBG_PTX_U16: \
    case WSDBG_PTX_S16: \
    case WSDBG_PTX_B16
#define BITS32          \
    case WSDBG_PTX_U32: \
    case WSDBG_PTX_S32: \
    case WSDBG_PTX_B32
#define BITS64          \
    case WSDBG_PTX_U64: \
    case WSDBG_PTX_S64: \
    case WSDBG_PTX_B64

static inline int32_t hopper_saturate(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static inline bool hopper_has_flag(const struct hopper_step *step, uint32_t flag)
{
    return (step->instruction->flags & flag) != 0;
}

#endif
