/* trades.c - see trades.h. */
#include "machine/trades.h"

#include <stdio.h>

void wsdbg_trade_add(enum wsdbg_trade *group, enum wsdbg_trade shown)
{
    if (shown == WSDBG_TRADE_NONE || shown == *group || (shown == WSDBG_TRADE_UNCLEAR && *group != WSDBG_TRADE_NONE))
        return;
    const bool first = *group == WSDBG_TRADE_NONE || *group == WSDBG_TRADE_UNCLEAR;
    /* A group that loads or computes stores in passing. */
    if (first || *group == WSDBG_TRADE_STORES)
        *group = shown;
    else if (shown != WSDBG_TRADE_STORES)
        *group = WSDBG_TRADE_UNCLEAR;
}

static void write_number(const char *word, unsigned number, unsigned alike, char *out, size_t room)
{
    if (alike > 1)
        snprintf(out, room, "%s %u", word, number);
    else
        snprintf(out, room, "%s", word);
}

void wsdbg_trade_name(enum wsdbg_trade trade, unsigned number, unsigned alike, unsigned first, unsigned count,
                      char *out, size_t room)
{
    static const char *const words[] = {
        [WSDBG_TRADE_LOADS] = "producer", [WSDBG_TRADE_COMPUTES] = "consumer", [WSDBG_TRADE_STORES] = "epilogue"};
    if (trade != WSDBG_TRADE_NONE && trade != WSDBG_TRADE_UNCLEAR)
        write_number(words[trade], number, alike, out, room);
    else if (count == 1)
        snprintf(out, room, "warp %u", first);
    else
        snprintf(out, room, "warps %u-%u", first, first + count - 1);
}

void wsdbg_use_name(enum wsdbg_barrier_use use, unsigned number, unsigned alike, char *out, size_t room)
{
    write_number(use == WSDBG_USE_FULL ? "full" : "empty", number, alike, out, room);
}
