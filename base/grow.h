/* grow.h - one array that grows by doubling. */
#ifndef WSDBG_BASE_GROW_H
#define WSDBG_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for `count` elements of `size` bytes in *array (capacity in *capacity); false = out of
 * memory, the array is as it was. */
static inline bool wsdbg_grow(void **array, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : 64;
    if (wanted < count)
        wanted = count;
    void *larger = reallocarray(*array, wanted, size);
    if (!larger)
        return false;
    *array = larger;
    *capacity = wanted;
    return true;
}

#endif
