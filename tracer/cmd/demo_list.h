/* demo_list.h - the demos there are: the kernels of the programs built beside wsdbg, and the recordings. */
#ifndef WSDBG_CMD_DEMO_LIST_H
#define WSDBG_CMD_DEMO_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct wsdbg_demo {
    char name[64];
    const char *program; /* "gemm", NULL = only a recording is there */
    char bug[64];        /* what the program calls it, "" = it runs its correct kernel when no bug is named */
    char story[256];     /* one clause, "" = not known */
    bool recorded;
};

#define WSDBG_DEMOS_MAX 64

/* All demos found; returns how many. */
size_t wsdbg_demo_list(struct wsdbg_demo out[WSDBG_DEMOS_MAX]);

#endif
