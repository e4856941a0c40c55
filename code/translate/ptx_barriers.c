/* ptx_barriers.c - PTX that waits, signals or has work done beside the warp, in the words of machine code: see
 * ptx_operands.h.  Pure.
 */
#include "translate/ptx_operands.h"

static void add_barrier(const struct wsdbg_ptx_translation *t, unsigned place, unsigned count)
{
    wsdbg_ptx_add(t, wsdbg_ptx_memory(t, wsdbg_ptx_source(t, place)));
    if (count < wsdbg_ptx_source_count(t))
        wsdbg_ptx_add_source(t, count);
}

static void translate_arrival(const struct wsdbg_ptx_translation *t, enum wsdbg_arrive_type type)
{
    wsdbg_ptx_become(t, WSDBG_OP_SYNCS_ARRIVE);
    t->out->mode = (uint8_t)type;
    t->out->is_drop = t->from->operation == WSDBG_PTX_OP_mbarrier_arrive_drop;
    t->out->is_reduction = t->from->space == WSDBG_PTX_SHARED_CLUSTER;
    t->out->is_no_complete = t->from->flags & WSDBG_PTX_NO_COMPLETE;
    add_barrier(t, 0, 1);
}

/* The address of a tensor copy's map. */
static struct wsdbg_operand map_of(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *tensor = wsdbg_ptx_source(t, 1);
    const struct wsdbg_operand none = {.kind = WSDBG_OPERAND_NONE};
    if (tensor->kind != WSDBG_PTX_OPERAND_TENSOR)
        return none;
    const struct wsdbg_ptx_operand *map = &t->program->vectors[tensor->number];
    return map->kind == WSDBG_PTX_OPERAND_ADDRESS ? wsdbg_ptx_memory(t, map) : wsdbg_ptx_plain(t, map);
}

static void translate_copy(const struct wsdbg_ptx_translation *t)
{
    const bool is_tensor = t->from->operation == WSDBG_PTX_OP_tensor_copy;
    if (t->from->space == WSDBG_PTX_GLOBAL) {
        wsdbg_ptx_become(t, is_tensor ? WSDBG_OP_UTMASTG : WSDBG_OP_UBLKCP);
        return;
    }
    wsdbg_ptx_become(t, is_tensor ? WSDBG_OP_UTMALDG : WSDBG_OP_UBLKCP);
    t->out->writes_shared = true;
    t->out->is_multicast = t->from->flags & WSDBG_PTX_MULTICAST;
    wsdbg_ptx_add(t, wsdbg_ptx_memory(t, wsdbg_ptx_source(t, is_tensor ? 2 : 3)));
    if (is_tensor)
        wsdbg_ptx_add(t, map_of(t));
    else
        wsdbg_ptx_add_source(t, 2);
    if (t->out->is_multicast)
        wsdbg_ptx_add_source(t, !is_tensor ? 4 : t->from->flags & WSDBG_PTX_IM2COL ? 4 : 3);
}

/* What is sent to another CTA completes its bytes there. */
static void translate_sent(const struct wsdbg_ptx_translation *t)
{
    const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->from->type);
    wsdbg_ptx_become(t, WSDBG_OP_SYNCS_ARRIVE);
    t->out->mode = WSDBG_ARRIVE_A0TX;
    t->out->is_reduction = true;
    wsdbg_ptx_add(t, wsdbg_ptx_memory(t, wsdbg_ptx_source(t, 2)));
    wsdbg_ptx_add(t, wsdbg_ptx_immediate((int64_t)bytes * (t->from->vector_length ? t->from->vector_length : 1)));
}

static bool translate_mbarrier(const struct wsdbg_ptx_translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_mbarrier_init:
        wsdbg_ptx_become(t, WSDBG_OP_SYNCS_EXCH);
        add_barrier(t, 0, 1);
        return true;
    case WSDBG_PTX_OP_mbarrier_inval:
        wsdbg_ptx_become(t, WSDBG_OP_SYNCS_CCTL);
        add_barrier(t, 0, 1);
        return true;
    case WSDBG_PTX_OP_mbarrier_arrive:
    case WSDBG_PTX_OP_mbarrier_arrive_drop:
        if (t->from->flags & WSDBG_PTX_EXPECT_TX)
            translate_arrival(t, WSDBG_ARRIVE_A1TR);
        else
            translate_arrival(t, wsdbg_ptx_source_count(t) > 1 ? WSDBG_ARRIVE_ART0 : WSDBG_ARRIVE_A1T0);
        return true;
    case WSDBG_PTX_OP_mbarrier_arrive_expect_tx:
        translate_arrival(t, WSDBG_ARRIVE_A1TR);
        return true;
    case WSDBG_PTX_OP_mbarrier_expect_tx:
        translate_arrival(t, WSDBG_ARRIVE_A0TR);
        return true;
    case WSDBG_PTX_OP_mbarrier_complete_tx:
        translate_arrival(t, WSDBG_ARRIVE_A0TX);
        return true;
    case WSDBG_PTX_OP_mbarrier_test_wait:
    case WSDBG_PTX_OP_mbarrier_try_wait:
        wsdbg_ptx_become(t, WSDBG_OP_SYNCS_PHASECHK);
        t->out->is_try_wait = t->from->operation == WSDBG_PTX_OP_mbarrier_try_wait;
        add_barrier(t, 0, 1);
        if (!(t->from->flags & WSDBG_PTX_PARITY)) /* a token, not a parity */
            t->out->sources[1] = wsdbg_ptx_special(WSDBG_PTX_SMID);
        return true;
    case WSDBG_PTX_OP_cp_async_mbarrier_arrive:
        wsdbg_ptx_become(t, WSDBG_OP_ARRIVES);
        t->out->mode = !!(t->from->flags & WSDBG_PTX_NO_INCREMENT);
        add_barrier(t, 0, 1);
        return true;
    case WSDBG_PTX_OP_bulk_copy:
    case WSDBG_PTX_OP_tensor_copy:
        translate_copy(t);
        return true;
    case WSDBG_PTX_OP_st_async:
    case WSDBG_PTX_OP_red_async:
        translate_sent(t);
        return true;
    default:
        return false;
    }
}

