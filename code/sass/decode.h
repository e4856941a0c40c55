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

/* X(name, text): what nvdisasm calls it, without modifiers. */
#define WSDBG_OPERATIONS(X)                                                                                            \
    /* mbarriers */                                                                                                    \
    X(SYNCS_PHASECHK, "SYNCS.PHASECHK")                                                                                \
    X(SYNCS_ARRIVE, "SYNCS.ARRIVE") X(SYNCS_EXCH, "SYNCS.EXCH") X(SYNCS_CAS, "SYNCS.CAS") X(SYNCS_CCTL, "SYNCS.CCTL")  \
        X(SYNCS_LD, "SYNCS.LD") X(ARRIVES, "ARRIVES") /* named barriers, clusters, warps, registers, grids */          \
        X(BAR, "BAR") X(UCGABAR_ARV, "UCGABAR_ARV") X(UCGABAR_WAIT, "UCGABAR_WAIT") X(WARPSYNC, "WARPSYNC")            \
            X(USETMAXREG, "USETMAXREG") X(ACQBULK, "ACQBULK") X(PREEXIT, "PREEXIT") X(NANOSLEEP, "NANOSLEEP")          \
                X(ELECT, "ELECT") X(DEPBAR, "DEPBAR") X(WARPGROUP, "WARPGROUP") /* control flow */                     \
        X(BRA, "BRA") X(BRX, "BRX") X(JMP, "JMP") X(JMX, "JMX") X(BRXU, "BRXU") X(JMXU, "JMXU") X(CALL, "CALL")        \
            X(RET, "RET") X(EXIT, "EXIT") X(BSSY, "BSSY") X(BSYNC, "BSYNC") X(BREAK, "BREAK") X(BMOV, "BMOV")          \
                X(YIELD, "YIELD") X(KILL, "KILL") X(BPT, "BPT") X(RTT, "RTT")                                          \
                    X(NOP, "NOP") /* copy engine and tensor cores */                                                   \
        X(UTMALDG, "UTMALDG") X(UTMASTG, "UTMASTG") X(UTMAREDG, "UTMAREDG") X(UTMAPF, "UTMAPF")                        \
            X(UTMACCTL, "UTMACCTL") X(UTMACMDFLUSH, "UTMACMDFLUSH") X(UBLKCP, "UBLKCP") X(UBLKRED, "UBLKRED")          \
                X(UBLKPF, "UBLKPF") X(STAS, "STAS") X(REDAS, "REDAS") X(HGMMA, "HGMMA") X(IGMMA, "IGMMA")              \
                    X(QGMMA, "QGMMA")                                                                                  \
                        X(BGMMA, "BGMMA") /* memory: what a polling loop reads, and what may release it */             \
        X(LD, "LD") X(LDG, "LDG") X(LDS, "LDS") X(LDC, "LDC") X(ULDC, "ULDC") X(ST, "ST") X(STG, "STG") X(STS, "STS")  \
            X(ATOM, "ATOM") X(ATOMG, "ATOMG") X(ATOMS, "ATOMS") X(RED, "REDG") X(LDGMC, "LDGMC") X(LDGSTS, "LDGSTS")   \
                X(MEMBAR, "MEMBAR") X(ERRBAR, "ERRBAR") X(CGAERRBAR, "CGAERRBAR") X(CCTL, "CCTL")                      \
                    X(FENCE, "FENCE") /* arithmetic of addresses, counts and conditions */                             \
        X(MOV, "MOV") X(UMOV, "UMOV") X(IADD3, "IADD3") X(UIADD3, "UIADD3") X(IMAD, "IMAD") X(UIMAD, "UIMAD") X(       \
            LEA, "LEA") X(ULEA, "ULEA") X(LOP3, "LOP3") X(ULOP3, "ULOP3") X(SHF, "SHF") X(USHF, "USHF") X(SEL, "SEL")  \
            X(USEL, "USEL") X(PRMT, "PRMT") X(UPRMT, "UPRMT") X(S2R, "S2R") X(S2UR, "S2UR") X(CS2R, "CS2R") X(         \
                R2UR, "R2UR") X(ISETP, "ISETP") X(UISETP, "UISETP") X(PLOP3, "PLOP3") X(UPLOP3, "UPLOP3")              \
                X(P2R, "P2R") X(R2P, "R2P") X(SHFL, "SHFL") X(VOTE, "VOTE") X(VOTEU, "VOTEU") X(POPC, "POPC") X(       \
                    UPOPC, "UPOPC") X(FLO, "FLO") X(UFLO, "UFLO")                                                      \
                    X(VIADD, "VIADD") X(IABS, "IABS") X(IMNMX, "IMNMX") X(VIMNMX, "VIMNMX") X(VIMNMX3, "VIMNMX3") X(   \
                        VIADDMNMX, "VIADDMNMX") X(BREV, "BREV")                                                        \
                        X(SGXT,                                                                                        \
                          "SGXT") /* of these only what they write is decoded: no barrier's address is made of them */ \
        X(FMUL, "FMUL") X(FADD, "FADD") X(FFMA, "FFMA") X(FSEL, "FSEL") X(FMNMX, "FMNMX") X(FSET, "FSET")              \
            X(FSETP, "FSETP") X(FCHK, "FCHK") X(MUFU, "MUFU") X(F2F, "F2F") X(F2I, "F2I") X(I2F, "I2F")                \
                X(FRND, "FRND") X(F2FP, "F2FP") X(I2FP, "I2FP") X(DADD, "DADD") X(DMUL, "DMUL") X(DFMA, "DFMA")        \
                    X(DSETP, "DSETP") X(HADD2, "HADD2") X(HFMA2, "HFMA2") X(HMUL2, "HMUL2") X(HSET2, "HSET2")          \
                        X(HSETP2, "HSETP2") X(HMNMX2, "HMNMX2") X(HMMA, "HMMA") X(IMMA, "IMMA") X(DMMA, "DMMA")        \
                            X(LDSM, "LDSM") X(STSM, "STSM") X(REDUX, "REDUX") X(MATCH, "MATCH") X(QSPC, "QSPC")        \
                                X(LDGDEPBAR, "LDGDEPBAR") X(ENDCOLLECTIVE, "ENDCOLLECTIVE") X(VABSDIFF, "VABSDIFF")    \
                                    X(IDP, "IDP") X(UP2UR, "UP2UR") X(UR2UP, "UR2UP") X(B2R, "B2R")                    \
                                        X(RPCMOV, "RPCMOV") X(LEPC, "LEPC") X(UIADD3_64, "UIADD3.64")                  \
                                            X(ULDC_INDEXED, "ULDC")                                                    \
                                                X(USETSHMSZ, "USETSHMSZ") /* a thread's own memory */                  \
        X(LDL, "LDL") X(STL, "STL")

