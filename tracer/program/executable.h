/* executable.h - whether the loader will put the observer into a program. */
#ifndef WSDBG_PROGRAM_EXECUTABLE_H
#define WSDBG_PROGRAM_EXECUTABLE_H

#include <stdbool.h>

#include "base/error.h"

/* An error that says why not: a program that gets other rights than its caller's, or one of another C library, which
 * would not even start.  `program` is what a shell would be given: a path, or a name that is looked for in PATH.  A file
 * that is not found or not understood is no error: what becomes of it is then seen. */
struct wsdbg_error *wsdbg_executable_check(const char *program);

/* Whether it is linked statically as a whole, so that no loader reads LD_PRELOAD for it.  The loader itself, which may
 * be called to start another program, is not. */
bool wsdbg_executable_is_static(const char *program);

#endif
