/* name_text.h - names and paths of the program, as reports may print them. */
#ifndef WSDBG_HOST_NAME_TEXT_H
#define WSDBG_HOST_NAME_TEXT_H

#include <stddef.h>

/* What a terminal would obey is escaped.  Of a text that is too long the end is kept, behind "...": of a path it tells
 * most. */
void wsdbg_host_name_put(const char *text, char *out, size_t bytes);

#endif
