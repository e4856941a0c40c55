/* symbol.h - a kernel's name as its author wrote it. */
#ifndef WSDBG_MODEL_SYMBOL_H
#define WSDBG_MODEL_SYMBOL_H

#include <stddef.h>

/* The qualified name in an Itanium-mangled symbol, template arguments as "<…>", parameters left out.  Any
 * form not understood is copied as it is, but of a name that is as long as a session keeps one, and so may be cut,
 * the part before arguments that are not whole is given, with "<…" behind it. */
void wsdbg_symbol_name(const char *symbol, char *out, size_t bytes);

#endif
