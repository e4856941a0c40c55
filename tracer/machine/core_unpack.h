/* core_unpack.h - opens a core dump for reading at any place: gzip'd ones are unpacked first, into a file without a
 * name. */
#ifndef WSDBG_MACHINE_CORE_UNPACK_H
#define WSDBG_MACHINE_CORE_UNPACK_H

#include <stdint.h>

#include "base/error.h"

/* The caller closes *fd.  BAD_INPUT for what is not a file, ends early, or unpacks to more or for longer
 * than base/limits.h allows. */
struct wsdbg_error *core_unpack(const char *path, int *fd, uint64_t *byte_count);

#endif
