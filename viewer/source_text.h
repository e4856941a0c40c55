/* source_text.h - what can be read of a module, cut into lines: its source file or, without one, its PTX.  Reads it
 * through the source; owns a copy. */
#ifndef VIEWER_SOURCE_TEXT_H
#define VIEWER_SOURCE_TEXT_H

#include "viewer/picture.h"

struct viewer_source_text {
    char *path;       /* of the source file; NULL = not known */
    char *text;       /* NULL = not known; lines end with '\0', tabs are blanks */
    uint32_t *starts; /* by line number - 1 */
    uint32_t line_count;
    bool is_ptx;            /* text is the module's PTX */
    char *text_missing;     /* why it is not the source; NULL = it is, or not known */
    char *ptx_missing;      /* why it is not PTX either */
    uint32_t (*origins)[2]; /* of PTX, by line number - 1: the lines of the source that it comes from, 0 = none */
    uint32_t origin_count;  /* lines of PTX with an origin */
};

/* Reads what there is of a module into `out` (all zero at first).  If nothing is known that is no error. */
struct wsdbg_error *viewer_source_text_read(struct viewer_source *source, uint32_t module,
                                            struct viewer_source_text *out);
void viewer_source_text_deinit(struct viewer_source_text *text);
/* Line `number` (from 1); NULL when there is none. */
const char *viewer_source_text_line(const struct viewer_source_text *text, uint32_t number);
/* Whether line `number` of the text belongs to the site at line `site_line` of the source: it is that line and can be
 * a probe's, or it is PTX that comes from there. */
bool viewer_source_text_shows(const struct viewer_source_text *text, uint32_t number, uint32_t site_line);
/* The first such line of the text; 0 = none. */
uint32_t viewer_source_text_find(const struct viewer_source_text *text, uint32_t site_line);
/* Whether line `number` can be a probe's: it or one of the few before it, which a call may span, calls a macro (an
 * upper-case name; probes are macros, often wrapped in the author's own). */
bool viewer_source_text_has_probe(const struct viewer_source_text *text, uint32_t number);

#endif
