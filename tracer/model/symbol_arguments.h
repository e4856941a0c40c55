/* symbol_arguments.h - template arguments in an Itanium-mangled symbol, as text that people can tell kernels apart by. */
#ifndef WSDBG_MODEL_SYMBOL_ARGUMENTS_H
#define WSDBG_MODEL_SYMBOL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

enum { WSDBG_SYMBOL_COMPONENTS = 160, WSDBG_SYMBOL_TEXT_BYTES = 240 };

/* What "S_", "S0_", … stand for, in the order in which the symbol brings it; too many: not known. */
struct wsdbg_symbol_components {
    char text[WSDBG_SYMBOL_COMPONENTS][WSDBG_SYMBOL_TEXT_BYTES];
    size_t count;
};

/* A prefix of the symbol's own name that arguments may refer to. */
void wsdbg_symbol_components_add(struct wsdbg_symbol_components *components, const char *text);

/* Reads "I…E" at `at` and appends "<…>" to `out` (a string): names without namespaces, cute's tuples as (a,b), integral
 * constants as their numbers, at most WSDBG_SYMBOL_TEXT_BYTES, "…" where something is left out.  A symbol that
 * `may_be_cut` may end before the arguments do.  False: a form that is not understood; `out` is as before. */
bool wsdbg_symbol_arguments(const char *at, struct wsdbg_symbol_components *components, bool may_be_cut, char *out,
                            size_t bytes);

#endif
