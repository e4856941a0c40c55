/* type.c - the sizes of PTX types; see program.h. */
#include "ptx/program.h"

unsigned wsdbg_ptx_type_bytes(enum wsdbg_ptx_type type)
{
    static const uint8_t bytes[WSDBG_PTX_TYPE_COUNT] = {
        [WSDBG_PTX_B8] = 1,     [WSDBG_PTX_U8] = 1,    [WSDBG_PTX_S8] = 1,     [WSDBG_PTX_E4M3] = 1,
        [WSDBG_PTX_E5M2] = 1,   [WSDBG_PTX_B16] = 2,   [WSDBG_PTX_U16] = 2,    [WSDBG_PTX_S16] = 2,
        [WSDBG_PTX_F16] = 2,    [WSDBG_PTX_BF16] = 2,  [WSDBG_PTX_E4M3X2] = 2, [WSDBG_PTX_E5M2X2] = 2,
        [WSDBG_PTX_B32] = 4,    [WSDBG_PTX_U32] = 4,   [WSDBG_PTX_S32] = 4,    [WSDBG_PTX_F16X2] = 4,
        [WSDBG_PTX_BF16X2] = 4, [WSDBG_PTX_TF32] = 4,  [WSDBG_PTX_F32] = 4,    [WSDBG_PTX_B64] = 8,
        [WSDBG_PTX_U64] = 8,    [WSDBG_PTX_S64] = 8,   [WSDBG_PTX_F64] = 8,    [WSDBG_PTX_B128] = 16,
        [WSDBG_PTX_S16X2] = 4,  [WSDBG_PTX_U16X2] = 4,
    };
    return bytes[type];
}

unsigned wsdbg_ptx_type_bits(enum wsdbg_ptx_type type)
{
    switch (type) {
    case WSDBG_PTX_S4:
    case WSDBG_PTX_U4:
        return 4;
    case WSDBG_PTX_B1:
        return 1;
    default:
        return 8 * wsdbg_ptx_type_bytes(type);
    }
}
