/* decode.h - one machine instruction of sm_90 as plain data, as far as the diagnosis needs it: instructions that
 * wait or signal, instructions that change the control flow, and the arithmetic that computes addresses.
 *
 * An instruction outside that set is WSDBG_OP_OTHER: its guard is known, nothing else; what it writes is not.
 */
#ifndef WSDBG_SASS_DECODE_H
#define WSDBG_SASS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sass/operation.h"

enum { WSDBG_RZ = 255, WSDBG_URZ = 63, WSDBG_PT = 7 };

enum wsdbg_operand_kind {
    WSDBG_OPERAND_NONE,
    WSDBG_OPERAND_REGISTER,          /* number; RZ is 0 */
    WSDBG_OPERAND_UNIFORM,           /* number; URZ is 0 */
    WSDBG_OPERAND_PREDICATE,         /* number, is_negated */
    WSDBG_OPERAND_UNIFORM_PREDICATE, /* number, is_negated */
    WSDBG_OPERAND_IMMEDIATE,         /* value */
    WSDBG_OPERAND_CONSTANT,          /* c[bank][number's register, if any, + value] */
    WSDBG_OPERAND_MEMORY,            /* register number + uniform register + value bytes */
    WSDBG_OPERAND_SPECIAL,           /* value: number of the special register */
    WSDBG_OPERAND_BARRIER            /* convergence barrier B`number` */
};

struct wsdbg_operand {
    uint8_t kind;    /* enum wsdbg_operand_kind */
    uint8_t uniform; /* MEMORY: URZ = none */
    uint16_t number;
    uint8_t bank;
    uint8_t registers; /* how many in a row it spans: 1, 2 for 64 bit, … */
    bool is_negated;   /* -x, or !P */
    bool is_inverted;  /* ~x */
    int64_t value;
};

enum { WSDBG_DESTINATIONS_MAX = 4, WSDBG_SOURCES_MAX = 6 };

/* How SYNCS.ARRIVE counts (bits 86:84 of the word). */
enum wsdbg_arrive_type {
    WSDBG_ARRIVE_A1TR, /* arrive.expect_tx: 1 arrival, bytes in source 1 */
    WSDBG_ARRIVE_A1T0, /* arrive */
    WSDBG_ARRIVE_A0T1,
    WSDBG_ARRIVE_A0TR, /* expect_tx */
    WSDBG_ARRIVE_A0TX, /* complete_tx */
    WSDBG_ARRIVE_ART0  /* arrive, count in source 1 */
};
enum wsdbg_bar_mode { WSDBG_BAR_SYNC, WSDBG_BAR_ARV, WSDBG_BAR_RED, WSDBG_BAR_SCAN, WSDBG_BAR_SYNCALL };
/* The modes of REDUX and MATCH. */
enum wsdbg_reduction {
    WSDBG_REDUCE_AND,
    WSDBG_REDUCE_OR,
    WSDBG_REDUCE_XOR,
    WSDBG_REDUCE_SUM,
    WSDBG_REDUCE_MIN,
    WSDBG_REDUCE_MAX
};
enum wsdbg_match_mode { WSDBG_MATCH_ALL_LANES, WSDBG_MATCH_ANY_LANE };
enum wsdbg_maxreg_kind { WSDBG_MAXREG_DEALLOC = 1, WSDBG_MAXREG_TRY_ALLOC = 2 };
/* COMMIT: of PTX; in machine code the last multiplication of a group ends it. */
enum wsdbg_warpgroup_kind { WSDBG_WARPGROUP_ARRIVE, WSDBG_WARPGROUP_DEPBAR, WSDBG_WARPGROUP_COMMIT };
enum wsdbg_comparison {
    WSDBG_COMPARE_F,
    WSDBG_COMPARE_LT,
    WSDBG_COMPARE_EQ,
    WSDBG_COMPARE_LE,
    WSDBG_COMPARE_GT,
    WSDBG_COMPARE_NE,
    WSDBG_COMPARE_GE,
    WSDBG_COMPARE_T
};

/* The mode of FSETP: in which of these relations its numbers may stand. */
enum {
    WSDBG_FLOATS_LESS = 1,
    WSDBG_FLOATS_EQUAL = 2,
    WSDBG_FLOATS_GREATER = 4,
    WSDBG_FLOATS_UNORDERED = 8,    /* one of them is no number */
    WSDBG_FLOATS_FLUSHED = 1 << 16 /* of words[1]: numbers too small to be normal count as 0 */
};

