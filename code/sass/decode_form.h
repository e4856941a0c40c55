/* decode_form.h - the table that drives the decoder: one row per form of an instruction, which says what it is called
 * and where in the 128 bits its operands lie.
 *
 * Private to decode*.c.  Bit numbers are those of the whole word, the first byte holding 0 to 7.
 */
#ifndef WSDBG_SASS_DECODE_FORM_H
#define WSDBG_SASS_DECODE_FORM_H

#include "sass/decode.h"

/* Operands, where they lie, and when they are there.  Those up to FIELD_LAST_DESTINATION are written. */
enum wsdbg_field {
    FIELD_NONE,
    FIELD_RD,         /* 23:16 */
    FIELD_RD_WIDE,    /* two registers where the row's width says 64 bit, … */
    FIELD_RD_PAIR,    /* two registers */
    FIELD_RD_QUAD,    /* four registers */
    FIELD_RD_TILE,    /* as many as a multiplication of a warpgroup writes */
    FIELD_RD_BY_TYPE, /* two registers where 76:75 say 64 bit */
    FIELD_RD_OR_NONE, /* left out where RZ */
    FIELD_URD,        /* 21:16 */
    FIELD_URD_WIDE,
    FIELD_URD_PAIR,
    FIELD_URD_OR_NONE, /* left out where URZ */
    FIELD_PD,          /* 83:81 */
    FIELD_PD_OR_NONE,  /* left out where PT */
    FIELD_PE,          /* 86:84 */
    FIELD_PE_OR_NONE,
    FIELD_BD,         /* 19:16, a convergence barrier */
    FIELD_PR_WRITTEN, /* P0 to P6, those of the mask */
    FIELD_LAST_DESTINATION = FIELD_PR_WRITTEN,
    FIELD_A,       /* 31:24, uniform 29:24 */
    FIELD_B,       /* where the form says: 39:32, 63:32, 53:38 and 58:54, 37:32 or 71:64 */
    FIELD_C,       /* likewise: 71:64, or at 32 where B is not */
    FIELD_C_HIGH,  /* C, where bit 80 asks for the high half and bit 73 does not extend the sign */
    FIELD_RA,      /* 31:24, a register in every form */
    FIELD_RA_PAIR, /* two: an address of code */
    FIELD_RA_WIDE, /* as many as the width says */
    FIELD_RB,      /* 39:32 */
    FIELD_RB_WIDE, /* as many as the width says */
    FIELD_RC,      /* 71:64 */
    FIELD_RC_WIDE,
    FIELD_URB_PAIR,
    FIELD_BUNDLE_A,      /* 29:24, uniform pair: address of a descriptor, or of global memory */
    FIELD_BUNDLE_B,      /* 37:32, uniform: the copy engine's places */
    FIELD_BUNDLE_C,      /* 69:64, uniform: multicast mask, sizes */
    FIELD_PQ,            /* 89:87, negated by 90 */
    FIELD_PQ_OR_NONE,    /* left out where PT */
    FIELD_PR,            /* 79:77, negated by 80 */
    FIELD_PS,            /* 70:68, negated by 71; uniform by bit 67 */
    FIELD_PX,            /* 67:64, left out where PT; bit 67 holds its negation inverted */
    FIELD_CARRY,         /* 89:87, only where bit 74 */
    FIELD_CARRY_2,       /* 79:77, only where bit 74 */
    FIELD_EXTENDED,      /* 70:68, only where bit 72 */
    FIELD_TABLE,         /* 79:72, a truth table */
    FIELD_TABLE_SPLIT,   /* 76:72 and 66:64 */
    FIELD_TABLE_2,       /* 23:16 */
    FIELD_SHIFT,         /* 79:75 */
    FIELD_SPECIAL,       /* 79:72 */
    FIELD_PR_READ,       /* P0 to P6 */
    FIELD_CONSTANT,      /* c[58:54][register 31:24 + 53:38] */
    FIELD_MEMORY,        /* register 31:24 + bytes 63:40 */
    FIELD_MEMORY_UB,     /* + uniform register 37:32 */
    FIELD_MEMORY_UC,     /* + uniform register 69:64 */
    FIELD_MEMORY_U,      /* uniform register 29:24 + bytes 63:40 */
    FIELD_COPY_TO,       /* LDGSTS: register 23:16 + bytes 63:44 */
    FIELD_COPY_FROM,     /* LDGSTS: register 31:24 + bytes 43:32 */
    FIELD_BS,            /* 19:16, a convergence barrier that is read */
    FIELD_NUMBER_32,     /* 63:32 */
    FIELD_NUMBER_10,     /* 41:32 */
    FIELD_BAR_ID,        /* 57:54 */
    FIELD_BAR_COUNT,     /* 53:42, left out where 0 */
    FIELD_BAR_PREDICATE, /* 89:87, only where BAR reduces */
    FIELD_LANE,          /* 57:53 */
    FIELD_CLAMP,         /* 52:40 */
    FIELD_SCOREBOARD,    /* 46:44 */
    FIELD_DEPTH,         /* 43:38 */
    FIELD_GROUPS,        /* 74:72 */
    FIELD_TRAP,          /* 36:34 */
    FIELD_UP_24,         /* uniform predicate 26:24, negated by 27 */
    FIELD_LANES,         /* uniform 29:24, inverted by 30: which lanes */
    FIELD_DESCRIPTORS_A, /* 29:24, uniform: of both matrices */
    FIELD_DESCRIPTORS_B, /* 37:32, uniform: of the second matrix */
    FIELD_MATRIX_A,      /* 31:24, four registers */
    FIELD_ACCUMULATOR,   /* 71:64, as many as the instruction writes */
    FIELD_SCALE,         /* 89:87 inverted, uniform, left out where UPT: whether the accumulator is read */
};

