/* walk_clouds.h - ranges of shared memory that hold data which a walk does not know.  Private to walk_words.c: it puts
 * there what would take too many rows.
 */
#ifndef WSDBG_SASS_WALK_CLOUDS_H
#define WSDBG_SASS_WALK_CLOUDS_H

#include <stdbool.h>
#include <stdint.h>

enum { WALK_CLOUDS_MOST = 64 };

struct walk_cloud {
    uint32_t first, end;
};

/* Zeroed: no range.  The ranges neither overlap nor touch, and lie in order. */
struct walk_clouds {
    struct walk_cloud ranges[WALK_CLOUDS_MOST];
    uint32_t count;
};

/* Whether any of the bytes is in a range. */
bool walk_clouds_have(const struct walk_clouds *clouds, uint32_t address, uint32_t bytes);
/* Adds bytes.  Where there are too many ranges, the two that are nearest to each other become one: the bytes between
 * them then count as such data, too. */
void walk_clouds_add(struct walk_clouds *clouds, uint32_t address, uint32_t bytes);

#endif
