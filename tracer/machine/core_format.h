/* core_format.h - the sections and rows of a GPU core dump, as cudacoredump.h describes them and drivers up to 590
 * write them.
 *
 * A dump is an ELF64 file of sections only.  A table holds rows; a table, or a block of registers or memory, belongs to
 * row sh_info of the table that is section sh_link.  Rows grow with the driver: the step is sh_entsize, and a field is
 * there only where it lies within that.
 */
#ifndef WSDBG_MACHINE_CORE_FORMAT_H
#define WSDBG_MACHINE_CORE_FORMAT_H

#include <string.h>

#include "base/optional.h"

#define CORE_MACHINE 190u /* e_machine */
#define CORE_OS_ABI 0x33u
#define CORE_ABI_VERSION 7u
#define CORE_SECTION_BASE 0x80000000u /* sh_type = this + enum core_section_kind */

enum core_section_kind {
    CORE_MANAGED = 1,         /* of no row (driver 580); sh_addr: where it begins */
    CORE_GLOBAL = 2,          /* the same; constant banks, too */
    CORE_LOCAL = 3,           /* of a lane; sh_addr: the address at which it begins */
    CORE_SHARED = 4,          /* of a CTA */
    CORE_REGISTERS = 5,       /* of a lane: u32 each */
    CORE_RELOCATED_IMAGE = 7, /* of a module: its ELF file with GPU addresses */
    CORE_DEVICES = 9,
    CORE_CONTEXTS = 10,   /* of a device */
    CORE_SMS = 11,        /* of a device */
    CORE_GRIDS = 12,      /* of a device */
    CORE_CTAS = 13,       /* of an SM */
    CORE_WARPS = 14,      /* of a CTA */
    CORE_LANES = 15,      /* of a warp */
    CORE_MODULES = 16,    /* of a context */
    CORE_PREDICATES = 17, /* of a lane: u32 each, 0 or 1 */
    CORE_PARAMETERS = 18, /* of a grid */
    CORE_UNIFORM = 19,    /* of a warp: u32 each */
    CORE_BANKS = 21,      /* of a grid: where its constant banks lie in global memory */
    CORE_META = 22,
    CORE_CONVERGENCE = 23, /* of a warp: u32 lane mask of each convergence barrier */
    CORE_SECTION_KINDS
};

/* Byte offsets in rows; u32 unless the name ends in _U64 or _STRING (u64, offset in the section .strtab). */
enum {
    CORE_DEVICE_NAME_STRING = 0,
    CORE_DEVICE_KIND_STRING = 8,
    CORE_DEVICE_SM_STRING = 16,
    CORE_DEVICE_ID = 24,
    CORE_DEVICE_SMS = 36,
    CORE_DEVICE_WARPS = 40,
    CORE_DEVICE_LANES = 44,
    CORE_DEVICE_REGISTERS = 48,
    CORE_DEVICE_PREDICATES = 52,
    CORE_DEVICE_SM_MAJOR = 56,
    CORE_DEVICE_SM_MINOR = 60,
    CORE_DEVICE_INSTRUCTION_BYTES = 64,
    CORE_DEVICE_UNIFORM = 72,
    CORE_DEVICE_BYTES = 88,

    CORE_CONTEXT_ID_U64 = 0,
    CORE_CONTEXT_SHARED_WINDOW_U64 = 8,
    CORE_CONTEXT_LOCAL_WINDOW_U64 = 16,
    CORE_CONTEXT_DEVICE = 32,
    CORE_CONTEXT_BYTES = 40,

    CORE_MODULE_HANDLE_U64 = 0,
    CORE_MODULE_BYTES = 8,

    CORE_GRID_ID_U64 = 0,
    CORE_GRID_CONTEXT_U64 = 8,
    CORE_GRID_FUNCTION_U64 = 16,
    CORE_GRID_ENTRY_U64 = 24,
    CORE_GRID_MODULE_U64 = 32,
    CORE_GRID_PARAMETERS_U64 = 48,
    CORE_GRID_REGISTERS = 68,
    CORE_GRID_CTAS = 72,
    CORE_GRID_THREADS = 84,
    CORE_GRID_CLUSTER = 104,
    CORE_GRID_BYTES = 136,

    CORE_SM_ID = 0,
    CORE_SM_EXCEPTION = 8,
    CORE_SM_BYTES = 48,

    CORE_CTA_GRID_U64 = 0,
    CORE_CTA_BLOCK = 8,
    CORE_CTA_CLUSTER_INDEX = 24,
    CORE_CTA_CLUSTER_SIZE = 40,
    CORE_CTA_BYTES = 56,

    CORE_WARP_ERROR_PC_U64 = 0,
    CORE_WARP_SLOT = 8,
    CORE_WARP_VALID = 12,
    CORE_WARP_ACTIVE = 16,
    CORE_WARP_ERROR_PC_VALID = 24,
    CORE_WARP_REGISTERS = 32,
    CORE_WARP_SHARED_BYTES = 40,
    CORE_WARP_EXITED = 56,
    CORE_WARP_BYTES = 64,

    CORE_LANE_PC_U64 = 0,
    CORE_LANE_OFFSET_U64 = 8,
    CORE_LANE_NUMBER = 16,
    CORE_LANE_THREAD = 20,
    CORE_LANE_EXCEPTION = 32,
    CORE_LANE_STATE = 48,
    CORE_LANE_BYTES = 56,

    CORE_BANK_ADDRESS_U64 = 0,
    CORE_BANK_SIZE = 8,
    CORE_BANK_NUMBER = 12,
    CORE_BANK_BYTES = 16,

    CORE_META_GENERATOR_STRING = 0,
    CORE_META_DRIVER_MAJOR = 8,
    CORE_META_DRIVER_MINOR = 12,
    CORE_META_FLAGS = 24,
    CORE_META_BYTES = 32
};

/* What a kept look has as its generator's name: when it was taken.  The format has room for seconds only. */
#define CORE_LOOK_NAME "wsdbg, a look at "

/* Of CORE_META_FLAGS: what the dump leaves out, as CUDA_COREDUMP_GENERATION_FLAGS asked. */
enum { CORE_SKIPPED_SHARED = 1u << 2 };

/* What a section belongs to: a row of the table that is section `table`. */
struct core_place {
    uint32_t table, row;
};

struct core_row {
    const unsigned char *bytes;
    size_t byte_count;
};

static inline struct wsdbg_optional_u32 core_u32(struct core_row row, size_t offset)
{
    struct wsdbg_optional_u32 field = {0};
    if (offset + sizeof field.value <= row.byte_count) {
        memcpy(&field.value, row.bytes + offset, sizeof field.value);
        field.known = true;
    }
    return field;
}

static inline struct wsdbg_optional_u64 core_u64(struct core_row row, size_t offset)
{
    struct wsdbg_optional_u64 field = {0};
    if (offset + sizeof field.value <= row.byte_count) {
        memcpy(&field.value, row.bytes + offset, sizeof field.value);
        field.known = true;
    }
    return field;
}

#endif
