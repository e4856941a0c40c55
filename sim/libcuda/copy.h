/* copy.h - a copy as the calls describe it, checked, and the operation's part that it becomes. */
#ifndef WSDBG_LIBCUDA_COPY_H
#define WSDBG_LIBCUDA_COPY_H

#include "libcuda/operation.h"

/* Device memory must be memory; with the lock held. */
CUresult copy_make(const struct cu_copy_3d *given, struct copy_operation *out);

#endif
