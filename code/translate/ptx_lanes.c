/* ptx_lanes.c - turns PTX shuffles, votes, elections and bit counts into instructions of machine code.  Code reads the
 * result of a ballot with bit counts.
 */
#include "translate/ptx_operands.h"
#include "sass/thread_bits.h"

/* Modes of SHFL and VOTE are those of machine code. */
enum { SHUFFLE_IDX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY };
enum { VOTE_ALL, VOTE_ANY, VOTE_EQ };

static void translate_shuffle(const struct wsdbg_ptx_translation *t)
{
    const uint8_t variant = t->from->variant;
    wsdbg_ptx_become(t, WSDBG_OP_SHFL);
    t->out->mode = variant == WSDBG_PTX_V_UP     ? SHUFFLE_UP
                   : variant == WSDBG_PTX_V_DOWN ? SHUFFLE_DOWN
                   : variant == WSDBG_PTX_V_BFLY ? SHUFFLE_BFLY
                                                 : SHUFFLE_IDX;
    wsdbg_ptx_add_sources(t, 4); /* the last source: the mask of the lanes that take part */
}

static void translate_vote(const struct wsdbg_ptx_translation *t)
{
    const uint8_t variant = t->from->variant;
    wsdbg_ptx_become(t, WSDBG_OP_VOTE);
    t->out->mode = variant == WSDBG_PTX_V_ANY ? VOTE_ANY : variant == WSDBG_PTX_V_UNI ? VOTE_EQ : VOTE_ALL;
    wsdbg_ptx_add_sources(t, 2);
}

static void translate_match(const struct wsdbg_ptx_translation *t)
{
    wsdbg_ptx_become(t, WSDBG_OP_MATCH);
    t->out->mode = t->from->variant == WSDBG_PTX_V_ANY ? WSDBG_MATCH_ANY_LANE : WSDBG_MATCH_ALL_LANES;
    t->out->is_whole = t->from->type == WSDBG_PTX_B32;
    wsdbg_ptx_add_sources(t, t->out->is_whole ? 2 : 0);
}

static void translate_reduction(const struct wsdbg_ptx_translation *t)
{
    enum { UNKNOWN = WSDBG_REDUCE_MAX + 1 };
    const uint8_t variant = t->from->variant;
    wsdbg_ptx_become(t, WSDBG_OP_REDUX);
    t->out->mode = variant == WSDBG_PTX_V_ADD   ? WSDBG_REDUCE_SUM
                   : variant == WSDBG_PTX_V_MIN ? WSDBG_REDUCE_MIN
                   : variant == WSDBG_PTX_V_MAX ? WSDBG_REDUCE_MAX
                   : variant == WSDBG_PTX_V_AND ? WSDBG_REDUCE_AND
                   : variant == WSDBG_PTX_V_OR  ? WSDBG_REDUCE_OR
                   : variant == WSDBG_PTX_V_XOR ? WSDBG_REDUCE_XOR
                                                : UNKNOWN;
    t->out->is_signed = t->from->type == WSDBG_PTX_S32;
    wsdbg_ptx_add_sources(t, 2);
}

static void translate_bits(const struct wsdbg_ptx_translation *t, enum wsdbg_operation operation, uint8_t mode)
{
    const uint8_t type = t->from->type;
    wsdbg_ptx_become(t, operation);
    t->out->mode = mode;
    t->out->is_whole = type == WSDBG_PTX_B32 || type == WSDBG_PTX_U32;
    wsdbg_ptx_add_source(t, 0);
}

bool wsdbg_ptx_translate_lanes(const struct wsdbg_ptx_translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_elect:
        wsdbg_ptx_become(t, WSDBG_OP_ELECT);
        if (t->out->destination_count > 1) /* predicates come first */
            t->out->destinations[0] = t->out->destinations[1];
        return true;
    case WSDBG_PTX_OP_shfl:
        translate_shuffle(t);
        return true;
    case WSDBG_PTX_OP_vote:
        translate_vote(t);
        return true;
    case WSDBG_PTX_OP_match:
        translate_match(t);
        return true;
    case WSDBG_PTX_OP_redux:
        translate_reduction(t);
        return true;
    case WSDBG_PTX_OP_popc:
        translate_bits(t, WSDBG_OP_POPC, 0);
        return true;
    case WSDBG_PTX_OP_brev:
        translate_bits(t, WSDBG_OP_BREV, 0);
        return true;
    case WSDBG_PTX_OP_clz:
        translate_bits(t, WSDBG_OP_FLO, WSDBG_FLO_ZEROS);
        return true;
    case WSDBG_PTX_OP_bfind:
        translate_bits(t, WSDBG_OP_FLO, t->from->flags & WSDBG_PTX_SHIFT_AMOUNT ? WSDBG_FLO_SHIFT : WSDBG_FLO_PLACE);
        return true;
    default:
        return false;
    }
}
