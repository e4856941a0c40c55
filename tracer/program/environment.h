/* environment.h - the environment of the traced program: the caller's, the observer library and WSDBG_* added. */
#ifndef WSDBG_PROGRAM_ENVIRONMENT_H
#define WSDBG_PROGRAM_ENVIRONMENT_H

#include "base/error.h"

struct wsdbg_environment_options {
    const char *shim; /* path of the observer library */
    const char
        *simulator; /* folder of the libcuda.so.1 and libcudart.so.* that stand in for NVIDIA's; NULL = NVIDIA's own */
    const char *simulator_reason; /* told to a program that uses CUDA; NULL = nothing is */
    const char *explore;          /* told to the simulator; NULL = nothing is */
    const char *races;            /* of WSDBG_ENV_RACES; NULL = races are not looked for */
    const char *rank_from;        /* variable with each process's rank, NULL = that of a known launcher */
    const char *launch_sites;     /* of WSDBG_ENV_LAUNCH_SITES; NULL = the shim's own default */
    const char *armed;            /* of WSDBG_ENV_ARM, without a session; NULL = not armed */
    const char *session;          /* NULL = there is none */
    const char *spool;            /* folder for module images */
    const char *observer;         /* "driver" or "cupti" */
    const char *history;          /* events a warp, decimal; NULL = the shim's own default */
    const char *ring;             /* of WSDBG_ENV_RING; NULL = in device memory */
    const char *attach_first;     /* of WSDBG_ENV_ATTACH_FIRST; NULL = no launch waits */
    const char *filters;          /* of WSDBG_ENV_FILTERS; NULL = not known */
    const char *pid_namespace;    /* of WSDBG_ENV_PID_NAMESPACE; NULL = not known */
    const char *markers;          /* "1": the shim says whether work gets done; NULL = it does not */
    const char *core_folder;      /* where the driver puts its pipe and GPU core dumps; NULL = none are made */
};

/* A NULL-terminated environment made from `from`.  Variables of another wsdbg session in it are replaced, an
 * LD_PRELOAD is kept behind the shim, an LD_LIBRARY_PATH behind the simulator's folder.  Freed with
 * wsdbg_environment_destroy. */
struct wsdbg_error *wsdbg_environment_create(const struct wsdbg_environment_options *options, char **from, char ***out);
void wsdbg_environment_destroy(char **environment);

#endif
