/* paths.h - where this wsdbg's own files are: beside the executable (a build tree) or where it was installed. */
#ifndef WSDBG_CMD_PATHS_H
#define WSDBG_CMD_PATHS_H

#include <stdbool.h>

#include "base/error.h"

/* The preloaded observer; the error lists where it was looked for.  The caller frees. */
struct wsdbg_error *wsdbg_path_shim(char **out);
/* The CUPTI observer's library; error as above. */
struct wsdbg_error *wsdbg_path_cupti(char **out);
/* The folder of the simulator's libcuda.so.1; error as above. */
struct wsdbg_error *wsdbg_path_simulator(char **folder);
/* A program that lies beside wsdbg ("gemm"). */
struct wsdbg_error *wsdbg_path_program(const char *name, char **out);
/* The recorded session of a demo. */
struct wsdbg_error *wsdbg_path_recording(const char *name, char **out);
/* The folder of recorded sessions. */
struct wsdbg_error *wsdbg_path_recordings(char **out);

#endif