struct wsdbg_instruction {
    uint64_t words[2];
    uint8_t operation; /* enum wsdbg_operation */
    uint8_t guard;     /* predicate; PT = always */
    bool guard_is_negated;
    bool guard_is_uniform;
    /* Predicates and registers it writes; then what it reads, in nvdisasm's order.  What is in memory brackets is one
     * MEMORY operand.  Uniform bundles of the copy engine are one UNIFORM operand that spans their registers: of
     * UTMALDG, source 0 is {place in shared memory, mbarrier, coordinates}, of UTMASTG {place, coordinates}, of UBLKCP
     * and UBLKRED {to, mbarrier}; STAS and REDAS have a MEMORY of two registers, {place, mbarrier}.  Source 0 of a
     * branch, an EXIT or a BSYNC may be a PREDICATE or UNIFORM_PREDICATE: together with the guard, its condition; or
     * UNIFORM (BRA.DIV): taken where the warp has diverged from those lanes. */
    /* IMMEDIATE holds 32 bits, signed or not as nvdisasm shows them; MEMORY of two registers is a 64 bit address, and
     * so is its uniform register's.  Predicates that are not
     * written (PT) are left out where nvdisasm leaves them out. */
    struct wsdbg_operand destinations[WSDBG_DESTINATIONS_MAX];
    struct wsdbg_operand sources[WSDBG_SOURCES_MAX];
    uint8_t destination_count, source_count;
    /* True where the operands above are all there are: a value may be followed through.  False: destinations are
     * right (all that it writes is in them), sources are not all decoded. */
    bool is_whole;
    uint8_t mode;        /* arrive type, BAR mode, USETMAXREG kind, WARPGROUP kind, comparison, LOP3 is `table` */
    uint8_t table;       /* LOP3, PLOP3: truth table; SHF, LEA: shift where it is immediate */
    bool is_try_wait;    /* SYNCS.PHASECHK: .TRYWAIT; NANOSLEEP: .SYNCS */
    bool is_drop;        /* SYNCS.ARRIVE: .OPTOUT */
    bool is_reduction;   /* SYNCS.ARRIVE: .RED, the barrier may be another CTA's */
    bool is_no_complete; /* SYNCS.ARRIVE: .TMASK */
    bool is_signed, is_wide, is_high, is_right_shift, has_carry_in; /* arithmetic: .X is has_carry_in */
    /* Of PTX: its numbers have 64 bits, or those that it writes have and the others are words (from_words).  Its
     * sources are right even if is_whole is false, which then is about the low halves. */
    bool is_long, from_words;
    bool is_multicast, writes_shared; /* UTMALDG, UBLKCP */
    bool reads_shared;                /* UBLKCP */
    bool ends_group;     /* HGMMA and its kin: gsb0, the group of a warpgroup's multiplications ends with it */
    uint8_t width_bytes; /* loads, stores, atomics */
    bool is_system;      /* loads, stores, atomics: their scope is the whole system */
    /* In joined code (joined.h): of a load or store that may be to several words of the stack frame, which ones these
     * are, and how many; else 0. */
    uint16_t local_first, local_words;
    bool has_target;             /* BRA, BSSY, CALL.REL, JMP…: target_offset_bytes holds */
    int64_t target_offset_bytes; /* from this instruction's own address; absolute for JMP and CALL.ABS */
    bool is_absolute;
};

/* Whether it is an instruction of machine code.  One that comes from PTX has no words, with the exception of
 * comparisons: their words say how the third source is combined (code/translate/ptx_compare.c). */
static inline bool wsdbg_is_machine_code(const struct wsdbg_instruction *instruction)
{
    return instruction->words[0] || instruction->words[1];
}

/* Decodes the 16 bytes at `word`; never fails: what is not known is WSDBG_OP_OTHER. */
void wsdbg_decode(const void *word, struct wsdbg_instruction *out);
/* Decodes `count` consecutive instructions at `words`, faster than one call each. */
void wsdbg_decode_all(const void *words, size_t count, struct wsdbg_instruction *out);

enum { WSDBG_OPCODES = 512 };
/* What the words of an opcode, bits 8:0, may be before they are decoded: bit n of classes[opcode] is set where one of
 * its operations is of class n. */
void wsdbg_opcode_classes(uint64_t classes[WSDBG_OPCODES]);

enum { WSDBG_INSTRUCTION_TEXT_BYTES = 128 };
/* nvdisasm's text of a decoded instruction, without scheduling marks: "@!P0 SYNCS.PHASECHK.TRANS64 P0, [R5+0x18], R4".
 * `address` is that of the instruction, for branch targets.  "" for WSDBG_OP_OTHER. */
void wsdbg_instruction_text(const struct wsdbg_instruction *instruction, uint64_t address,
                            char out[WSDBG_INSTRUCTION_TEXT_BYTES]);

#endif
