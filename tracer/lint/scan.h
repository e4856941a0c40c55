/* scan.h - what a kernel's code holds that a rule may be about, found without decoding it: most kernels hold nothing.
 */
#ifndef WSDBG_LINT_SCAN_H
#define WSDBG_LINT_SCAN_H

#include "sass/fatbin.h"

/* Bits. */
enum wsdbg_lint_interest {
    WSDBG_INTEREST_REGISTERS = 1 << 0, /* setmaxnreg */
    WSDBG_INTEREST_WGMMA = 1 << 1,     /* wgmma, its fence and its waits */
    WSDBG_INTEREST_MBARRIERS = 1 << 2,
    WSDBG_INTEREST_NAMED = 1 << 3,   /* bar, other than a __syncthreads */
    WSDBG_INTEREST_CLUSTER = 1 << 4, /* barrier.cluster */
    WSDBG_INTEREST_COPIES = 1 << 5,  /* tensor and bulk copies */
    WSDBG_INTEREST_GRIDS = 1 << 6,   /* griddepcontrol */
    WSDBG_INTEREST_MESSAGE = 1 << 7, /* in a module for sm_90: that it should be for sm_90a */
    WSDBG_INTEREST_ALL = (1 << 7) - 1
};

/* The interests of machine code of sm_90. */
unsigned wsdbg_lint_scan_code(const struct wsdbg_image *code);
/* The interests of PTX text: a word that stands there, be it in a comment. */
unsigned wsdbg_lint_scan_ptx(const char *text, size_t byte_count);

/* The message in the bytes of a cubin that says that it needs sm_90a; NULL where there is none. */
const char *wsdbg_lint_scan_message(const struct wsdbg_image *cubin);

#endif
