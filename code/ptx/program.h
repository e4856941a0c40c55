/* program.h - PTX text, resolved: what the software sm_90 executes.
 *
 * Made by: wsdbg_ptx_parse (ptx/parse.h).  Read by: hopper/ (execution), evidence (sites), explore.
 * All names are gone: registers are numbers, labels are instruction indices, variables have offsets in their space.
 * Everything is owned by the program; nothing changes after it was made, so threads may share one.
 */
#ifndef WSDBG_PTX_PROGRAM_H
#define WSDBG_PTX_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WSDBG_PTX_NONE UINT32_MAX

/* Fundamental types; .b8 to .b128 are bits without a meaning. */
enum wsdbg_ptx_type {
    WSDBG_PTX_NO_TYPE,
    WSDBG_PTX_PRED,
    WSDBG_PTX_B8,
    WSDBG_PTX_B16,
    WSDBG_PTX_B32,
    WSDBG_PTX_B64,
    WSDBG_PTX_B128,
    WSDBG_PTX_U8,
    WSDBG_PTX_U16,
    WSDBG_PTX_U32,
    WSDBG_PTX_U64,
    WSDBG_PTX_S8,
    WSDBG_PTX_S16,
    WSDBG_PTX_S32,
    WSDBG_PTX_S64,
    WSDBG_PTX_F16,
    WSDBG_PTX_F16X2,
    WSDBG_PTX_BF16,
    WSDBG_PTX_BF16X2,
    WSDBG_PTX_TF32,
    WSDBG_PTX_F32,
    WSDBG_PTX_F64,
    WSDBG_PTX_E4M3,
    WSDBG_PTX_E5M2,
    WSDBG_PTX_E4M3X2,
    WSDBG_PTX_E5M2X2,
    WSDBG_PTX_S16X2,
    WSDBG_PTX_U16X2,
    WSDBG_PTX_S4, /* of matrices only, like U4 and B1 */
    WSDBG_PTX_U4,
    WSDBG_PTX_B1,
    WSDBG_PTX_TYPE_COUNT
};
/* Bytes of one value of the type; 0 for PRED, NO_TYPE and what is shorter than a byte. */
unsigned wsdbg_ptx_type_bytes(enum wsdbg_ptx_type type);
/* Bits of one; 0 for PRED and NO_TYPE. */
unsigned wsdbg_ptx_type_bits(enum wsdbg_ptx_type type);

enum wsdbg_ptx_space {
    WSDBG_PTX_GENERIC,
    WSDBG_PTX_GLOBAL,
    WSDBG_PTX_CONST,
    WSDBG_PTX_PARAM,
    WSDBG_PTX_LOCAL,
    WSDBG_PTX_SHARED,         /* shared::cta, the default of .shared */
    WSDBG_PTX_SHARED_CLUSTER, /* shared::cluster */
    WSDBG_PTX_SPACE_COUNT
};

/* Special registers that are read as operands. */
enum wsdbg_ptx_special {
    WSDBG_PTX_TID_X,
    WSDBG_PTX_TID_Y,
    WSDBG_PTX_TID_Z,
    WSDBG_PTX_NTID_X,
    WSDBG_PTX_NTID_Y,
    WSDBG_PTX_NTID_Z,
    WSDBG_PTX_CTAID_X,
    WSDBG_PTX_CTAID_Y,
    WSDBG_PTX_CTAID_Z,
    WSDBG_PTX_NCTAID_X,
    WSDBG_PTX_NCTAID_Y,
    WSDBG_PTX_NCTAID_Z,
    WSDBG_PTX_LANEID,
    WSDBG_PTX_WARPID,
    WSDBG_PTX_NWARPID,
    WSDBG_PTX_SMID,
    WSDBG_PTX_NSMID,
    WSDBG_PTX_GRIDID,
    WSDBG_PTX_LANEMASK_EQ,
    WSDBG_PTX_LANEMASK_LE,
    WSDBG_PTX_LANEMASK_LT,
    WSDBG_PTX_LANEMASK_GE,
    WSDBG_PTX_LANEMASK_GT,
    WSDBG_PTX_CLOCK,
    WSDBG_PTX_CLOCK_HI,
    WSDBG_PTX_CLOCK64,
    WSDBG_PTX_GLOBALTIMER,
    WSDBG_PTX_GLOBALTIMER_LO,
    WSDBG_PTX_GLOBALTIMER_HI,
    WSDBG_PTX_CLUSTERID_X,
    WSDBG_PTX_CLUSTERID_Y,
    WSDBG_PTX_CLUSTERID_Z,
    WSDBG_PTX_NCLUSTERID_X,
    WSDBG_PTX_NCLUSTERID_Y,
    WSDBG_PTX_NCLUSTERID_Z,
    WSDBG_PTX_CLUSTER_CTAID_X,
    WSDBG_PTX_CLUSTER_CTAID_Y,
    WSDBG_PTX_CLUSTER_CTAID_Z,
    WSDBG_PTX_CLUSTER_NCTAID_X,
    WSDBG_PTX_CLUSTER_NCTAID_Y,
    WSDBG_PTX_CLUSTER_NCTAID_Z,
    WSDBG_PTX_CLUSTER_CTARANK,
    WSDBG_PTX_CLUSTER_NCTARANK,
    WSDBG_PTX_IS_EXPLICIT_CLUSTER,
    WSDBG_PTX_DYNAMIC_SMEM_SIZE,
    WSDBG_PTX_TOTAL_SMEM_SIZE,
    WSDBG_PTX_RESERVED_SMEM_OFFSET_0,
    WSDBG_PTX_RESERVED_SMEM_OFFSET_1, /* of cooperative groups */
    WSDBG_PTX_RESERVED_SMEM_OFFSET_BEGIN,
    WSDBG_PTX_RESERVED_SMEM_OFFSET_END,
    WSDBG_PTX_ENVREG_1, /* a cooperative grid's workspace, the address' high half */
    WSDBG_PTX_ENVREG_2, /* and its low half */
    WSDBG_PTX_SPECIAL_COUNT
};