/* Bits 11:9 and, as the highest, 91: where B and C lie. */
#define WSDBG_SHAPE(n) (1u << (n))
enum wsdbg_shape {
    SHAPE_RR = 1,  /* B 39:32, C 71:64 */
    SHAPE_RN = 2,  /* B 71:64, C a number 63:32 */
    SHAPE_RK = 3,  /* B 71:64, C a constant */
    SHAPE_NR = 4,  /* B a number, C 71:64 */
    SHAPE_KR = 5,  /* B a constant, C 71:64 */
    SHAPE_UR = 14, /* B a uniform register 37:32, C 71:64 */
    SHAPE_RU = 15, /* B 71:64, C a uniform register */
    SHAPE_UUU = 9,
    SHAPE_UUN = 10,
    SHAPE_UNU = 12,
};

enum wsdbg_form_flag {
    FORM_HALF = 1,          /* the sources are not all in the row */
    FORM_GUARD_UNIFORM = 2, /* and every register and predicate of A, B, C, D, PD, PQ… */
    FORM_NEGATE_A = 4,      /* by bit 72; ~ instead of - where it takes a carry in */
    FORM_NEGATE_B = 8,      /* by 63, or 75 where B lies at 64 */
    FORM_NEGATE_C = 16,
    FORM_INVERT_B = 32,             /* ~ by bit 63 */
    FORM_SIGNED = 64,               /* numbers are shown signed */
    FORM_TARGET = 128,              /* 81:34 and 23:16: where to */
    FORM_TARGET_FAR = 256,          /* 81:34: where to */
    FORM_TARGET_ADDED = 1 << 14,    /* to which a register is added: nobody knows where to */
    FORM_TARGET_ABSOLUTE = 1 << 15, /* not relative to the instruction */
    FORM_DESCRIPTOR_40 = 1 << 16,   /* a policy descriptor in uniform register 45:40 by bit 76 */
    FORM_PAIR = 1 << 17,            /* addresses: a pair of registers, the place and its mbarrier */
    FORM_CONDITION = 512,           /* shown first: a predicate 89:87, left out where PT */
    FORM_DESCRIPTOR_76 = 1024,      /* addresses: desc[uniform register] by bit 76 */
    FORM_DESCRIPTOR_71 = 2048,      /* … by bit 71 */
    FORM_GLOBAL = 4096,             /* addresses of 64 bit by bit 72 */
    FORM_GUARD_ONLY_UNIFORM = 8192, /* the guard, nothing else */
    FORM_SIGN_72 = 1 << 18,         /* the operation is signed by bit 72 */
    FORM_SIGN_73 = 1 << 19,         /* … by bit 73 */
    FORM_CARRY = 1 << 20,           /* takes a carry in by bit 74 */
    FORM_WIDE = 1 << 21,            /* a product of 64 bits; C is two registers */
    FORM_HIGH = 1 << 22,            /* the high half of one; C is two registers */
    FORM_WGMMA = 1 << 23,           /* a multiplication of a warpgroup; sparse by bit 73, and then as FORM_HALF */
};

