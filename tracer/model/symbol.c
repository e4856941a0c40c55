/* symbol.c - see symbol.h.  Understands _Z [N|L] (length name [I…E])* [E], the last [I… cut off in names of full length
 * (those of CUTLASS's kernels have thousands of characters); anything else stays mangled.  What arguments say is read
 * by symbol_arguments.c.
 *
 * Names come from images and dumps of unknown origin: a whole demangler expands their substitutions, of which some
 * dozens give a text that never ends.  This reads a name once, from left to right. */
#include "model/symbol.h"

#include "model/snapshot.h"
#include "model/symbol_arguments.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads "<length><identifier>" and appends it; NULL if it is not there. */
static const char *read_name(const char *at, char *out, size_t bytes, bool first)
{
    char *end;
    if (!isdigit((unsigned char)*at))
        return NULL;
    const unsigned long length = strtoul(at, &end, 10);
    if (length == 0 || length > strlen(end))
        return NULL;
    const size_t used = strlen(out);
    snprintf(out + used, bytes - used, "%s%.*s", first ? "" : "::", (int)length, end);
    return end + length;
}

/* Past "S_", "S1_", "St", "T_", "T0_". */
static const char *skip_substitution(const char *at)
{
    if (*at == 'S' && islower((unsigned char)at[1]))
        return at + 2;
    at++;
    while (isdigit((unsigned char)*at) || isupper((unsigned char)*at))
        at++;
    return *at == '_' ? at + 1 : NULL;
}

static const char *skip_name(const char *at)
{
    char scratch[8] = "";
    return read_name(at, scratch, sizeof scratch, true);
}

/* "N(name | substitution)*E", without arguments. */
static const char *skip_nested(const char *at)
{
    at++;
    while (at && *at != 'E')
        at = *at == 'S' ? skip_substitution(at) : skip_name(at);
    return at ? at + 1 : NULL;
}

/* A literal "L<type><value>E": its type may be a name, that of an enumeration. */
static const char *skip_literal(const char *at)
{
    at++;
    if (*at == '_' || *at == 'T')
        return NULL;
    if (*at == 'N')
        at = skip_nested(at);
    else if (*at == 'S')
        at = skip_substitution(at);
    else if (isdigit((unsigned char)*at))
        at = skip_name(at);
    at = at ? strchr(at, 'E') : NULL;
    return at ? at + 1 : NULL;
}

/* Past "I…E" with everything nested in it; NULL where that is not certain. */
static const char *skip_arguments(const char *at)
{
    int depth = 0;
    do {
        if (*at == '\0' || *at == 'X')
            return NULL;
        if (isdigit((unsigned char)*at)) {
            at = skip_name(at);
        } else if (*at == 'S' || *at == 'T') {
            at = skip_substitution(at);
        } else if (*at == 'L') {
            at = skip_literal(at);
        } else {
            depth += *at == 'I' || *at == 'N' || *at == 'J' || *at == 'F';
            depth -= *at == 'E';
            at++;
        }
    } while (at && depth > 0);
    return at;
}

/* Past the name of a namespace that no source has: the compiler's for what is local to a file.  NULL = another name. */
static const char *skip_local_namespace(const char *at)
{
    char *end;
    if (!isdigit((unsigned char)*at))
        return NULL;
    const unsigned long length = strtoul(at, &end, 10);
    const bool is_local = strncmp(end, "_GLOBAL__N_", 11) == 0 || strncmp(end, "_INTERNAL_", 10) == 0;
    return is_local && length <= strlen(end) ? end + length : NULL;
}

/* The part of a qualified name behind its last namespace. */
static const char *last_part(const char *name)
{
    const char *last = name;
    for (const char *at = name; (at = strstr(at, "::")); at += 2)
        last = at + 2;
    return last;
}

static bool demangle(const char *at, bool may_be_cut, char *out, size_t bytes)
{
    struct wsdbg_symbol_components components;
    components.count = 0; /* its texts count up to there */
    if (strncmp(at, "_Z", 2) != 0)
        return false;
    at += 2;
    const bool nested = *at == 'N';
    at += nested || *at == 'L'; /* L: a static function */
    bool first = true;
    do {
        const char *after_local = nested ? skip_local_namespace(at) : NULL;
        if (after_local) {
            wsdbg_symbol_components_add(&components, "");
            at = after_local;
            continue;
        }
        at = read_name(at, out, bytes, first);
        first = false;
        if (!at)
            return false;
        wsdbg_symbol_components_add(&components, last_part(out));
        if (*at == 'I') {
            if (!wsdbg_symbol_arguments(at, &components, may_be_cut, out, bytes))
                strncat(out, "<…>", bytes - strlen(out) - 1);
            wsdbg_symbol_components_add(&components, ""); /* only what is local to a class template refers to it */
            at = nested ? skip_arguments(at) : at;
            if (!at && may_be_cut)
                return true;
        }
    } while (at && nested && *at != 'E');
    return at && !first;
}

/* Behind what compilers put before a symbol.  With relocatable device code nvcc calls a static kernel
 * __nv_static_<length>_<so many characters, from the file's name>_<symbol>; ptxas calls a function that it keeps with
 * one caller $caller$function. */
static const char *skip_prefix(const char *symbol)
{
    static const char local[] = "__nv_static_";
    if (*symbol == '$')
        return strrchr(symbol, '$') + 1;
    if (strncmp(symbol, local, sizeof local - 1) != 0 || !isdigit((unsigned char)symbol[sizeof local - 1]))
        return symbol;
    char *file;
    const unsigned long length = strtoul(symbol + sizeof local - 1, &file, 10);
    const size_t left = strlen(file);
    const bool fits = *file == '_' && left > 2 && length < left - 2 && file[length + 1] == '_';
    return fits ? file + length + 2 : symbol;
}

void wsdbg_symbol_name(const char *symbol, char *out, size_t bytes)
{
    const bool may_be_cut = strlen(symbol) + 1 >= sizeof((struct wsdbg_function *)NULL)->name;
    const char *last = skip_prefix(symbol);
    char name[512] = "";
    const bool done = demangle(last, may_be_cut, name, sizeof name);
    snprintf(out, bytes, "%s", done ? name : last);
}

/* "<length><identifier>" and perhaps a number that tells several of one name apart, "_0" or "__10_", to the end. */
static bool is_last_name(const char *at, const char **name, size_t *length)
{
    char *end;
    if (!isdigit((unsigned char)*at))
        return false;
    const unsigned long count = strtoul(at, &end, 10);
    if (count == 0 || count > strlen(end))
        return false;
    *name = end;
    *length = count;
    const char *rest = end + count;
    return strspn(rest, "_0123456789") == strlen(rest) && (*rest == '_' || !*rest);
}

void wsdbg_symbol_variable(const char *symbol, char *out, size_t bytes)
{
    const char *name;
    size_t length;
    if (strncmp(symbol, "_ZZ", 3) != 0) {
        wsdbg_symbol_name(symbol, out, bytes);
        return;
    }
    snprintf(out, bytes, "%s", symbol);
    for (const char *at = strchr(symbol, 'E'); at; at = strchr(at + 1, 'E'))
        if (is_last_name(at + 1, &name, &length)) {
            snprintf(out, bytes, "%.*s", (int)length, name);
            return;
        }
}
