/* ptx_lines.h - which lines of a source file the lines of a PTX text come from, as its .file and .loc directives say
 * (nvcc -lineinfo writes them). */
#ifndef VIEWER_PTX_LINES_H
#define VIEWER_PTX_LINES_H

#include <stdint.h>

/* The number that the .file directives give to `path`, compared from its end where one of the two is relative;
 * 0 = none, or more than one could be it. */
uint32_t viewer_ptx_file(const char *ptx, const char *path);
/* The lines of file `number` that the PTX line `line` names: [0] as its own, [1] as the place that it was inlined at;
 * 0 = none. */
void viewer_ptx_origin(const char *line, uint32_t number, uint32_t out[2]);

#endif
