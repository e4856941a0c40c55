/* lint_text.h - a finding of lint as lines of text, as compilers print theirs. */
#ifndef WSDBG_CMD_LINT_TEXT_H
#define WSDBG_CMD_LINT_TEXT_H

#include "base/sheet.h"
#include "cmd/lint_fold.h"

/* "gemm.cu:132: error: … [CODE]", below it the kernel, the kernels that share it, the notes and the fix, indented. */
void wsdbg_lint_text_print(const char *path, const struct wsdbg_lint_folded *folded, const struct wsdbg_sheet *out);
/* True where the file that was read is itself the PTX that the place's line is of. */
bool wsdbg_lint_text_is_line_of_file(const struct wsdbg_lint_subject *subject, const struct wsdbg_lint_place *place);

#endif
