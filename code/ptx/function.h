/* function.h - kernels and functions from their headers to linked code, and what is remembered of them until then.
 * Private to ptx/.
 */
#ifndef WSDBG_PTX_FUNCTION_H
#define WSDBG_PTX_FUNCTION_H

#include "ptx/body.h"
#include "ptx/graph.h"

struct ptx_function_note {
    bool has_body;
    uint32_t line;
    uint32_t result_count; /* of .func: results are its first parameters */
    uint32_t frame_alignment;
    struct ptx_range vectors, branch_tables, uses, calls, locals;
};

/* function.c: behind .entry or .func, with its body where it has one. */
struct wsdbg_error *ptx_read_function(struct ptx_parser *parser, bool is_kernel, bool *has_body);
/* header.c: up to the body's brace or the semicolon of a mere declaration. */
struct wsdbg_error *ptx_read_header(struct ptx_parser *parser, bool is_kernel, bool *has_body);
/* header.c: behind .pragma. */
struct wsdbg_error *ptx_read_pragma(struct ptx_parser *parser);
/* instruction.c: at an opcode or a guard; up to the semicolon. */
struct wsdbg_error *ptx_read_instruction(struct ptx_parser *parser);
/* call.c: behind the opcode; `instruction` has its suffixes. */
struct wsdbg_error *ptx_read_call(struct ptx_parser *parser, const struct wsdbg_ptx_instruction *instruction,
                                  const char *text);
/* reconverge.c: fills `reconverge` of the branches. */
struct wsdbg_error *ptx_find_reconvergence(struct ptx_parser *parser, const struct wsdbg_ptx_graph *graph);
/* sharing.c: lets registers whose values are never needed at the same time have one number. */
struct wsdbg_error *ptx_share_registers(struct ptx_parser *parser, const struct wsdbg_ptx_graph *graph);
/* shared.c: gives the variables (sorted here; may stand there twice) their offsets. */
struct wsdbg_error *ptx_place_shared(struct ptx_parser *parser, uint32_t *variables, size_t count,
                                     uint32_t *shared_bytes);
/* link.c: gives each kernel the code of the functions it calls, and places what they share. */
struct wsdbg_error *ptx_link(struct ptx_parser *parser);

#endif
