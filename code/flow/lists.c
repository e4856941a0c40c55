/* lists.c - see lists.h: counts the numbers of each key, then puts each behind those before it. */
#include "flow/lists.h"

#include <stdlib.h>

struct wsdbg_error *wsdbg_lists_create(const uint32_t *keys, const uint32_t *numbers, size_t count, uint32_t key_count,
                                       struct wsdbg_lists *out)
{
    uint32_t *first = calloc((size_t)key_count + 2, sizeof *first);
    uint32_t *sorted = calloc(count ? count : 1, sizeof *sorted);
    if (!first || !sorted) {
        free(first);
        free(sorted);
        return &wsdbg_error_no_memory;
    }
    for (size_t i = 0; i < count; i++)
        if (keys[i] != WSDBG_LISTS_NONE)
            first[keys[i] + 2]++;
    for (uint32_t key = 0; key < key_count; key++)
        first[key + 2] += first[key + 1];
    for (size_t i = 0; i < count; i++)
        if (keys[i] != WSDBG_LISTS_NONE)
            sorted[first[keys[i] + 1]++] = numbers[i];
    *out = (struct wsdbg_lists){first, sorted};
    return NULL;
}

void wsdbg_lists_destroy(struct wsdbg_lists *lists)
{
    free(lists->first);
    free(lists->numbers);
    *lists = (struct wsdbg_lists){0};
}
