/* json_rows.c - see json_rows.h: single values.  Reads values, makes JSON. */
#include "store/json_rows.h"

#include <stdlib.h>

#include "base/text.h"
#include "model/symbol.h"

json_t *wsdbg_json_text(const char *text)
{
    if (!text || !*text)
        return json_null();
    char *clean = wsdbg_text_utf8(text);
    json_t *value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

json_t *wsdbg_json_number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *wsdbg_json_number_or_null(bool known, uint64_t value)
{
    return known ? wsdbg_json_number(value) : json_null();
}

json_t *wsdbg_json_u32(struct wsdbg_optional_u32 value)
{
    return value.known ? json_integer(value.value) : json_null();
}

json_t *wsdbg_json_u64(struct wsdbg_optional_u64 value)
{
    return value.known ? wsdbg_json_number(value.value) : json_null();
}

json_t *wsdbg_json_range(struct wsdbg_range range)
{
    return range.known ? json_integer(range.low) : json_null();
}

json_t *wsdbg_json_seconds(struct wsdbg_range range_ns)
{
    return range_ns.known ? json_real((double)range_ns.high / 1e9) : json_null();
}

json_t *wsdbg_json_index(uint32_t index, size_t count)
{
    return index < count ? json_integer(index) : json_null();
}

json_t *wsdbg_json_word(struct wsdbg_optional_u64 word, int digits)
{
    return word.known ? json_sprintf("%0*llx", digits, (unsigned long long)word.value) : json_null();
}

json_t *wsdbg_json_address(struct wsdbg_range range)
{
    const bool one = range.known && range.low == range.high;
    return one ? json_sprintf("%llx", (unsigned long long)range.low) : json_null();
}

json_t *wsdbg_json_triple(const uint32_t *values)
{
    return json_pack("[I,I,I]", (json_int_t)values[0], (json_int_t)values[1], (json_int_t)values[2]);
}

json_t *wsdbg_json_members(const struct wsdbg_members *set)
{
    json_t *array = json_array();
    for (int i = 0; i < 256; i++)
        if (set->bits[i / 64] >> (i % 64) & 1)
            json_array_append_new(array, json_integer(i));
    return array;
}

json_t *wsdbg_json_kernel(const char *symbol)
{
    char name[512];
    wsdbg_symbol_name(symbol, name, sizeof name);
    return wsdbg_json_text(name);
}

struct wsdbg_error *wsdbg_json_print(json_t *root, FILE *out)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (!text)
        return &wsdbg_error_no_memory;
    fprintf(out, "%s\n", text);
    free(text);
    return NULL;
}
