/* symbol_arguments.c - see symbol_arguments.h.
 *
 * Reads:  types, literals and argument packs of the Itanium C++ ABI, "5.1 External Names"; no expressions, function
 *         types or lambdas.
 * Writes: text.  Every text has a limit, and a substitution copies a text that was kept.  So a short symbol cannot
 *         expand to a long one.
 */
#include "model/symbol_arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELLIPSIS "…"

enum { DEPTH_MAX = 48 };

struct text {
    char bytes[WSDBG_SYMBOL_TEXT_BYTES];
};

struct reader {
    const char *at;
    struct wsdbg_symbol_components *components;
    int depth;
    bool failed;
    bool cut; /* the symbol ended */
};

static void read_type(struct reader *r, struct text *out);

/* ---- text ---- */

/* A text that is full ends in an ellipsis and takes nothing more. */
static void append(struct text *text, const char *more)
{
    const size_t used = strlen(text->bytes), room = sizeof text->bytes - sizeof ELLIPSIS;
    if (used > room)
        return;
    if (used + strlen(more) <= room)
        strcpy(text->bytes + used, more);
    else
        snprintf(text->bytes + used, sizeof text->bytes - used, "%.*s" ELLIPSIS, (int)(room - used), more);
}

static void set(struct text *text, const char *to)
{
    text->bytes[0] = '\0';
    append(text, to);
}

void wsdbg_symbol_components_add(struct wsdbg_symbol_components *components, const char *text)
{
    if (components->count < WSDBG_SYMBOL_COMPONENTS)
        snprintf(components->text[components->count], WSDBG_SYMBOL_TEXT_BYTES, "%s", text);
    components->count++;
}

static void keep(struct reader *r, const struct text *text)
{
    wsdbg_symbol_components_add(r->components, text->bytes);
}

/* ---- the symbol ---- */

static bool stops(const struct reader *r)
{
    return r->failed || r->cut;
}

static bool take(struct reader *r, char letter)
{
    if (stops(r) || *r->at != letter)
        return false;
    r->at++;
    return true;
}

/* At the end of the symbol it was cut; anything else that does not fit is a form that is not understood. */
static void give_up(struct reader *r)
{
    if (*r->at == '\0')
        r->cut = true;
    else
        r->failed = true;
}

static unsigned long read_number(struct reader *r)
{
    char *end;
    const unsigned long number = strtoul(r->at, &end, 10);
    r->at = end;
    return number;
}

static void read_source_name(struct reader *r, struct text *out)
{
    const unsigned long length = read_number(r);
    const size_t left = strlen(r->at);
    char name[WSDBG_SYMBOL_TEXT_BYTES];
    if (length == 0 || length > 4096) {
        r->failed = true;
        return;
    }
    const size_t have = length < left ? length : left;
    snprintf(name, sizeof name, "%.*s", (int)have, r->at);
    set(out, strncmp(name, "_GLOBAL__N_", 11) == 0 ? "" : name);
    r->at += have;
    r->cut = have < length;
    if (r->cut)
        append(out, ELLIPSIS);
}

/* "S_", "S0_", … "SZ_", "S10_": base 36. */
static void read_substitution(struct reader *r, struct text *out)
{
    size_t number = 0;
    for (; isdigit((unsigned char)*r->at) || isupper((unsigned char)*r->at); r->at++)
        number =
            number * 36 + (size_t)(isdigit((unsigned char)*r->at) ? *r->at - '0' : *r->at - 'A' + 10) + (number < 1000);
    if (!take(r, '_')) {
        give_up(r);
        return;
    }
    const bool is_kept = number < r->components->count && number < WSDBG_SYMBOL_COMPONENTS;
    set(out, is_kept ? r->components->text[number] : ELLIPSIS);
}

static const char *builtin_name(char letter)
{
    static const char letters[] = "vwbcahstijlmxynofde";
    static const char *const names[] = {"void",        "wchar_t",
                                        "bool",        "char",
                                        "signed char", "unsigned char",
                                        "short",       "unsigned short",
                                        "int",         "unsigned",
                                        "long",        "unsigned long",
                                        "long long",   "unsigned long long",
                                        "__int128",    "unsigned __int128",
                                        "float",       "double",
                                        "long double"};
    const char *found = letter ? strchr(letters, letter) : NULL;
    return found ? names[found - letters] : NULL;
}

/* ---- arguments ---- */

static void read_literal(struct reader *r, struct text *out)
{
    struct text type = {""};
    char number[32];
    if (*r->at == '_' || *r->at == 'T') {
        r->failed = true;
        return;
    }
    read_type(r, &type);
    const bool negative = take(r, 'n');
    const size_t digits = strspn(r->at, "0123456789");
    if (stops(r) || digits == 0 || digits > 24) {
        give_up(r);
        return;
    }
    snprintf(number, sizeof number, "%s%.*s", negative ? "-" : "", (int)digits, r->at);
    r->at += digits;
    if (!take(r, 'E'))
        give_up(r);
    const bool is_bool = strcmp(type.bytes, "bool") == 0;
    set(out, !is_bool ? number : strcmp(number, "0") == 0 ? "false" : "true");
}

