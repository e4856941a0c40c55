/* doctor.h - the checks of `wsdbg doctor`. */
#ifndef WSDBG_CMD_DOCTOR_H
#define WSDBG_CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum wsdbg_check_state { WSDBG_CHECK_OK, WSDBG_CHECK_NO, WSDBG_CHECK_UNKNOWN };

struct wsdbg_check {
    const char *name;
    enum wsdbg_check_state state;
    bool needed;        /* ring evidence does not work without it */
    bool location_only; /* a GPU on which wsdbg says where warps are, and no cause */
    char reason[512];   /* what was found */
    const char *lost;   /* what does not work for it, NULL = nothing */
};

#define WSDBG_CHECKS_MAX 32

/* Runs every check; returns how many rows were filled. */
size_t wsdbg_doctor_check(struct wsdbg_check out[WSDBG_CHECKS_MAX]);

#endif
