/* ptx_code.h - the code of a module that a simulated device executes: PTX, whose kernels read like machine code.
 *
 * Addresses: instruction n of the program is at 16 * (n + 1).
 */
#ifndef WSDBG_TRANSLATE_PTX_CODE_H
#define WSDBG_TRANSLATE_PTX_CODE_H

#include "sass/cubin.h"
#include "sass/families.h"
#include "sass/graph.h"
#include "sass/lines.h"

struct wsdbg_ptx_code;

/* Whether the bytes are PTX and no ELF file. */
bool wsdbg_ptx_code_is(const struct wsdbg_image *image);
/* `image` is not needed afterwards. */
struct wsdbg_error *wsdbg_ptx_code_create(const struct wsdbg_image *image, struct wsdbg_ptx_code **out);
void wsdbg_ptx_code_destroy(struct wsdbg_ptx_code *code); /* NULL is fine */

static inline uint64_t wsdbg_ptx_address(uint32_t instruction)
{
    return ((uint64_t)instruction + 1) * WSDBG_INSTRUCTION_BYTES;
}

/* Its kernels, as a cubin has them: without bytes of code, but with their number. */
size_t wsdbg_ptx_code_function_count(const struct wsdbg_ptx_code *code);
const struct wsdbg_cubin_function *wsdbg_ptx_code_function(const struct wsdbg_ptx_code *code, size_t number);
struct wsdbg_error *wsdbg_ptx_code_graph(const struct wsdbg_ptx_code *code, const struct wsdbg_cubin_function *function,
                                         struct wsdbg_graph **out);
/* The kernel's variables in shared memory that have a size, by their addresses. */
const struct wsdbg_shared_variable *wsdbg_ptx_code_shared(const struct wsdbg_ptx_code *code,
                                                          const struct wsdbg_cubin_function *function, size_t *count);
/* An instruction of a kernel, by its number in it. */
void wsdbg_ptx_code_text(const struct wsdbg_ptx_code *code, const struct wsdbg_cubin_function *function,
                         uint32_t instruction, char out[WSDBG_INSTRUCTION_TEXT_BYTES]);
/* Without line information the place is the line of the PTX itself, in WSDBG_FILE_OF_PTX. */
size_t wsdbg_ptx_code_lines(const struct wsdbg_ptx_code *code, const struct wsdbg_cubin_function *function,
                            uint32_t instruction, struct wsdbg_line *out, size_t most);

#endif