enum { WSDBG_FIELDS_MAX = 9 };

struct wsdbg_form {
    uint16_t opcode; /* bits 8:0 */
    uint16_t shapes; /* bit s: the row holds for shape s */
    uint8_t operation;
    uint8_t fields[WSDBG_FIELDS_MAX]; /* enum wsdbg_field, in nvdisasm's order */
    uint32_t flags;
};

/* Fills in the operands of *in, whose words, operation, widths and signs are set. */
void wsdbg_form_read_operands(struct wsdbg_instruction *in, const struct wsdbg_form *form);
/* Which field each operand of a decoded instruction came from. */
void wsdbg_form_fields(const struct wsdbg_instruction *instruction, const struct wsdbg_form *form,
                       uint8_t destinations[WSDBG_DESTINATIONS_MAX], uint8_t sources[WSDBG_SOURCES_MAX]);

enum { WSDBG_FORMS_MOST = 512 };
/* Where the rows of an opcode are: numbered from 1, 0 = no further one. */
struct wsdbg_form_index {
    uint16_t first[WSDBG_OPCODES], next[WSDBG_FORMS_MOST];
};
void wsdbg_form_index_fill(struct wsdbg_form_index *index);
/* NULL = not in the table.  Without an index (NULL) the table is searched: for a single instruction that is quicker
 * than making one. */
const struct wsdbg_form *wsdbg_form_of(const struct wsdbg_form_index *index, const uint64_t words[2]);

/* Whether there are sources that the row does not name. */
bool wsdbg_form_is_half(const uint64_t words[2], const struct wsdbg_form *form);
/* Columns of the second matrix of a warpgroup's multiplication. */
unsigned wsdbg_matrix_columns(const struct wsdbg_instruction *instruction);
/* Whether a register of 32 bit is added to a uniform one of 64. */
bool wsdbg_is_short_base(const struct wsdbg_instruction *instruction, const struct wsdbg_form *form);
/* 81:34 with 23:16 below it, or without, in bytes; nothing is added to it. */
int64_t wsdbg_form_target_bytes(const uint64_t words[2], const struct wsdbg_form *form);
bool wsdbg_is_float_atomic(const uint64_t words[2]);

static inline uint32_t wsdbg_bits(const uint64_t words[2], unsigned first, unsigned count)
{
    const unsigned __int128 word = (unsigned __int128)words[1] << 64 | words[0];
    return (uint32_t)(word >> first) & (count < 32 ? (1u << count) - 1 : UINT32_MAX);
}

static inline uint32_t bits(const struct wsdbg_instruction *in, unsigned first, unsigned count)
{
    return wsdbg_bits(in->words, first, count);
}

static inline bool bit(const struct wsdbg_instruction *in, unsigned number)
{
    return bits(in, number, 1) != 0;
}

#endif
