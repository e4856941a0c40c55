/* explore_results.c - what schedules leave in memory, compared with what the usual one leaves.
 *
 * The usual schedule's child copies all memory of the gpu into memory that the explorer shares with its children; the
 * others look for the first difference.  Memory that other processes may have too is left out: wsdbg's own, which holds
 * times, is of that kind.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"
#include "libcuda/explore.h"
#include "libcuda/memory.h"

/* Most memory that is copied. */
#define BYTES_MOST (1ull << 30)

struct range {
    uint64_t first, byte_count;
    bool is_host;
};

struct explore_results {
    struct range *ranges;
    size_t count, capacity;
    uint64_t byte_count;
    unsigned char *copy; /* of the ranges, one behind the other; shared */
};

static bool find_ranges(const struct explore_launch *launch, struct explore_results *results)
{
    struct range range;
    for (uint64_t at = 0; wsdbg_gpu_next_memory(launch->gpu, at, &range.first, &range.byte_count, &range.is_host);
         at = range.first + range.byte_count) {
        if (memory_can_be_shared(range.first))
            continue;
        if (!wsdbg_grow((void **)&results->ranges, &results->capacity, results->count + 1, sizeof range))
            return false;
        results->ranges[results->count++] = range;
        results->byte_count += range.byte_count;
    }
    return true;
}

struct explore_results *explore_results_create(const struct explore_launch *launch)
{
    struct explore_results *results = calloc(1, sizeof *results);
    if (!results || !find_ranges(launch, results) || results->byte_count > BYTES_MOST) {
        if (results && results->byte_count > BYTES_MOST)
            driver_say("results are not compared: %llu bytes are allocated, at most %llu can be",
                       (unsigned long long)results->byte_count, (unsigned long long)BYTES_MOST);
        explore_results_destroy(results);
        return NULL;
    }
    results->copy =
        mmap(NULL, results->byte_count + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (results->copy != MAP_FAILED)
        return results;
    results->copy = NULL;
    explore_results_destroy(results);
    return NULL;
}

void explore_results_destroy(struct explore_results *results)
{
    if (!results)
        return;
    if (results->copy)
        munmap(results->copy, results->byte_count + 1);
    free(results->ranges);
    free(results);
}

void explore_results_keep(struct explore_results *results)
{
    unsigned char *to = results->copy;
    for (size_t i = 0; i < results->count; i++) {
        memcpy(to, (const void *)(uintptr_t)results->ranges[i].first, results->ranges[i].byte_count);
        to += results->ranges[i].byte_count;
    }
}

static void describe(const struct range *range, const unsigned char *usual, struct explore_difference *out)
{
    const unsigned char *here = (const unsigned char *)(uintptr_t)range->first;
    uint64_t at = 0;
    while (here[at] == usual[at])
        at++;
    at &= ~(uint64_t)(sizeof out->usual - 1);
    const uint64_t left = range->byte_count - at;
    *out = (struct explore_difference){.is_there = true,
                                       .is_host = range->is_host,
                                       .address = range->first + at,
                                       .first = range->first,
                                       .byte_count = range->byte_count};
    memcpy(&out->usual, usual + at, left < sizeof out->usual ? left : sizeof out->usual);
    memcpy(&out->here, here + at, left < sizeof out->here ? left : sizeof out->here);
}

void explore_results_compare(const struct explore_results *results, struct explore_difference *out)
{
    const unsigned char *usual = results->copy;
    for (size_t i = 0; i < results->count && !out->is_there; i++) {
        const struct range *range = &results->ranges[i];
        if (memcmp((const void *)(uintptr_t)range->first, usual, range->byte_count) != 0)
            describe(range, usual, out);
        usual += range->byte_count;
    }
}
