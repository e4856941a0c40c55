/* wrapper_name.c - see wrapper_name.h.
 *
 * Reads: a symbol as the compiler wrote it (Itanium mangling) or a plain name.  Only the names on the way to the
 * function itself count: template arguments and parameters are passed over.
 */
#include "base/wrapper_name.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { PARTS_MOST = 16, WORDS_MOST = 16, DEPTH_MOST = 64 };

struct part { /* one name of `a::b::c`, without template arguments */
    const char *text;
    size_t length;
};

struct parts {
    struct part rows[PARTS_MOST];
    size_t count;
};

/* ---- a symbol's parts ---- */

static const char *add_part(struct parts *parts, const char *at)
{
    size_t length = 0;
    while (isdigit((unsigned char)*at) && length < 4096)
        length = 10 * length + (size_t)(*at++ - '0');
    if (length == 0 || strnlen(at, length) < length)
        return NULL;
    if (parts->count < PARTS_MOST)
        parts->rows[parts->count++] = (struct part){at, length};
    return at + length;
}

static const char *skip_number(const char *at)
{
    at += strcspn(at, "_");
    return *at ? at + 1 : NULL;
}

static const char *skip_argument(const char *at, unsigned *depth);

/* Behind a literal's type and value; its E is left.  The value is no length of a name: `LN2GM1SE1EE`, `Lin3E`. */
static const char *skip_literal(const char *at, unsigned *depth)
{
    const unsigned outer = *depth;
    if (outer >= DEPTH_MOST)
        return NULL;
    if (islower((unsigned char)*at)) {
        at += 1 + strcspn(at + 1, "E");
    } else if (*at != '_' && *at != 'L') {
        do
            at = skip_argument(at, depth);
        while (at && *depth > outer);
        if (at && *at == 'n')
            at++;
        if (at)
            at += strspn(at, "0123456789");
    }
    ++*depth;
    return at;
}

/* Behind what `at` begins within template arguments; *depth counts what is still open.  NULL = it cannot be read. */
static const char *skip_argument(const char *at, unsigned *depth)
{
    struct parts ignored = {.count = 0};
    if (isdigit((unsigned char)*at))
        return add_part(&ignored, at);
    switch (*at) {
    case 'S':
        return at[1] == '_' || isdigit((unsigned char)at[1]) || isupper((unsigned char)at[1]) ? skip_number(at)
               : at[1]                                                                        ? at + 2
                                                                                              : NULL;
    case 'T':
        return skip_number(at);
    case 'D':
        return at[1] ? at + 2 : NULL;
    case 'L':
        return skip_literal(at + 1, depth);
    case 'I':
    case 'J':
    case 'N':
    case 'X':
    case 'F':
        ++*depth;
        return at + 1;
    case 'E':
        --*depth;
        return at + 1;
    default:
        return *at ? at + 1 : NULL;
    }
}

static const char *skip_arguments(const char *at)
{
    unsigned depth = 0;
    do
        at = skip_argument(at, &depth);
    while (at && depth);
    return at;
}

/* Of `_ZN1a1bIiE1cEv`: a, b, c; of `_Z1cv`: c.  What stands within a function (a lambda) has no parts. */
static void read_mangled(const char *symbol, struct parts *parts)
{
    const char *at = symbol + 2;
    at += *at == 'L'; /* of internal linkage */
    if (isdigit((unsigned char)*at)) {
        add_part(parts, at);
        return;
    }
    if (strncmp(at, "St", 2) == 0) {
        parts->rows[parts->count++] = (struct part){"std", 3};
        add_part(parts, at + 2);
        return;
    }
    if (*at++ != 'N')
        return;
    at += strspn(at, "rVKRO");
    while (at && *at && *at != 'E') {
        if (isdigit((unsigned char)*at))
            at = add_part(parts, at);
        else if (*at == 'I')
            at = skip_arguments(at);
        else if (*at == 'S' && at[1] == 't')
            parts->rows[parts->count++] = (struct part){"std", 3}, at += 2;
        else if (*at == 'L')
            at++;
        else
            break; /* an operator, a constructor, a lambda */
    }
    if (!at || *at != 'E')
        parts->count = 0;
}

static void read_plain(const char *name, struct parts *parts)
{
    const char *end = name + strcspn(name, "<( ");
    while (name < end && parts->count < PARTS_MOST) {
        const char *stop = strstr(name, "::");
        if (!stop || stop > end)
            stop = end;
        parts->rows[parts->count++] = (struct part){name, (size_t)(stop - name)};
        name = stop < end ? stop + 2 : end;
    }
}

static bool is(const struct part *part, const char *word)
{
    return part->length == strlen(word) && strncmp(part->text, word, part->length) == 0;
}

static bool begins(const struct part *part, const char *word)
{
    return part->length >= strlen(word) && strncmp(part->text, word, strlen(word)) == 0;
}

/* ---- words of a name: TmaBarrier and tma_barrier are "tma", "barrier" ---- */

struct words {
    struct part rows[WORDS_MOST];
    size_t count;
    bool more;
};

static bool begins_word(const char *at, const char *first, const char *end)
{
    if (at == first || at[-1] == '_')
        return true;
    if (!isupper((unsigned char)*at))
        return false;
    return !isupper((unsigned char)at[-1]) || (at + 1 < end && islower((unsigned char)at[1]));
}

