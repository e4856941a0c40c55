/* families_alike.h - arrays that turn out to be parts of one ring: private to families.c.
 *
 * Reads: what families.h says of the kernel.  Writes: families.
 */
#ifndef WSDBG_SASS_FAMILIES_ALIKE_H
#define WSDBG_SASS_FAMILIES_ALIKE_H

#include "sass/families.h"

/* Whether two mbarriers or more of the family, the last ones, are used in one direction, and from `offset` behind them
 * on as many in the other: the full and the empty ones of a ring.  A single one in the other direction may be the
 * second of a pair that warps take turns with. */
bool wsdbg_family_turns_round(const struct wsdbg_families_source *source, const struct wsdbg_family *family,
                              uint32_t offset);

/* Joins arrays of one variable that the same warps use, if their barriers lie between each other in turn, or if one
 * array begins where the other one ends.  Families are in the order of their addresses, before and after.  expected: as
 * in the source, but never NULL. */
void wsdbg_families_join_alike(const struct wsdbg_families_source *source,
                               uint32_t (*expected)(void *context, uint32_t offset), void *context,
                               struct wsdbg_families *families);

#endif
