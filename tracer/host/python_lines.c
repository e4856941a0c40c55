/* python_lines.c - see python_lines.h.  Reads: a table of unknown origin; no entry is read beyond its end. */
#include "host/python_lines.h"

static struct wsdbg_optional_u32 known_line(int64_t line)
{
    return line > 0 && line <= UINT32_MAX ? wsdbg_known_u32((uint32_t)line) : (struct wsdbg_optional_u32){0};
}

static struct wsdbg_optional_u32 line_of_steps(const unsigned char *table, size_t bytes, int64_t line, int64_t wanted)
{
    int64_t address = 0;
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        address += table[i];
        if (address > wanted)
            break;
        line += (signed char)table[i + 1];
    }
    return known_line(line);
}

static struct wsdbg_optional_u32 line_of_ranges(const unsigned char *table, size_t bytes, int64_t line, int64_t wanted)
{
    enum { NO_LINE = -128 };
    int64_t end = 0;
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        const int step = (signed char)table[i + 1];
        end += table[i];
        line += step == NO_LINE ? 0 : step;
        if (wanted < end)
            return known_line(step == NO_LINE ? 0 : line);
    }
    return known_line(0);
}

/* Six bits a byte, the lowest first; bit 6 says that more follow. */
static int64_t read_signed(const unsigned char *table, size_t bytes, size_t *at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < bytes; shift += 6) {
        const unsigned char byte = table[(*at)++];
        if (shift < 60)
            value |= (uint64_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40))
            break;
    }
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* An entry's first byte has bit 7; its others have not. */
static size_t next_entry(const unsigned char *table, size_t bytes, size_t at)
{
    while (at < bytes && !(table[at] & 0x80))
        at++;
    return at;
}

static struct wsdbg_optional_u32 line_of_locations(const unsigned char *table, size_t bytes, int64_t line,
                                                   int64_t wanted)
{
    enum { ONE_LINE_FIRST = 10, ONE_LINE_LAST = 12, NO_COLUMNS = 13, LONG = 14, NO_LINE = 15, UNIT_BYTES = 2 };
    int64_t end = 0;
    for (size_t i = next_entry(table, bytes, 0); i < bytes;) {
        const int code = table[i] >> 3 & 15;
        end += ((table[i] & 7) + 1) * UNIT_BYTES;
        i++;
        if (code == NO_COLUMNS || code == LONG)
            line += read_signed(table, bytes, &i);
        else if (code >= ONE_LINE_FIRST && code <= ONE_LINE_LAST)
            line += code - ONE_LINE_FIRST;
        if (wanted < end)
            return known_line(code == NO_LINE ? 0 : line);
        if (line > UINT32_MAX || line < -(int64_t)UINT32_MAX)
            break;
        i = next_entry(table, bytes, i);
    }
    return known_line(0);
}

struct wsdbg_optional_u32 wsdbg_python_line(enum wsdbg_python_lines kind, const unsigned char *table, size_t bytes,
                                            uint32_t first_line, int64_t offset_bytes)
{
    if (offset_bytes < 0)
        return known_line(first_line);
    if (kind == WSDBG_PYTHON_LNOTAB)
        return line_of_steps(table, bytes, first_line, offset_bytes);
    if (kind == WSDBG_PYTHON_RANGES)
        return line_of_ranges(table, bytes, first_line, offset_bytes);
    return line_of_locations(table, bytes, first_line, offset_bytes);
}