enum wsdbg_ptx_operand_kind {
    WSDBG_PTX_OPERAND_NONE,
    WSDBG_PTX_OPERAND_REGISTER,  /* number; negated: `!p` of a predicate */
    WSDBG_PTX_OPERAND_IMMEDIATE, /* value: integers sign-extended, floats as the bits of the type (.f32 or .f64) */
    WSDBG_PTX_OPERAND_SPECIAL,   /* number: enum wsdbg_ptx_special */
    WSDBG_PTX_OPERAND_ADDRESS, /* [base + value]: number is a register or NONE; a variable's offset is in value already,
                                  and space says whose; also a variable's name as a plain source (mov.u64 %rd, name) */
    WSDBG_PTX_OPERAND_VECTOR,  /* {a, b, ...}: `count` elements from program->vectors[number] on; `value` unused.
                                  A sink `_` is an element of kind NONE. */
    WSDBG_PTX_OPERAND_TENSOR,  /* [map, {coordinates}]: count + 1 elements of vectors, the map's address first */
    WSDBG_PTX_OPERAND_SINK     /* `_` */
};

struct wsdbg_ptx_operand {
    uint8_t kind;  /* enum wsdbg_ptx_operand_kind */
    uint8_t space; /* of ADDRESS: of the variable it names, else GENERIC */
    bool negated;
    uint8_t from_generic; /* 1: generic(name) was written */
    uint32_t number;
    uint32_t count;
    bool is_written; /* a register, or the registers of a vector, that the instruction writes */
    int64_t value;
};

/* Operations: rows of ptx/instructions.def. */
enum wsdbg_ptx_operation {
    WSDBG_PTX_NO_OPERATION,
#define PTX(id, ...) WSDBG_PTX_OP_##id,
#include "ptx/instructions.def"
#undef PTX
    WSDBG_PTX_OPERATION_COUNT
};

enum wsdbg_ptx_compare {
    WSDBG_PTX_EQ,
    WSDBG_PTX_NE,
    WSDBG_PTX_LT,
    WSDBG_PTX_LE,
    WSDBG_PTX_GT,
    WSDBG_PTX_GE,
    WSDBG_PTX_LO,
    WSDBG_PTX_LS,
    WSDBG_PTX_HI,
    WSDBG_PTX_HS,
    WSDBG_PTX_EQU,
    WSDBG_PTX_NEU,
    WSDBG_PTX_LTU,
    WSDBG_PTX_LEU,
    WSDBG_PTX_GTU,
    WSDBG_PTX_GEU,
    WSDBG_PTX_NUM,
    WSDBG_PTX_NAN
};
enum wsdbg_ptx_combine { WSDBG_PTX_NO_COMBINE, WSDBG_PTX_AND, WSDBG_PTX_OR, WSDBG_PTX_XOR };
enum wsdbg_ptx_rounding {
    WSDBG_PTX_ROUND_DEFAULT,
    WSDBG_PTX_RN,
    WSDBG_PTX_RZ,
    WSDBG_PTX_RM,
    WSDBG_PTX_RP,
    WSDBG_PTX_RNA,
    WSDBG_PTX_RNI,
    WSDBG_PTX_RZI,
    WSDBG_PTX_RMI,
    WSDBG_PTX_RPI
};
enum wsdbg_ptx_part { WSDBG_PTX_WHOLE, WSDBG_PTX_LOW, WSDBG_PTX_HIGH, WSDBG_PTX_WIDE }; /* of mul, mad */
/* The operation of atom, red, redux, bar.red, cp.reduce; and of shfl: idx, up, down, bfly; and of vote; what others
 * are about. */
