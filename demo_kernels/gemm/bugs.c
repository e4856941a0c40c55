/* bugs.c - see bugs.h.  Reads bugs.def, tiles.def and the fatbins of the build. */
#include "bugs.h"

#include <string.h>

#include "../common/image.h"

IMAGE(gemm_plain)
IMAGE(gemm_off)
IMAGE(gemm_probes)
IMAGE(gemm_bare)
#define BUG(id, ...) IMAGE(gemm_##id##_plain) IMAGE(gemm_##id##_probes) IMAGE(gemm_##id##_bare)
#include "bugs.def"
#undef BUG

#define TILE(columns) IMAGE(gemm_n##columns##_plain) IMAGE(gemm_n##columns##_off) \
    IMAGE(gemm_n##columns##_probes) IMAGE(gemm_n##columns##_bare)
#include "tiles.def"
#undef TILE

static const struct {
    int columns;
    const void *image[VARIANT_BARE + 1];
} tiles[] = {
#define TILE(columns)                                                                                           \
    {columns,                                                                                                   \
     {[VARIANT_PLAIN] = image_gemm_n##columns##_plain, [VARIANT_OFF] = image_gemm_n##columns##_off,             \
      [VARIANT_PROBES] = image_gemm_n##columns##_probes, [VARIANT_BARE] = image_gemm_n##columns##_bare}},
#include "tiles.def"
#undef TILE
};

static const struct bug bugs[] = {
#define BUG(id, name, cause, role, barrier, kind, m, n, k, ctas, story) \
    {name, #cause, role, barrier, BUG_##kind, m, n, k, ctas, story, image_gemm_##id##_plain, image_gemm_##id##_probes, \
     image_gemm_##id##_bare},
#include "bugs.def"
#undef BUG
};
#define BUG_COUNT (sizeof bugs / sizeof bugs[0])

const struct bug *bug_find(const char *name)
{
    for (size_t i = 0; i < BUG_COUNT; i++)
        if (strcmp(bugs[i].name, name) == 0)
            return &bugs[i];
    return NULL;
}

const void *gemm_image(enum variant variant, const struct bug *bug)
{
    switch (variant) {
    case VARIANT_PLAIN:
        return bug ? bug->plain : image_gemm_plain;
    case VARIANT_OFF:
        return bug ? NULL : image_gemm_off;
    case VARIANT_PROBES:
        return bug ? bug->probes : image_gemm_probes;
    case VARIANT_BARE:
        return bug ? bug->bare : image_gemm_bare;
    }
    return NULL;
}

const void *gemm_tile_image(enum variant variant, int columns)
{
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        if (tiles[i].columns == columns)
            return tiles[i].image[variant];
    return NULL;
}

void bugs_print(FILE *out)
{
    static const char *const kinds[] = {"hang", "race", "fault", "slow"};
    for (size_t i = 0; i < BUG_COUNT; i++)
        fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", bugs[i].name, bugs[i].cause, bugs[i].role, bugs[i].barrier,
                kinds[bugs[i].kind], bugs[i].story);
}
