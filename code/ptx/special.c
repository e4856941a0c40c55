/* special.c - the names of PTX's special registers.
 *
 * Reads: a name.  Writes: the register's number, type and whether it has elements.
 */
#include <string.h>

#include "ptx/operand.h"

static const struct special {
    const char *name;
    uint8_t number;
    uint8_t type;
    bool has_dimensions; /* number is that of .x */
} specials[] = {
    {"%tid", WSDBG_PTX_TID_X, WSDBG_PTX_U32, true},
    {"%ntid", WSDBG_PTX_NTID_X, WSDBG_PTX_U32, true},
    {"%ctaid", WSDBG_PTX_CTAID_X, WSDBG_PTX_U32, true},
    {"%nctaid", WSDBG_PTX_NCTAID_X, WSDBG_PTX_U32, true},
    {"%clusterid", WSDBG_PTX_CLUSTERID_X, WSDBG_PTX_U32, true},
    {"%nclusterid", WSDBG_PTX_NCLUSTERID_X, WSDBG_PTX_U32, true},
    {"%cluster_ctaid", WSDBG_PTX_CLUSTER_CTAID_X, WSDBG_PTX_U32, true},
    {"%cluster_nctaid", WSDBG_PTX_CLUSTER_NCTAID_X, WSDBG_PTX_U32, true},
    {"%cluster_ctarank", WSDBG_PTX_CLUSTER_CTARANK, WSDBG_PTX_U32, false},
    {"%cluster_nctarank", WSDBG_PTX_CLUSTER_NCTARANK, WSDBG_PTX_U32, false},
    {"%is_explicit_cluster", WSDBG_PTX_IS_EXPLICIT_CLUSTER, WSDBG_PTX_PRED, false},
    {"%laneid", WSDBG_PTX_LANEID, WSDBG_PTX_U32, false},
    {"%warpid", WSDBG_PTX_WARPID, WSDBG_PTX_U32, false},
    {"%nwarpid", WSDBG_PTX_NWARPID, WSDBG_PTX_U32, false},
    {"%smid", WSDBG_PTX_SMID, WSDBG_PTX_U32, false},
    {"%nsmid", WSDBG_PTX_NSMID, WSDBG_PTX_U32, false},
    {"%gridid", WSDBG_PTX_GRIDID, WSDBG_PTX_U64, false},
    {"%lanemask_eq", WSDBG_PTX_LANEMASK_EQ, WSDBG_PTX_U32, false},
    {"%lanemask_le", WSDBG_PTX_LANEMASK_LE, WSDBG_PTX_U32, false},
    {"%lanemask_lt", WSDBG_PTX_LANEMASK_LT, WSDBG_PTX_U32, false},
    {"%lanemask_ge", WSDBG_PTX_LANEMASK_GE, WSDBG_PTX_U32, false},
    {"%lanemask_gt", WSDBG_PTX_LANEMASK_GT, WSDBG_PTX_U32, false},
    {"%clock", WSDBG_PTX_CLOCK, WSDBG_PTX_U32, false},
    {"%clock_hi", WSDBG_PTX_CLOCK_HI, WSDBG_PTX_U32, false},
    {"%clock64", WSDBG_PTX_CLOCK64, WSDBG_PTX_U64, false},
    {"%globaltimer", WSDBG_PTX_GLOBALTIMER, WSDBG_PTX_U64, false},
    {"%globaltimer_lo", WSDBG_PTX_GLOBALTIMER_LO, WSDBG_PTX_U32, false},
    {"%globaltimer_hi", WSDBG_PTX_GLOBALTIMER_HI, WSDBG_PTX_U32, false},
    {"%dynamic_smem_size", WSDBG_PTX_DYNAMIC_SMEM_SIZE, WSDBG_PTX_U32, false},
    {"%total_smem_size", WSDBG_PTX_TOTAL_SMEM_SIZE, WSDBG_PTX_U32, false},
    {"%reserved_smem_offset_0", WSDBG_PTX_RESERVED_SMEM_OFFSET_0, WSDBG_PTX_U32, false},
    {"%reserved_smem_offset_1", WSDBG_PTX_RESERVED_SMEM_OFFSET_1, WSDBG_PTX_U32, false},
    {"%envreg1", WSDBG_PTX_ENVREG_1, WSDBG_PTX_U32, false},
    {"%envreg2", WSDBG_PTX_ENVREG_2, WSDBG_PTX_U32, false},
    {"%reserved_smem_offset_begin", WSDBG_PTX_RESERVED_SMEM_OFFSET_BEGIN, WSDBG_PTX_U32, false},
    {"%reserved_smem_offset_end", WSDBG_PTX_RESERVED_SMEM_OFFSET_END, WSDBG_PTX_U32, false},
};

bool ptx_special_find(struct ptx_slice base, struct ptx_slice dimension, uint32_t *number, uint8_t *type)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        const struct special *special = &specials[i];
        if (!ptx_slice_is(base, special->name))
            continue;
        if ((dimension.length == 1) != special->has_dimensions || (dimension.length && !special->has_dimensions) ||
            (special->has_dimensions && !memchr("xyz", *dimension.bytes, 3)))
            return false;
        *number = special->number + (uint32_t)(special->has_dimensions ? *dimension.bytes - 'x' : 0);
        *type = special->type;
        return true;
    }
    return false;
}