enum wsdbg_ptx_variant {
    WSDBG_PTX_NO_VARIANT,
    WSDBG_PTX_V_ADD,
    WSDBG_PTX_V_MIN,
    WSDBG_PTX_V_MAX,
    WSDBG_PTX_V_INC,
    WSDBG_PTX_V_DEC,
    WSDBG_PTX_V_AND,
    WSDBG_PTX_V_OR,
    WSDBG_PTX_V_XOR,
    WSDBG_PTX_V_EXCH,
    WSDBG_PTX_V_CAS,
    WSDBG_PTX_V_POPC,
    WSDBG_PTX_V_IDX,
    WSDBG_PTX_V_UP,
    WSDBG_PTX_V_DOWN,
    WSDBG_PTX_V_BFLY,
    WSDBG_PTX_V_ALL,
    WSDBG_PTX_V_ANY,
    WSDBG_PTX_V_UNI,
    WSDBG_PTX_V_BALLOT,
    WSDBG_PTX_V_LEFT,
    WSDBG_PTX_V_RIGHT, /* of shf */
    WSDBG_PTX_V_F4E,
    WSDBG_PTX_V_B4E,
    WSDBG_PTX_V_RC8,
    WSDBG_PTX_V_ECL,
    WSDBG_PTX_V_ECR,
    WSDBG_PTX_V_RC16, /* of prmt */
    WSDBG_PTX_V_FINITE,
    WSDBG_PTX_V_INFINITE,
    WSDBG_PTX_V_NUMBER,
    WSDBG_PTX_V_NOT_A_NUMBER,
    WSDBG_PTX_V_NORMAL,
    WSDBG_PTX_V_SUBNORMAL, /* of testp */
    WSDBG_PTX_V_GLOBAL_ADDRESS,
    WSDBG_PTX_V_RANK,
    WSDBG_PTX_V_BOX_DIM,
    WSDBG_PTX_V_GLOBAL_DIM,
    WSDBG_PTX_V_GLOBAL_STRIDE,
    WSDBG_PTX_V_ELEMENT_STRIDE,
    WSDBG_PTX_V_ELEMENT_TYPE,
    WSDBG_PTX_V_INTERLEAVE,
    WSDBG_PTX_V_SWIZZLE,
    WSDBG_PTX_V_FILL /* of tensormap.replace */
};

/* Modifiers that are there or not. */
enum wsdbg_ptx_flag {
    WSDBG_PTX_FTZ = 1u << 0,
    WSDBG_PTX_SAT = 1u << 1,
    WSDBG_PTX_APPROX = 1u << 2,
    WSDBG_PTX_CARRY_OUT = 1u << 3, /* .cc */
    WSDBG_PTX_VOLATILE = 1u << 4,
    WSDBG_PTX_RELAXED = 1u << 5,
    WSDBG_PTX_ACQUIRE = 1u << 6,
    WSDBG_PTX_RELEASE = 1u << 7,
    WSDBG_PTX_UNI = 1u << 8,
    WSDBG_PTX_ALIGNED = 1u << 9,
    WSDBG_PTX_MULTICAST = 1u << 10,
    WSDBG_PTX_CACHE_HINT = 1u << 11,       /* .L2::cache_hint: the last source is not used */
    WSDBG_PTX_READ_ONLY_GROUPS = 1u << 12, /* .read of cp.async.bulk.wait_group */
    WSDBG_PTX_TRANSPOSED = 1u << 13,
    WSDBG_PTX_NO_COMPLETE = 1u << 14,
    WSDBG_PTX_PARITY = 1u << 15,
    WSDBG_PTX_IM2COL = 1u << 16,
    WSDBG_PTX_SHIFT_WRAP = 1u << 17,
    WSDBG_PTX_TO_SHARED = 1u << 18, /* cvta.to.*, store direction: see the row */
    WSDBG_PTX_NON_COHERENT = 1u << 19,
    WSDBG_PTX_WITH_PREDICATE = 1u << 20, /* d|p of shfl, setp, elect */
    WSDBG_PTX_RELU = 1u << 21,
    WSDBG_PTX_SATFINITE = 1u << 22,
    WSDBG_PTX_NAN_WINS = 1u << 23, /* .NaN of min, max */
    WSDBG_PTX_XORSIGN_ABS = 1u << 24,
    WSDBG_PTX_SHIFT_AMOUNT = 1u << 25, /* .shiftamt of bfind */
    WSDBG_PTX_EXPECT_TX = 1u << 26,    /* of mbarrier.arrive_drop */
    WSDBG_PTX_NO_INCREMENT = 1u << 27, /* .noinc of cp.async.mbarrier.arrive */
    WSDBG_PTX_SYSTEM = 1u << 28        /* .sys */
};

