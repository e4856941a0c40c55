/* must.h - memory for a test program: there is enough, or the program ends. */
#ifndef TESTS_SEMANTICS_MUST_H
#define TESTS_SEMANTICS_MUST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *must(void *memory)
{
    if (!memory) {
        fprintf(stderr, "semantics: no memory\n");
        exit(2);
    }
    return memory;
}

static inline void *must_zeros(size_t count, size_t bytes)
{
    return must(calloc(count ? count : 1, bytes));
}

static inline char *must_copy(const char *text)
{
    return must(strdup(text));
}

/* Room for one more than `count`; *room is how many fit. */
static inline void *must_grow(void *array, size_t *room, size_t count, size_t bytes)
{
    if (count < *room)
        return array;
    *room = *room ? *room * 2 : 64;
    return must(realloc(array, *room * bytes));
}

#endif
