/* name_text.c - see name_text.h. */
#include "host/name_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void wsdbg_host_name_put(const char *text, char *out, size_t bytes)
{
    char *escaped = wsdbg_text_escape(text);
    const char *from = escaped ? escaped : "";
    const size_t length = strlen(from);
    const bool is_long = length >= bytes && bytes > sizeof "...";
    if (is_long)
        from += length - (bytes - sizeof "...");
    while (is_long && (*from & 0xc0) == 0x80) /* the middle of a character */
        from++;
    snprintf(out, bytes, "%s%s", is_long ? "..." : "", from);
    free(escaped);
}
