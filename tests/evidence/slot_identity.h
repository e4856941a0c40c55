/* slot_identity.h - test side: the check word of a slot's identity, as the probes write it (wsdbg/ring.h). */
#ifndef WSDBG_TESTS_SLOT_IDENTITY_H
#define WSDBG_TESTS_SLOT_IDENTITY_H

#include <string.h>

#include "wsdbg/ring.h"

static inline uint32_t slot_identity_check(const struct wsdbg_slot *slot)
{
    uint32_t words[16], check = WSDBG_IDENTITY_SEED;
    memcpy(words, slot, sizeof words);
    for (int i = 4; i <= 12; i++)
        check ^= words[i];
    return check ^ words[14];
}

#endif
