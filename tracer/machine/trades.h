/* trades.h - names of roles and mbarriers in kernels whose author gave none, from what warps do: the same words
 * whatever the evidence is.
 */
#ifndef WSDBG_MACHINE_TRADES_H
#define WSDBG_MACHINE_TRADES_H

#include <stdbool.h>
#include <stddef.h>

#include "wsdbg/ring.h"

/* Warps of a group that show different ones: behind the values of enum wsdbg_trade. */
#define WSDBG_TRADE_UNCLEAR ((enum wsdbg_trade)(WSDBG_TRADE_STORES + 1))

enum wsdbg_barrier_use { WSDBG_USE_OTHER, WSDBG_USE_FULL, WSDBG_USE_EMPTY, WSDBG_USE_COUNT };

/* What one warp shows of its group. */
void wsdbg_trade_add(enum wsdbg_trade *group, enum wsdbg_trade shown);
/* Number `number` of `alike` groups with the trade; warps [first, first + count). */
void wsdbg_trade_name(enum wsdbg_trade trade, unsigned number, unsigned alike, unsigned first, unsigned count,
                      char *out, size_t room);
/* Of FULL and EMPTY. */
void wsdbg_use_name(enum wsdbg_barrier_use use, unsigned number, unsigned alike, char *out, size_t room);

#endif