static void read_list(struct reader *r, struct text *out, bool first);

static void read_argument(struct reader *r, struct text *out, bool first)
{
    struct text argument = {""};
    if (take(r, 'J')) {
        read_list(r, out, first);
        return;
    }
    if (take(r, 'L'))
        read_literal(r, &argument);
    else
        read_type(r, &argument);
    if (!first)
        append(out, ",");
    append(out, argument.bytes);
}

/* Up to the "E" of the list. */
static void read_list(struct reader *r, struct text *out, bool first)
{
    while (!stops(r) && !take(r, 'E')) {
        const size_t before = strlen(out->bytes);
        if (*r->at == '\0')
            r->cut = true;
        else
            read_argument(r, out, first);
        first = first && strlen(out->bytes) == before;
    }
    if (r->cut && !first && !strstr(out->bytes, ELLIPSIS))
        append(out, ELLIPSIS);
}

/* cute's and the standard's ways to say a list or a number say only what is in them. */
static void add_arguments(struct reader *r, struct text *name)
{
    struct text list = {""};
    read_list(r, &list, true);
    const char *comma = strchr(list.bytes, ',');
    if (strcmp(name->bytes, "tuple") == 0) {
        set(name, "(");
        append(name, list.bytes);
        append(name, ")");
    } else if (strcmp(name->bytes, "C") == 0 && !comma && !r->cut) {
        *name = list;
    } else if (strcmp(name->bytes, "integral_constant") == 0 && comma && !r->cut) {
        set(name, comma + 1);
    } else {
        append(name, "<");
        append(name, list.bytes);
        append(name, ">");
    }
}

/* ---- names and types ---- */

/* Of "N…E" the last part with its arguments. */
static void read_nested(struct reader *r, struct text *out)
{
    while (take(r, 'K') || take(r, 'V'))
        continue;
    while (!stops(r) && !take(r, 'E')) {
        bool kept = false;
        if (isdigit((unsigned char)*r->at)) {
            read_source_name(r, out);
        } else if (take(r, 'S')) {
            kept = !take(r, 't');
            if (kept)
                read_substitution(r, out);
            else
                continue; /* std:: is no component */
        } else if (take(r, 'I')) {
            add_arguments(r, out);
        } else {
            give_up(r);
        }
        if (!kept && !stops(r))
            keep(r, out);
    }
}

static void read_unscoped(struct reader *r, struct text *out)
{
    if (!isdigit((unsigned char)*r->at)) {
        give_up(r);
        return;
    }
    read_source_name(r, out);
    if (!stops(r))
        keep(r, out);
}

static void read_array(struct reader *r, struct text *out)
{
    char extent[32];
    snprintf(extent, sizeof extent, "[%lu]", read_number(r));
    if (!take(r, '_'))
        give_up(r);
    read_type(r, out);
    append(out, extent);
    keep(r, out);
}

static void read_behind(struct reader *r, struct text *out, const char *sign)
{
    read_type(r, out);
    append(out, sign);
    if (!stops(r))
        keep(r, out);
}

static void read_named(struct reader *r, struct text *out)
{
    if (take(r, 'N'))
        read_nested(r, out);
    else if (take(r, 'S') && !take(r, 't'))
        read_substitution(r, out);
    else
        read_unscoped(r, out);
    if (take(r, 'I')) {
        add_arguments(r, out);
        if (!stops(r))
            keep(r, out);
    }
}

static void read_type(struct reader *r, struct text *out)
{
    if (stops(r) || ++r->depth > DEPTH_MAX) {
        r->failed = r->failed || !r->cut;
        return;
    }
    const char *builtin = builtin_name(*r->at);
    if (builtin) {
        r->at++;
        set(out, builtin);
    } else if (take(r, 'P')) {
        read_behind(r, out, "*");
    } else if (take(r, 'R')) {
        read_behind(r, out, "&");
    } else if (take(r, 'O')) {
        read_behind(r, out, "&&");
    } else if (take(r, 'K')) {
        read_behind(r, out, " const");
    } else if (take(r, 'A')) {
        read_array(r, out);
    } else {
        read_named(r, out);
    }
    r->depth--;
}

bool wsdbg_symbol_arguments(const char *at, struct wsdbg_symbol_components *components, bool may_be_cut, char *out,
                            size_t bytes)
{
    struct reader reader = {.at = at, .components = components};
    struct text name = {""};
    if (!take(&reader, 'I'))
        return false;
    add_arguments(&reader, &name);
    if (reader.failed || (reader.cut && !may_be_cut))
        return false;
    const size_t used = strlen(out);
    snprintf(out + used, bytes - used, "%s", name.bytes);
    return true;
}
