/* quote.h - text of unknown origin inside JSON, XML and DOT: always well formed, whatever the bytes are. */
#ifndef WSDBG_STORE_QUOTE_H
#define WSDBG_STORE_QUOTE_H

#include <stdio.h>

/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void wsdbg_put_json_string(FILE *out, const char *text);
/* Text or attribute content of XML; what XML cannot hold stands as \xNN, as in the text report. */
void wsdbg_put_xml(FILE *out, const char *text);
/* The same of a formatted text. */
void wsdbg_print_xml(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A quoted DOT string; \n stays a line break. */
void wsdbg_put_dot_string(FILE *out, const char *text);

#endif