static void translate_named(const struct wsdbg_ptx_translation *t, enum wsdbg_bar_mode mode)
{
    wsdbg_ptx_become(t, WSDBG_OP_BAR);
    t->out->mode = (uint8_t)mode;
    wsdbg_ptx_add_source(t, 0);
    const unsigned others = t->from->operation == WSDBG_PTX_OP_bar_red; /* the predicate */
    if (wsdbg_ptx_source_count(t) > 1 + others)
        wsdbg_ptx_add_source(t, 1);
}

static bool translate_other_barrier(const struct wsdbg_ptx_translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_bar_sync:
        translate_named(t, WSDBG_BAR_SYNC);
        return true;
    case WSDBG_PTX_OP_bar_arrive:
        translate_named(t, WSDBG_BAR_ARV);
        return true;
    case WSDBG_PTX_OP_bar_red:
        translate_named(t, WSDBG_BAR_RED);
        return true;
    case WSDBG_PTX_OP_bar_warp_sync:
        wsdbg_ptx_become(t, WSDBG_OP_WARPSYNC);
        return true;
    case WSDBG_PTX_OP_barrier_cluster_arrive:
        wsdbg_ptx_become(t, WSDBG_OP_UCGABAR_ARV);
        return true;
    case WSDBG_PTX_OP_barrier_cluster_wait:
        wsdbg_ptx_become(t, WSDBG_OP_UCGABAR_WAIT);
        return true;
    case WSDBG_PTX_OP_setmaxnreg:
        wsdbg_ptx_become(t, WSDBG_OP_USETMAXREG);
        t->out->mode = t->from->variant == WSDBG_PTX_V_DEC ? WSDBG_MAXREG_DEALLOC : WSDBG_MAXREG_TRY_ALLOC;
        wsdbg_ptx_add_source(t, 0);
        return true;
    case WSDBG_PTX_OP_griddepcontrol_wait:
        wsdbg_ptx_become(t, WSDBG_OP_ACQBULK);
        return true;
    case WSDBG_PTX_OP_griddepcontrol_launch_dependents:
        wsdbg_ptx_become(t, WSDBG_OP_PREEXIT);
        return true;
    default:
        return false;
    }
}

/* ---- engines ---- */

static bool translate_engine(const struct wsdbg_ptx_translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_wgmma_mma_async:
        wsdbg_ptx_become(t, WSDBG_OP_HGMMA);
        return true;
    case WSDBG_PTX_OP_wgmma_fence:
        wsdbg_ptx_become(t, WSDBG_OP_WARPGROUP);
        t->out->mode = WSDBG_WARPGROUP_ARRIVE;
        return true;
    case WSDBG_PTX_OP_wgmma_commit_group:
        wsdbg_ptx_become(t, WSDBG_OP_WARPGROUP);
        t->out->mode = WSDBG_WARPGROUP_COMMIT;
        return true;
    case WSDBG_PTX_OP_wgmma_wait_group:
        wsdbg_ptx_become(t, WSDBG_OP_WARPGROUP);
        t->out->mode = WSDBG_WARPGROUP_DEPBAR;
        wsdbg_ptx_add_source(t, 0);
        return true;
    case WSDBG_PTX_OP_bulk_reduce:
    case WSDBG_PTX_OP_tensor_reduce:
        wsdbg_ptx_become(t, WSDBG_OP_UTMAREDG);
        return true;
    case WSDBG_PTX_OP_bulk_commit_group:
        wsdbg_ptx_become(t, WSDBG_OP_UTMACMDFLUSH);
        return true;
    case WSDBG_PTX_OP_bulk_wait_group:
        wsdbg_ptx_become(t, WSDBG_OP_DEPBAR);
        wsdbg_ptx_add_source(t, 0);
        return true;
    case WSDBG_PTX_OP_nanosleep:
        wsdbg_ptx_become(t, WSDBG_OP_NANOSLEEP);
        return true;
    case WSDBG_PTX_OP_discard: /* memory changes */
    case WSDBG_PTX_OP_tensormap_replace:
    case WSDBG_PTX_OP_tensormap_cp_fenceproxy:
        wsdbg_ptx_become(t, WSDBG_OP_UTMACCTL);
        return true;
    default:
        return false;
    }
}

bool wsdbg_ptx_translate_barrier(const struct wsdbg_ptx_translation *t)
{
    return translate_mbarrier(t) || translate_other_barrier(t) || translate_engine(t);
}
