/* mutant.h - one defect in one place of a kernel: the edits that make it, and what is then true.
 *
 * Operators (operators.h) fill it.  Registers that an operator needs are declared where the function's body begins;
 * their names begin with %wsm.
 */
#ifndef WSDBG_MUTATE_MUTANT_H
#define WSDBG_MUTATE_MUTANT_H

#include "source.h"
#include "values.h"

/* A kernel that is to be changed. */
struct subject {
    const struct source *source;
    const struct wsdbg_ptx_function *kernel;
    struct values *values;
    uint32_t own_end; /* behind the kernel's own instructions: the functions that it calls follow */
    bool has_cluster; /* its CTAs use each other's shared memory or the cluster's barrier */
    bool has_tx;      /* some mbarrier counts bytes */
};

struct truth {
    const char *causes; /* codes that are right, divided by commas, the best first; "-": nothing may be said */
    char barrier[64]; /* "mbarrier 0x408", "mbarrier 0x408 to 0x418" (any of a ring), "named barrier 2", …; "" = any */
    uint32_t warps;   /* to blame; 0 = nobody more than others */
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
/* Goes on with another instruction, whose statement is then the one that is changed; false: it is not written. */
bool mutant_move(struct mutant *mutant, uint32_t instruction);
/* Warps that come to it. */
uint32_t mutant_warps(const struct mutant *mutant);
/* Which barrier the instruction is about, in the words of struct truth; what it is not about leaves "". */
void mutant_name_barrier(struct mutant *mutant);
/* The operand that names an mbarrier; NULL. */
const struct wsdbg_ptx_operand *mutant_mbarrier(const struct wsdbg_ptx_instruction *at);

/* ---- pieces of text ---- */

/* Copies of the statement, and of an operand of it; the caller frees them, NULL = out of memory. */
char *mutant_statement(const struct mutant *mutant);
char *mutant_operand(const struct mutant *mutant, size_t number);
/* The statement with another opcode or operand; NULL keeps the opcode. */
char *mutant_with(const struct mutant *mutant, const char *opcode, size_t operand, const char *text);

/* ---- edits; false: not possible here ---- */

/* The fresh registers: predicates q r, 32-bit t c (c is 0 when the kernel begins), 16-bit h. */
bool mutant_declare(struct mutant *mutant);
/* Replaces the statement by a text in the manner of printf. */
bool mutant_replace(struct mutant *mutant, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* When the defect shows. */
enum when { WHEN_ALWAYS, WHEN_WARP, WHEN_RANK, WHEN_CTA, WHEN_LATER, WHEN_ONCE, WHEN_COUNT };
extern const char *const when_word[WHEN_COUNT];
/* Text that sets %wsm_q where the defect shows; NULL: `when` makes no difference here, or cannot be told.  Of an
 * instruction that is counted (WHEN_LATER, WHEN_ONCE) the count goes up by text that must follow it: *behind, which is
 * "" for the others. */
char *mutant_when(const struct mutant *mutant, enum when when, char **behind);
/* The statement is passed over when it is time.  The blame goes to the warps for which it is. */
bool mutant_skip(struct mutant *mutant, enum when when);
/* `extra` is executed before the statement when it is time. */
bool mutant_before(struct mutant *mutant, enum when when, const char *extra);

#endif
