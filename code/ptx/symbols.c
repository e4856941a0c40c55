/* symbols.c - see symbols.h: a stack of symbols, chained by hash; leaving a scope takes its symbols off both. */
#include "ptx/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { FIRST_BUCKETS = 1024 };
#define NO_SYMBOL UINT32_MAX

struct ptx_symbols {
    struct ptx_symbol *items;
    size_t count, room;
    uint32_t *buckets;
    size_t bucket_count; /* a power of two */
    unsigned depth;
};

/* FNV-1a; a range's name is told from a register's by `seed`. */
static uint32_t hash_of(struct ptx_slice name, bool is_range)
{
    uint32_t hash = is_range ? 0x2545f491u : 0x811c9dc5u;
    for (size_t i = 0; i < name.length; i++)
        hash = (hash ^ (unsigned char)name.bytes[i]) * 0x01000193u;
    return hash ^ hash >> 15;
}

static bool make_buckets(struct ptx_symbols *symbols, size_t count)
{
    uint32_t *buckets = malloc(count * sizeof *buckets);
    if (!buckets)
        return false;
    memset(buckets, 0xff, count * sizeof *buckets);
    free(symbols->buckets);
    symbols->buckets = buckets;
    symbols->bucket_count = count;
    for (size_t i = 0; i < symbols->count; i++) {
        uint32_t *bucket = &buckets[symbols->items[i].hash & (count - 1)];
        symbols->items[i].next = *bucket;
        *bucket = (uint32_t)i;
    }
    return true;
}

struct ptx_symbols *ptx_symbols_create(void)
{
    struct ptx_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols && !make_buckets(symbols, FIRST_BUCKETS)) {
        free(symbols);
        return NULL;
    }
    return symbols;
}

static void drop_to(struct ptx_symbols *symbols, unsigned depth)
{
    while (symbols->count && symbols->items[symbols->count - 1].depth > depth) {
        const struct ptx_symbol *symbol = &symbols->items[--symbols->count];
        symbols->buckets[symbol->hash & (symbols->bucket_count - 1)] = symbol->next;
        free(symbol->numbers);
    }
}

void ptx_symbols_destroy(struct ptx_symbols *symbols)
{
    if (!symbols)
        return;
    drop_to(symbols, 0);
    free(symbols->items);
    free(symbols->buckets);
    free(symbols);
}

void ptx_symbols_push(struct ptx_symbols *symbols)
{
    symbols->depth++;
}

void ptx_symbols_pop(struct ptx_symbols *symbols)
{
    drop_to(symbols, --symbols->depth);
}

unsigned ptx_symbols_depth(const struct ptx_symbols *symbols)
{
    return symbols->depth;
}

/* `number`: of ranges, a register that it must have. */
static struct ptx_symbol *find(const struct ptx_symbols *symbols, struct ptx_slice name, bool is_range, uint32_t number)
{
    const uint32_t hash = hash_of(name, is_range);
    uint32_t at = symbols->buckets[hash & (symbols->bucket_count - 1)];
    for (; at != NO_SYMBOL; at = symbols->items[at].next) {
        struct ptx_symbol *symbol = &symbols->items[at];
        if (symbol->hash == hash && (symbol->kind == PTX_SYMBOL_RANGE) == is_range &&
            (!is_range || number < symbol->count) && symbol->name.length == name.length &&
            memcmp(symbol->name.bytes, name.bytes, name.length) == 0)
            return symbol;
    }
    return NULL;
}

struct ptx_symbol *ptx_symbols_find(const struct ptx_symbols *symbols, struct ptx_slice name)
{
    return find(symbols, name, false, 0);
}

struct ptx_symbol *ptx_symbols_find_range(const struct ptx_symbols *symbols, struct ptx_slice name, uint32_t *index)
{
    size_t digits = 0;
    while (digits < 8 && digits < name.length && name.bytes[name.length - 1 - digits] >= '0' &&
           name.bytes[name.length - 1 - digits] <= '9')
        digits++;
    /* %r12 may be of %r<20>, but also of %r1<3>: the shortest prefix whose rest is a number without a leading zero. */
    for (; digits > 0; digits--) {
        const struct ptx_slice prefix = {name.bytes, name.length - digits};
        if (digits > 1 && name.bytes[prefix.length] == '0')
            continue;
        uint32_t number = 0;
        for (size_t i = prefix.length; i < name.length; i++)
            number = number * 10 + (uint32_t)(name.bytes[i] - '0');
        struct ptx_symbol *symbol = find(symbols, prefix, true, number);
        if (symbol) {
            *index = number;
            return symbol;
        }
    }
    return NULL;
}

bool ptx_symbols_add(struct ptx_symbols *symbols, const struct ptx_symbol *symbol)
{
    if (symbols->count >= NO_SYMBOL - 1 ||
        !wsdbg_grow((void **)&symbols->items, &symbols->room, symbols->count + 1, sizeof *symbols->items))
        return false;
    if (symbols->count >= symbols->bucket_count && !make_buckets(symbols, symbols->bucket_count * 2))
        return false;
    struct ptx_symbol *added = &symbols->items[symbols->count];
    *added = *symbol;
    added->depth = (uint16_t)symbols->depth;
    added->hash = hash_of(symbol->name, symbol->kind == PTX_SYMBOL_RANGE);
    uint32_t *bucket = &symbols->buckets[added->hash & (symbols->bucket_count - 1)];
    added->next = *bucket;
    *bucket = (uint32_t)symbols->count++;
    return true;
}
