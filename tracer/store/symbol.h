/* symbol.h - a kernel's name as its author wrote it. */
#ifndef WSDBG_STORE_SYMBOL_H
#define WSDBG_STORE_SYMBOL_H

#include <stddef.h>

/* The qualified name in an Itanium-mangled symbol, template arguments as "<…>", parameters left out.  Any
 * form not understood is copied as it is. */
void wsdbg_symbol_name(const char *symbol, char *out, size_t bytes);

#endif
