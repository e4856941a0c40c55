/* module.h - one module as the rules see it: a cubin, the PTX it was compiled from, or one of both.
 *
 * Holds what is costly to make (parsed PTX, the table of lines) once it was asked for.
 */
#ifndef WSDBG_LINT_MODULE_H
#define WSDBG_LINT_MODULE_H

#include "ptx/parse.h"
#include "sass/cubin.h"
#include "sass/lines.h"

struct wsdbg_lint_module {
    const char *path; /* of the file */
    char name[384];   /* where in the file: "fatbin 3 sm_90a"; "" = the file is this module */
    bool is_specific; /* for sm_90a; known wherever the file says */
    bool is_specific_known;
    struct wsdbg_image code;     /* the cubin; empty where there is only PTX */
    struct wsdbg_cubin *cubin;   /* NULL likewise */
    struct wsdbg_image ptx_text; /* of the same module; empty where there is none */
    unsigned ptx_interests;      /* what stands in the text: enum wsdbg_lint_interest */
    const char *needs_specific;  /* a message in code for sm_90, up to its line's end; NULL = none, or it was said */

    /* Asked for through the functions below. */
    struct wsdbg_ptx_program *ptx;
    struct wsdbg_lines *lines, *ptx_lines;
    bool ptx_was_parsed, lines_were_opened, ptx_lines_were_opened;
    bool ptx_is_of_cubin;          /* what the cubin keeps */
    struct wsdbg_error *ptx_error; /* why its PTX could not be parsed; the module's */
};

/* True of an object that is not linked: its addresses are not what the code will have. */
bool wsdbg_lint_module_is_relocatable(const struct wsdbg_lint_module *module);
/* The parsed PTX: of `ptx_text`, else what a cubin with -lineinfo keeps, which has no places in the source.  NULL where
 * there is none or it cannot be parsed (ptx_error). */
const struct wsdbg_ptx_program *wsdbg_lint_module_ptx(struct wsdbg_lint_module *module);
/* The table of source lines, NULL without -lineinfo. */
const struct wsdbg_lines *wsdbg_lint_module_lines(struct wsdbg_lint_module *module);
/* From the machine code to the PTX that the cubin keeps: a table of lines, NULL where that is not what was parsed. */
const struct wsdbg_lines *wsdbg_lint_module_ptx_lines(struct wsdbg_lint_module *module);
/* Frees all but what `code` and `ptx_text` point to. */
void wsdbg_lint_module_close(struct wsdbg_lint_module *module);

#endif
