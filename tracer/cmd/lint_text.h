/* lint_text.h - a finding of lint as lines of text, as compilers print theirs. */
#ifndef WSDBG_CMD_LINT_TEXT_H
#define WSDBG_CMD_LINT_TEXT_H

#include <stdio.h>

#include "lint/kernel.h"

/* "gemm.cu:132: error: … [CODE]", below it the kernel, the notes and the fix, indented. */
void wsdbg_lint_text_print(const char *path, const struct wsdbg_lint_kernel *kernel,
                           const struct wsdbg_lint_finding *finding, bool colour, FILE *out);
/* True where the file that was read is itself the PTX that the place's line is of. */
bool wsdbg_lint_text_is_line_of_file(const struct wsdbg_lint_kernel *kernel, const struct wsdbg_lint_place *place);

#endif
