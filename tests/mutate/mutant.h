/* mutant.h - one defect at one place of a kernel: the edits that make it, and which verdict is then right.
 *
 * Reads: a subject.  Operators (operators.h) fill a mutant.  Registers that an operator needs are declared where the
 * function's body begins; their names begin with %wsm.
 */
#ifndef WSDBG_MUTATE_MUTANT_H
#define WSDBG_MUTATE_MUTANT_H

#include "source.h"
#include "values.h"

/* A kernel of which mutants are made. */
struct subject {
    const struct source *source;
    const struct wsdbg_ptx_function *kernel;
    struct values *values;
    uint32_t own_end; /* end of the kernel's own instructions; those of the functions that it calls follow */
    bool has_cluster; /* its CTAs use each other's shared memory or the cluster barrier */
};

/* Which verdict is right about a mutant. */
struct truth {
    const char *causes; /* right causes, divided by commas, the best one first; "-": no hang may be reported */
    char barrier[64]; /* "mbarrier 0x408", "mbarrier 0x408 to 0x418" (one of these), "named barrier 2", …; "" = any */
    uint32_t warps;   /* to blame, as bits; 0 = no warp more than others */
};

struct mutant {
    const struct subject *subject;
    uint32_t instruction;
    struct span statement;
    struct words words;
    struct edits edits;
    struct truth truth;
    bool is_declared;
};

/* The instruction that the mutant is about. */
const struct wsdbg_ptx_instruction *mutant_at(const struct mutant *mutant);
/* Moves the mutant to another instruction: later edits change the statement of that one.  False: the text has no
 * statement of it, or one with too many operands. */
bool mutant_move(struct mutant *mutant, uint32_t instruction);
/* The warps that may execute the instruction, as bits. */
uint32_t mutant_warps(const struct mutant *mutant);
/* Sets truth.barrier to the barrier that the instruction names; "" where it names none, or an unknown one. */
void mutant_name_barrier(struct mutant *mutant);
/* The operand that names an mbarrier; NULL = there is none. */
const struct wsdbg_ptx_operand *mutant_mbarrier(const struct wsdbg_ptx_instruction *at);

/* ---- pieces of text ---- */

/* Copies of the statement, and of an operand of it; the caller frees them, NULL = out of memory. */
char *mutant_statement(const struct mutant *mutant);
char *mutant_operand(const struct mutant *mutant, size_t number);
/* The statement with `text` as that operand, and with another opcode (NULL keeps it).  The caller frees the copy. */
char *mutant_with(const struct mutant *mutant, const char *opcode, size_t operand, const char *text);

/* ---- edits; false: not possible here ---- */

/* Declares the registers: predicate %wsm_q; 32-bit %wsm_t, %wsm_c; 16-bit %wsm_h.  %wsm_c is 0 when the function
 * begins. */
bool mutant_declare(struct mutant *mutant);
/* Replaces the statement by the text that printf would print. */
bool mutant_replace(struct mutant *mutant, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where the defect shows: always, in the first of the warps, in cluster rank 1, in CTA 1, in all executions but the
 * first, in the third execution. */
enum when { WHEN_ALWAYS, WHEN_WARP, WHEN_RANK, WHEN_CTA, WHEN_LATER, WHEN_ONCE, WHEN_COUNT };
extern const char *const when_word[WHEN_COUNT];
/* PTX that sets %wsm_q where the defect shows.  NULL: `when` makes no difference here, or cannot be tested here.
 * WHEN_LATER and WHEN_ONCE count executions: *behind is PTX that must follow the statement and adds one to the count;
 * "" for the others.  The caller frees both. */
char *mutant_when(const struct mutant *mutant, enum when when, char **behind);
/* Blames the warps that execute the instruction; for WHEN_WARP only the first of them. */
void mutant_blame(struct mutant *mutant, enum when when);
/* The statement is skipped where the defect shows.  Blames as mutant_blame does. */
bool mutant_skip(struct mutant *mutant, enum when when);
/* `extra` is executed before the statement where the defect shows.  Blames as mutant_blame does. */
bool mutant_before(struct mutant *mutant, enum when when, const char *extra);

#endif
