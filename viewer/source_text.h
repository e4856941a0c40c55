/* source_text.h - a module's source file cut into lines.  Reads it through the source; owns a copy. */
#ifndef VIEWER_SOURCE_TEXT_H
#define VIEWER_SOURCE_TEXT_H

#include "viewer/picture.h"

struct viewer_source_text {
    char *path;       /* NULL = not known */
    char *text;       /* NULL = not known; lines end with '\0', tabs are blanks */
    uint32_t *starts; /* by line number - 1 */
    uint32_t line_count;
};

/* Reads the file of a module into `out` (all zero at first).  A file that is not known is no error. */
struct wsdbg_error *viewer_source_text_read(struct viewer_source *source, uint32_t module,
                                            struct viewer_source_text *out);
void viewer_source_text_deinit(struct viewer_source_text *text);
/* Line `number` (from 1); NULL when there is none. */
const char *viewer_source_text_line(const struct viewer_source_text *text, uint32_t number);
/* Whether line `number` can be a probe's: it or one of the few before it, which a call may span, calls a macro (an
 * upper-case name; probes are macros, often wrapped in the author's own). */
bool viewer_source_text_has_probe(const struct viewer_source_text *text, uint32_t number);

#endif