/* One instruction.  Operands in the order of the text, destinations first; a vector counts as one, and so does the
 * predicate of d|p, which is operand 1 with WITH_PREDICATE and is not there without.  Optional operands that were left
 * out are not there either (operand_count).  Labels and tables of branches are in `target` only.
 *
 * Registers have the width of what they hold, except: ld, st and cvt may use wider ones; an address may be 32 or 64
 * bits in any space (32 are zero-extended).  An immediate is cut to its operand's width and sign-extended from there;
 * of a predicate it is 0 or 1.  Vectors: ld, st, atom, red with vector_length > 1; mov that packs or unpacks; fragments
 * of wgmma and mma; ldmatrix and stmatrix (also x1); im2col offsets.
 *
 * What a field means where it is not obvious:
 *   add sub addc subc mad madc   CARRY_OUT: .cc
 *   mul mad madc mul24 mad24     part (WHOLE for floats); WIDE: d, and c of mad, have twice the type's width
 *   div rcp sqrt sin …           APPROX: .approx; div.full is as div.rn
 *   lop3                         combine and WITH_PREDICATE: d, p, a, b, c, table, q
 *   dp4a                         type of a, source_type of b
 *   prmt shf testp               variant; NO_VARIANT of prmt: the selector's four nibbles
 *   setp set                     compare, combine (the last operand); set: type of d, source_type of a and b;
 *                                LO, LS, HI, HS are unsigned whatever the type says
 *   slct                         source_type of c
 *   cvt                          type of d, source_type of a; rounding DEFAULT: none was written; two sources with x2
 *   cvt.pack                     type of d's parts, source_type of a and b
 *   cvta isspacep mapa           space; cvta: TO_SHARED is .to (of any space), type is the size
 *   ld st atom red               space: GENERIC when none was written; the memory order is in the flags
 *   call                         target: the callee's first instruction in this kernel, NONE = it has no body (vprintf,
 *                                __assertfail); operand 0: index in program->functions; operand 1: where its
 *                                parameters, results first, lie in local memory (their offsets there: its
 *                                `parameters`).  Through a pointer: NONE, and operand 0 is the register
 *   shfl vote match redux elect  variant; the lanes' mask is the last operand
 *   bar.*, barrier.*             one row each: ALIGNED for bar.* and .aligned; bar.red: AND, OR, POPC
 *   membar fence                 space of fence.proxy.async.*; nothing else is kept
 *   mbarrier.*                   space: GENERIC when none was written; PARITY; NO_COMPLETE; arrive_drop: EXPECT_TX
 *   cp.async                     ignore-src is a predicate as fourth operand, src-size a 32-bit value
 *   cp.async.bulk*, cp.reduce*   space of the destination, source_space; variant and type of reductions; the last
 *                                operands are, in this order: with MULTICAST the mask, with CACHE_HINT the policy
 *   cp…tensor                    dimensions; IM2COL: offsets are the operand behind the mbarrier (im2col_no_offs: none)
 *   wgmma mma                    type of d (and c), source_type of a, third_type of b; m, n, k
 *   wgmma                        operands d, a, b, scale-d, then constants scale-a, scale-b, and for 16-bit types
 *                                trans-a (not with a in registers) and trans-b
 *   setmaxnreg                   variant INC or DEC
 */
enum { WSDBG_PTX_OPERANDS_MAX = 8 };
struct wsdbg_ptx_instruction {
    uint16_t operation;    /* enum wsdbg_ptx_operation */
    uint8_t type;          /* enum wsdbg_ptx_type: the (first) type suffix */
    uint8_t source_type;   /* second type suffix (cvt, set, wgmma A), else as `type` */
    uint8_t third_type;    /* wgmma B */
    uint8_t space;         /* enum wsdbg_ptx_space: of ld, st, atom, mbarrier.*, cvta; destination's of copies */
    uint8_t source_space;  /* of copies */
    uint8_t vector_length; /* of ld, st: 1, 2, 4, 8; of ldmatrix, stmatrix: matrices */
    uint8_t compare, combine, rounding, part, variant;
    uint8_t operand_count;
    uint8_t dimensions; /* of tensor copies: 1-5 */
    uint8_t swizzle;    /* not used by text; kept 0 */
    uint16_t m, n, k;   /* of wgmma */
    uint32_t flags;     /* enum wsdbg_ptx_flag */
    uint32_t guard;     /* predicate register, NONE = always */
    bool guard_negated;
    uint32_t target;     /* of bra, call: instruction index; of brx.idx: index into program->branch_tables */
    uint32_t reconverge; /* where the paths of a divergent branch meet (immediate post-dominator), NONE = at the exit */
    uint32_t text_line;  /* in the PTX text, from 1 */
    uint32_t place;      /* index into program->places, NONE = no .loc */
    struct wsdbg_ptx_operand operands[WSDBG_PTX_OPERANDS_MAX];
};