static void read_words(const struct part *name, struct words *words)
{
    const char *end = name->text + name->length;
    *words = (struct words){.count = 0};
    for (const char *at = name->text; at < end; at++) {
        if (*at == '_')
            continue;
        if (!begins_word(at, name->text, end))
            words->rows[words->count - 1].length++;
        else if (words->count < WORDS_MOST)
            words->rows[words->count++] = (struct part){at, 1};
        else {
            words->more = true;
            return;
        }
    }
}

static bool is_word(const struct part *word, const char *wanted)
{
    return word->length == strlen(wanted) && strncasecmp(word->text, wanted, word->length) == 0;
}

/* `wanted` ends with NULL. */
static bool is_one_of(const struct part *word, const char *const *wanted)
{
    for (; *wanted; wanted++)
        if (is_word(word, *wanted))
            return true;
    return false;
}

static bool has_one_of(const struct words *words, const char *const *wanted)
{
    for (size_t i = 0; i < words->count; i++)
        if (is_one_of(&words->rows[i], wanted))
            return true;
    return false;
}

static bool has_pair(const struct words *words, const char *first, const char *second)
{
    for (size_t i = 0; i + 1 < words->count; i++)
        if (is_word(&words->rows[i], first) && is_word(&words->rows[i + 1], second))
            return true;
    return false;
}

/* ---- what the parts say ---- */

static const char *const verbs[] = {"wait", "arrive", "acquire",  "release", "commit",
                                    "sync", "expect", "complete", NULL};
static const char *const things[] = {"barrier", "mbarrier", "mbar", "semaphore", "pipeline", NULL};

/* A name with any other word in it does more than to wait or to arrive: mbar_consumer_loop. */
static bool has_only_usual_words(const struct words *words)
{
    static const char *const usual[] = {
        "wait",       "arrive",   "acquire",     "release",  "commit",    "sync",       "expect",  "complete",
        "barrier",    "mbarrier", "mbar",        "bar",      "semaphore", "pipeline",   "try",     "test",
        "and",        "for",      "until",       "on",       "tx",        "bytes",      "count",   "parity",
        "phase",      "state",    "token",       "consumer", "producer",  "full",       "empty",   "cluster",
        "cta",        "remote",   "local",       "shared",   "tail",      "drop",       "init",    "inval",
        "invalidate", "relaxed",  "transaction", "named",    "spin",      "all",        "aligned", "fence",
        "tma",        "warp",     "warpgroup",   "group",    "blocking",  "nocomplete", NULL};
    for (size_t i = 0; i < words->count; i++)
        if (!is_one_of(&words->rows[i], usual))
            return false;
    return words->count > 0 && !words->more;
}

/* Users add to these namespaces too: only small functions of theirs are wrappers. */
static bool is_of_library(const struct parts *parts)
{
    static const char *const namespaces[] = {"cute", "cuda", "std", "cooperative_groups"};
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        if (parts->count >= 2 && is(&parts->rows[0], namespaces[i]))
            return true;
    return parts->count >= 3 && is(&parts->rows[0], "cutlass") && is(&parts->rows[1], "arch");
}

static bool is_member_that_waits(const struct parts *parts, const struct words *words)
{
    struct words of_class;
    if (parts->count < 2)
        return false;
    read_words(&parts->rows[parts->count - 2], &of_class);
    return has_one_of(&of_class, things) && has_one_of(words, verbs) && has_only_usual_words(words);
}

static bool is_named_after_instruction(const struct part *name, const struct words *words)
{
    static const char *const beginnings[] = {"__sync", "__cvta_", "__nanosleep", "setmaxnreg", "cp_async_bulk"};
    static const char *const mbarriers[] = {"mbar", "mbarrier", NULL};
    static const char *const pairs[][2] = {
        {"try", "wait"},       {"test", "wait"},    {"barrier", "wait"}, {"barrier", "arrive"}, {"wait", "barrier"},
        {"arrive", "barrier"}, {"barrier", "sync"}, {"bar", "sync"},     {"bar", "arrive"},     {"cluster", "sync"},
        {"cluster", "arrive"}, {"cluster", "wait"}, {"expect", "tx"}};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins(name, beginnings[i]))
            return true;
    if (!has_only_usual_words(words))
        return false;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (has_pair(words, pairs[i][0], pairs[i][1]))
            return true;
    return has_one_of(words, mbarriers);
}

static void read_parts(const char *symbol, struct parts *parts)
{
    parts->count = 0;
    if (strncmp(symbol, "_Z", 2) == 0)
        read_mangled(symbol, parts);
    else
        read_plain(symbol, parts);
}

bool wsdbg_is_wrapper_name(const char *symbol)
{
    struct parts parts;
    struct words words;
    read_parts(symbol, &parts);
    if (parts.count == 0)
        return false;
    const struct part *name = &parts.rows[parts.count - 1];
    read_words(name, &words);
    return is_of_library(&parts) || is_member_that_waits(&parts, &words) || begins(name, "wsdbg_") ||
           is_named_after_instruction(name, &words);
}

bool wsdbg_is_own_name(const char *symbol)
{
    struct parts parts;
    read_parts(symbol, &parts);
    return parts.count > 0 && begins(&parts.rows[parts.count - 1], "wsdbg_");
}

bool wsdbg_is_waiting_name(const char *symbol)
{
    static const char *const attempts[] = {"try", "test", NULL};
    struct parts parts;
    struct words words;
    read_parts(symbol, &parts);
    if (parts.count == 0)
        return false;
    read_words(&parts.rows[parts.count - 1], &words);
    return has_one_of(&words, verbs) && !has_one_of(&words, attempts);
}
