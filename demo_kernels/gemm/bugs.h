/* bugs.h - the table bugs.def and the compiled images, for the host. */
#ifndef GEMM_BUGS_H
#define GEMM_BUGS_H

#include <stdio.h>

enum bug_kind { BUG_HANG, BUG_RACE, BUG_FAULT, BUG_SLOW };

struct bug {
    const char *name;
    const char *cause;   /* the code wsdbg is to report */
    const char *role;    /* at fault; "" = none alone */
    const char *barrier; /* that the victims wait on; "" = none */
    enum bug_kind kind;
    int m, n, k, ctas; /* with which it shows; ctas 0 = one a multiprocessor */
    const char *story;
    const void *plain, *probes, *bare; /* fatbins */
};

enum variant { VARIANT_PLAIN, VARIANT_OFF, VARIANT_PROBES, VARIANT_BARE };

/* Owned by the program; NULL when there is no such bug. */
const struct bug *bug_find(const char *name);

/* The fatbin of `variant`, of the correct kernel when `bug` is NULL; NULL when it is not built. */
const void *gemm_image(enum variant variant, const struct bug *bug);

/* The fatbin of `variant` of the correct kernel with tiles of so many columns (tiles.def); NULL when there is none. */
const void *gemm_tile_image(enum variant variant, int columns);

/* One line a bug: name, cause, role, barrier, kind, story, separated by tabs. */
void bugs_print(FILE *out);

#endif
