/* lanes.c - rows in which lanes see each other: shuffles, votes, matches, reductions, elections; all lanes and some. */
#include "semantics/body.h"
#include "semantics/forms.h"

#include <stdlib.h>
#include <string.h>

#include "semantics/values.h"

enum { INPUTS = 8, LANES = 32 };
static const uint32_t masks[] = {0xffffffff, 0x0000ffff, 0xaaaaaaaa, 0x80000001, 0x00000100};
enum { MASKS = sizeof masks / sizeof *masks };

/* The lanes of the mask run the text; the others keep what the registers had. */
static void write_for(struct semantics_body *body, uint32_t mask, const char *text)
{
    const unsigned label = body->labels++;
    semantics_body_write(body,
                         "mov.b32 r20, 0x5eed;\nmov.b32 r21, 2;\nmov.b32 r1, 1;\nshl.b32 r1, r1, %%lane;\n"
                         "and.b32 r1, r1, 0x%x;\nsetp.eq.u32 s, r1, 0;\n@s bra rest%u;\n%s\nrest%u:\nbar.warp.sync "
                         "0xffffffff;\n",
                         mask, label, text, label);
}

static void write_loads(struct semantics_body *body, unsigned input)
{
    semantics_body_write(body,
                         "ld.global.b64 l1, [%%i+%u];\nld.global.b32 r2, [%%i+%u];\n"
                         "and.b32 r3, r2, 1;\nsetp.ne.b32 q, r3, 0;\n",
                         input * LANES * 8, input * LANES * 8);
}

static void add(struct semantics_body *body, unsigned operation, const char *instruction, uint32_t mask, unsigned input,
                const char *after, const char *what)
{
    char name[512], text[700];
    snprintf(name, sizeof name, "%s [lanes %x, input %u]", instruction, mask, input);
    if (!semantics_body_case(body, name))
        return;
    write_loads(body, input);
    snprintf(text, sizeof text, "%s;\n%s", instruction, after);
    write_for(body, mask, text);
    if (strchr(what, 'd'))
        semantics_body_result(body, operation, name, strchr(what, 'p') ? "d" : "", "r20", 4);
    if (strchr(what, 'p'))
        semantics_body_result(body, operation, name, strchr(what, 'd') ? "p" : "", "r21", 4);
}

static void visit_shuffle(void *context, const struct semantics_form *form)
{
    static const uint32_t distances[] = {0, 1, 2, 5, 16, 31, 33};
    static const uint32_t bounds[] = {0x1f, 0, 0x181f, 0x1c03, 0x1800, 0x0007};
    struct semantics_body *const body = context;
    char instruction[400];
    for (size_t b = 0; b < sizeof distances / sizeof *distances; b++)
        for (size_t c = 0; c < sizeof bounds / sizeof *bounds; c++) {
            snprintf(instruction, sizeof instruction, "%s r20|p, r2, %u, 0x%x, 0xffffffff", form->opcode, distances[b],
                     bounds[c]);
            add(body, form->operation, instruction, 0xffffffff, (unsigned)(b + c) % INPUTS, "selp.b32 r21, 1, 0, p;",
                "dp");
        }
    snprintf(instruction, sizeof instruction, "%s r20|p, r2, r2, 0x1f, 0xffffffff", form->opcode);
    add(body, form->operation, instruction, 0xffffffff, 1, "selp.b32 r21, 1, 0, p;", "dp");
    snprintf(instruction, sizeof instruction, "%s r20, r2, 3, 0x101f, 0x0000ffff", form->opcode);
    add(body, form->operation, instruction, 0x0000ffff, 1, "", "d");
}

static void visit_masked(void *context, const struct semantics_form *form)
{
    struct semantics_body *const body = context;
    const bool is_vote = form->operation == WSDBG_PTX_OP_vote, is_match = form->operation == WSDBG_PTX_OP_match;
    const bool is_ballot = form->instruction.variant == WSDBG_PTX_V_BALLOT;
    const bool is_all = is_match && strstr(form->opcode, ".all.");
    const bool is_long = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)form->instruction.type) == 8;
    char instruction[400];
    for (unsigned m = 0; m < MASKS; m++)
        for (unsigned input = 0; input < INPUTS; input++) {
            const char *const sign = input % 2 ? "!" : "";
            if (is_vote && is_ballot)
                snprintf(instruction, sizeof instruction, "%s r20, %sq, 0x%x", form->opcode, sign, masks[m]);
            else if (is_vote)
                snprintf(instruction, sizeof instruction, "%s p, %sq, 0x%x", form->opcode, sign, masks[m]);
            else
                snprintf(instruction, sizeof instruction, "%s r20%s, %s, 0x%x", form->opcode, is_all ? "|p" : "",
                         is_long ? "l1" : "r2", masks[m]);
            const bool has_p = (is_vote && !is_ballot) || is_all;
            add(body, form->operation, instruction, masks[m], input, has_p ? "selp.b32 r21, 1, 0, p;" : "",
                is_vote && !is_ballot ? "p"
                : is_all              ? "dp"
                                      : "d");
        }
}

static void add_elections(struct semantics_body *body)
{
    char instruction[400];
    for (unsigned m = 0; m < MASKS; m++) {
        snprintf(instruction, sizeof instruction, "elect.sync r20|p, 0x%x", masks[m]);
        add(body, WSDBG_PTX_OP_elect, instruction, masks[m], 0, "selp.b32 r21, 1, 0, p;", "dp");
        add(body, WSDBG_PTX_OP_activemask, "activemask.b32 r20", masks[m], 0, "", "d");
    }
}

/* Input 0: any; 1: small; 2: few different; 3: all the same; 4, 5: a predicate that is false, true everywhere; 6:
 * limits of signed numbers; 7: one differs. */
static void fill(uint64_t *words)
{
    static const uint32_t limits[] = {0x7fffffff, 0x80000000, 0xffffffff, 0, 1};
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint64_t any = semantics_any(7, lane);
        words[0 * LANES + lane] = any;
        words[1 * LANES + lane] = any % 40;
        words[2 * LANES + lane] = (any % 3) * 0x100000001u;
        words[3 * LANES + lane] = 0x123456789abcdef;
        words[4 * LANES + lane] = any << 1;
        words[5 * LANES + lane] = any | 1;
        words[6 * LANES + lane] = limits[any % 5];
        words[7 * LANES + lane] = lane == 15 ? 6 : 5;
    }
}

void semantics_add_lanes(struct semantics_corpus *corpus)
{
    static const struct {
        const char *row;
        semantics_form_visit visit;
    } rows[] = {{"shfl", visit_shuffle}, {"vote", visit_masked}, {"match", visit_masked}, {"redux", visit_masked}};
    struct ptx_table *const table = semantics_table();
    uint64_t words[INPUTS * LANES];
    fill(words);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        snprintf(name, sizeof name, "lanes %s", rows[i].row);
        struct semantics_body body;
        semantics_body_begin(&body, corpus, name, LANES);
        semantics_body_input(&body, words, INPUTS * LANES);
        semantics_each_form(table, semantics_operation(rows[i].row), rows[i].visit, &body);
        semantics_body_end(&body);
    }
    struct semantics_body body;
    semantics_body_begin(&body, corpus, "lanes elect", LANES);
    semantics_body_input(&body, words, INPUTS * LANES);
    add_elections(&body);
    semantics_body_end(&body);
    free(table);
}
