/* symbol.h - a kernel's name as its author wrote it. */
#ifndef WSDBG_MODEL_SYMBOL_H
#define WSDBG_MODEL_SYMBOL_H

#include <stddef.h>

/* The qualified name in an Itanium-mangled symbol with its template arguments (symbol_arguments.h), parameters left out.
 * Arguments of a form that is not understood are "<…>", any other such form is copied as it is.  A name as long as a
 * session keeps one may be cut: of its arguments there is what was kept. */
void wsdbg_symbol_name(const char *symbol, char *out, size_t bytes);

/* The name of a variable, also of one that is local to a function; a symbol that is not understood stays as it is. */
void wsdbg_symbol_variable(const char *symbol, char *out, size_t bytes);

#endif
