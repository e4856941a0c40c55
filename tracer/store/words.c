/* words.c - see words.h.  Pure functions over the enums of the model and the diagnosis. */
#include "store/words.h"

#include <string.h>

const char *wsdbg_evidence_kind_word(enum wsdbg_evidence_kind kind)
{
    switch (kind) {
    case WSDBG_EVIDENCE_WARP:
        return "warp";
    case WSDBG_EVIDENCE_BARRIER:
        return "barrier";
    case WSDBG_EVIDENCE_EVENT:
        return "event";
    case WSDBG_EVIDENCE_TEXT:
        break;
    }
    return "text";
}

unsigned wsdbg_word_value(const char *word, wsdbg_word_fn *name, unsigned count, unsigned fallback)
{
    for (unsigned value = 0; word && value < count; value++)
        if (name(value) && strcmp(word, name(value)) == 0)
            return value;
    return fallback;
}

const char *wsdbg_state_word(unsigned value)
{
    return wsdbg_warp_state_name((enum wsdbg_warp_state)value);
}

const char *wsdbg_barrier_word(unsigned value)
{
    return wsdbg_barrier_kind_name((enum wsdbg_barrier_kind)value);
}

const char *wsdbg_cause_word(unsigned value)
{
    return wsdbg_cause_name((enum wsdbg_cause)value);
}

const char *wsdbg_confidence_word(unsigned value)
{
    return value == 0 ? "" : wsdbg_confidence_name((enum wsdbg_confidence)value);
}

const char *wsdbg_evidence_word(unsigned value)
{
    return wsdbg_evidence_kind_word((enum wsdbg_evidence_kind)value);
}

const char *wsdbg_access_word(unsigned value)
{
    return wsdbg_access_kind_name((enum wsdbg_access_kind)value);
}

const char *wsdbg_ring_word(unsigned value)
{
    if (value == WSDBG_RING_IN_DEVICE)
        return "device";
    return value == WSDBG_RING_IN_HOST ? "mapped" : NULL;
}

const char *wsdbg_lanes_word(unsigned value)
{
    return value == WSDBG_LANES_ONE ? "one" : value == WSDBG_LANES_ALL ? "all" : NULL;
}

const char *wsdbg_after_word(unsigned value)
{
    static const char *const words[] = {"never", "perhaps", "can"};
    return words[value < 3 ? value : 1];
}

const char *wsdbg_excerpt_word(unsigned value)
{
    static const char *const words[] = {"unknown",
                                        [WSDBG_EXCERPT_REGISTERS] = "register",
                                        [WSDBG_EXCERPT_UNIFORM] = "uniform register",
                                        [WSDBG_EXCERPT_SHARED] = "shared memory",
                                        [WSDBG_EXCERPT_GLOBAL] = "global memory"};
    return words[value <= WSDBG_EXCERPT_GLOBAL ? value : 0];
}
