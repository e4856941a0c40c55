/* walk_map.h - private to walks: the bytes of a tensor copy, from its tensor map. */
#ifndef WSDBG_SASS_WALK_MAP_H
#define WSDBG_SASS_WALK_MAP_H

#include "sass/walk_group.h"

/* False: the lane does not know which map the copy takes, or what it holds. */
bool walk_map_bytes(const struct walk_lane *lane, const struct wsdbg_instruction *copy,
                    const struct wsdbg_access_operands *operands, uint32_t *bytes);

#endif
