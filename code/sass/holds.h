/* holds.h - for which architectures an image holds code, and in what form: what decides whether a device can run it. */
#ifndef WSDBG_SASS_HOLDS_H
#define WSDBG_SASS_HOLDS_H

#include "sass/fatbin.h"

/* More than an image has in practice. */
enum { WSDBG_HOLDS_MOST = 32 };

struct wsdbg_code_form {
    bool is_ptx;            /* else machine code */
    uint32_t architecture;  /* 90 = sm_90 */
    bool architecture_only; /* the "a" of sm_90a; of a cubin by itself not known, and false */
    uint32_t ptx_version;   /* 10 * major + minor, 0 = not known */
};

/* The different forms of an image (PTX text, a fatbin, a cubin), in its order. */
struct wsdbg_holds {
    struct wsdbg_code_form forms[WSDBG_HOLDS_MOST];
    size_t count;
};
struct wsdbg_error *wsdbg_holds_read(const struct wsdbg_image *image, struct wsdbg_holds *out);

/* "PTX for sm_80, machine code for sm_90a"; "nothing". */
void wsdbg_holds_text(const struct wsdbg_holds *holds, char *out, size_t bytes);

/* Whether a device of compute capability `capability` (90 = 9.0) can run such code, as the CUDA programming guide says:
 * PTX on its architecture and newer ones, machine code on those of the same major number and not before its own, and
 * what is made for an architecture alone only there. */
bool wsdbg_code_form_runs(const struct wsdbg_code_form *form, uint32_t capability);

#endif
