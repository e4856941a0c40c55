/* ptx_lines.c - see ptx_lines.h.  Pure functions on text.
 *
 *     .file 1 "/src/gemm.cu"
 *     .loc 1 132 9
 *     .loc 2 57 5, function_name $L__info_string0, inlined_at 1 132 9
 */
#include "viewer/ptx_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What follows `word` at the begin of a line, NULL where something else stands there. */
static const char *after_word(const char *line, const char *word)
{
    line += strspn(line, " \t");
    const size_t bytes = strlen(word);
    return strncmp(line, word, bytes) == 0 && (line[bytes] == ' ' || line[bytes] == '\t') ? line + bytes : NULL;
}

/* "../a/b.cu" and "./b.cu" without what only the compiler's folder gives a meaning. */
static const char *without_dots(const char *path)
{
    for (;;) {
        if (strncmp(path, "./", 2) == 0)
            path += 2;
        else if (strncmp(path, "../", 3) == 0)
            path += 3;
        else
            return path;
    }
}

/* Whether `path` ends with the names of `tail`. */
static bool ends_with(const char *path, size_t path_bytes, const char *tail, size_t tail_bytes)
{
    return tail_bytes > 0 && tail_bytes < path_bytes && path[path_bytes - tail_bytes - 1] == '/' &&
           memcmp(path + path_bytes - tail_bytes, tail, tail_bytes) == 0;
}

static bool same_file(const char *name, size_t name_bytes, const char *path)
{
    const char *tail = without_dots(path);
    return ends_with(name, name_bytes, tail, strlen(tail)) || ends_with(path, strlen(path), name, name_bytes);
}

/* The number at *text, which is moved behind it; 0 = none. */
static uint32_t read_number(const char **text)
{
    char *end;
    const unsigned long number = strtoul(*text, &end, 10);
    *text = end;
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

uint32_t viewer_ptx_file(const char *ptx, const char *path)
{
    uint32_t similar = 0;
    unsigned similar_count = 0;
    for (const char *line = ptx; line; line = strchr(line, '\n'), line += line != NULL) {
        const char *rest = after_word(line, ".file");
        const uint32_t number = rest ? read_number(&rest) : 0;
        if (number == 0 || strncmp(rest, " \"", 2) != 0)
            continue;
        const char *name = rest + 2;
        const size_t bytes = strcspn(name, "\"\n");
        if (bytes == strlen(path) && memcmp(name, path, bytes) == 0)
            return number;
        if (same_file(name, bytes, path)) {
            similar = number;
            similar_count++;
        }
    }
    return similar_count == 1 ? similar : 0;
}

/* The line of "FILE LINE" where FILE is `number`. */
static uint32_t line_in(const char *place, uint32_t number)
{
    return read_number(&place) == number ? read_number(&place) : 0;
}

void viewer_ptx_origin(const char *line, uint32_t number, uint32_t out[2])
{
    static const char inlined[] = "inlined_at ";
    out[0] = out[1] = 0;
    const char *rest = after_word(line, ".loc");
    if (!rest || number == 0)
        return;
    out[0] = line_in(rest, number);
    const char *outer = strstr(rest, inlined);
    if (outer)
        out[1] = line_in(outer + sizeof inlined - 1, number);
}