enum wsdbg_operation {
    WSDBG_OP_OTHER,
#define X(name, text) WSDBG_OP_##name,
    WSDBG_OPERATIONS(X)
#undef X
        WSDBG_OP_COUNT
};

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
    uint8_t kind; /* enum wsdbg_operand_kind */
    uint8_t number;
    uint8_t uniform; /* MEMORY: URZ = none */
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
enum wsdbg_maxreg_kind { WSDBG_MAXREG_DEALLOC = 1, WSDBG_MAXREG_TRY_ALLOC = 2 };
enum wsdbg_warpgroup_kind { WSDBG_WARPGROUP_ARRIVE, WSDBG_WARPGROUP_DEPBAR };
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
    bool is_multicast, writes_shared;                               /* UTMALDG, UBLKCP */
    bool ends_group;             /* HGMMA and its kin: gsb0, the group of a warpgroup's multiplications ends with it */
    uint8_t width_bytes;         /* loads, stores, atomics */
    bool is_system;              /* loads, stores, atomics: their scope is the whole system */
    bool has_target;             /* BRA, BSSY, CALL.REL, JMP…: target_offset_bytes holds */
    int64_t target_offset_bytes; /* from this instruction's own address; absolute for JMP and CALL.ABS */
    bool is_absolute;
};

/* Decodes the 16 bytes at `word`; never fails: what is not known is WSDBG_OP_OTHER. */
void wsdbg_decode(const void *word, struct wsdbg_instruction *out);
/* Decodes `count` consecutive instructions at `words`, faster than one call each. */
void wsdbg_decode_all(const void *words, size_t count, struct wsdbg_instruction *out);

const char *wsdbg_operation_name(enum wsdbg_operation operation);

enum { WSDBG_INSTRUCTION_TEXT_BYTES = 128 };
/* nvdisasm's text of a decoded instruction, without scheduling marks: "@!P0 SYNCS.PHASECHK.TRANS64 P0, [R5+0x18], R4".
 * `address` is that of the instruction, for branch targets.  "" for WSDBG_OP_OTHER. */
void wsdbg_instruction_text(const struct wsdbg_instruction *instruction, uint64_t address,
                            char out[WSDBG_INSTRUCTION_TEXT_BYTES]);

#endif