/* A source place, from .loc; inlined_at is a row of places as well. */
struct wsdbg_ptx_place {
    uint32_t file, line;       /* file: index into program->files */
    uint32_t inlined_at;       /* WSDBG_PTX_NONE = not inlined */
    const char *function_name; /* of the inlined function, NULL = the kernel */
    bool is_wrapper;           /* it only wraps a barrier's or a copy's instruction: base/inlined.h */
};

struct wsdbg_ptx_variable {
    const char *name;
    uint8_t space; /* GLOBAL, CONST, SHARED */
    uint32_t alignment;
    uint64_t byte_count;          /* 0: extern, of unknown length (dynamic shared memory) */
    uint64_t offset;              /* in its space's block of the program; static shared memory: of its function */
    const unsigned char *initial; /* byte_count bytes, NULL = zeros */
};

/* An address in a variable's initial bytes, known when the module is loaded: (address of `target` + addend) >> shift.
 */
struct wsdbg_ptx_relocation {
    uint32_t variable, target; /* in program->variables */
    uint64_t offset;           /* in the variable's bytes */
    int64_t addend;
    uint8_t byte_count, shift;
    bool is_generic; /* generic(target), else its address in its space; the same for global memory */
};

struct wsdbg_ptx_parameter {
    const char *name;
    uint32_t offset, byte_count, alignment;
};

/* A variable in a kernel's shared memory, of those whose size is known. */
struct wsdbg_ptx_shared {
    const char *name;
    uint32_t offset, byte_count; /* from the start of the CTA's shared memory */
};

/* A kernel, or a function that kernels call.  The code of called functions stands behind each kernel's own, with
 * registers and local memory of their own among the kernel's, so a call only keeps where to go on: `call` pushes the
 * next instruction and goes to its target, `ret` pops; loads and stores around the call copy arguments and results.
 * Nothing recurses. */
struct wsdbg_ptx_function {
    const char *name;
    bool is_kernel;
    uint32_t first, end; /* instructions [first, end) of a kernel, with what it calls; 0, 0 of functions */
    /* Registers are numbered from 0 in each kernel.  In long ones those that are never needed at the same time share a
     * number (not those of wgmma); a number's type says then only how wide it is: PRED, B32, B64 or B128. */
    uint32_t register_count;
    const uint8_t *register_types; /* enum wsdbg_ptx_type of each */
    struct wsdbg_ptx_parameter *parameters;
    size_t parameter_count;
    uint32_t parameter_bytes;
    uint32_t shared_bytes; /* static; offsets of its variables are from the start of the CTA's shared memory */
    struct wsdbg_ptx_shared *shared; /* of kernels, by offset */
    size_t shared_count;
    uint32_t local_bytes;
    uint32_t max_threads[3], required_threads[3], required_cluster[3]; /* 0 = not said */
    uint32_t min_ctas, max_registers;                                  /* 0 = not said */
};

struct wsdbg_ptx_program {
    uint32_t version_major, version_minor, target; /* .target: 90 */
    bool target_is_specific;                       /* the a of sm_90a */
    struct wsdbg_ptx_instruction *instructions;
    size_t instruction_count;
    struct wsdbg_ptx_operand *vectors; /* elements of vector operands */
    size_t vector_count;
    uint32_t *branch_tables; /* a length, then that many instruction indices */
    size_t branch_table_count;
    struct wsdbg_ptx_function *functions;
    size_t function_count;
    struct wsdbg_ptx_variable *variables; /* of the module: global, const; shared ones of all functions */
    size_t variable_count;
    uint64_t global_bytes, const_bytes; /* blocks that hold them */
    struct wsdbg_ptx_relocation *relocations;
    size_t relocation_count;
    struct wsdbg_ptx_place *places;
    size_t place_count;
    const char **files;
    size_t file_count;
    void *storage; /* of the parser */
};

#endif
