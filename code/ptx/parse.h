/* parse.h - PTX text in, a resolved program out.
 *
 * Reads text of unknown origin: every length and number is checked; what is outside of the instruction table is an
 * error that names the instruction's text, the file and the line.
 */
#ifndef WSDBG_PTX_PARSE_H
#define WSDBG_PTX_PARSE_H

#include "base/error.h"
#include "ptx/program.h"

/* `name` stands in errors: "NAME:LINE: ...".  The text need not end with a zero byte and is not needed afterwards. */
struct wsdbg_error *wsdbg_ptx_parse(const char *text, size_t byte_count, const char *name,
                                    struct wsdbg_ptx_program **out);
/* The same instructions under the same numbers, to follow values through them: no two registers share a number.  The
 * address of a function is a register that nothing writes, and 0 among initial values. */
struct wsdbg_error *wsdbg_ptx_parse_to_read(const char *text, size_t byte_count, const char *name,
                                            struct wsdbg_ptx_program **out);
/* The same with variables of local memory in registers, as far as only loads and stores at known places use them: a
 * move is in place of each such load and store. */
struct wsdbg_error *wsdbg_ptx_parse_to_follow(const char *text, size_t byte_count, const char *name,
                                              struct wsdbg_ptx_program **out);
void wsdbg_ptx_program_destroy(struct wsdbg_ptx_program *program);

/* The levels of a place, the innermost first: the place of this number, and each place that it was inlined at.  Returns
 * how many, at most `most`. */
size_t wsdbg_ptx_levels(const struct wsdbg_ptx_program *program, uint32_t place, const struct wsdbg_ptx_place **out,
                        size_t most);

/* The kernel or function of this name, NULL when there is none. */
const struct wsdbg_ptx_function *wsdbg_ptx_find_function(const struct wsdbg_ptx_program *program, const char *name);
const struct wsdbg_ptx_variable *wsdbg_ptx_find_variable(const struct wsdbg_ptx_program *program, const char *name);

/* The instruction as one line of text (not the author's spacing), for reports and errors; at most byte_count with the
 * zero. */
void wsdbg_ptx_text(const struct wsdbg_ptx_program *program, uint32_t instruction, char *out, size_t byte_count);

#endif
