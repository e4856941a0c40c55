/* code.h - the code behind a machine's addresses: modules, functions with their control flow, and of each grid's kernel
 * the instructions that wait or signal.  Private to this room.
 *
 * Decoded once and kept: an image is read again only where the machine shows other bytes for it.  What cannot be read
 * is not known, and no error: a warp may stand in code that nobody has.
 */
#ifndef WSDBG_MACHINE_CODE_H
#define WSDBG_MACHINE_CODE_H

#include "machine/interpret.h"
#include "machine/wait_site.h"
#include "sass/access.h"
#include "sass/families.h"
#include "sass/joined.h"
#include "sass/lines.h"

struct wsdbg_code_module;

struct wsdbg_code_function {
    struct wsdbg_code_module *module;
    const struct wsdbg_cubin_function *cubin; /* its address is not 0 */
    struct wsdbg_graph *graph;   /* NULL = not made yet, or code of an architecture that is not decoded; of `joined` */
    struct wsdbg_joined *joined; /* with a copy of each function that it calls; NULL = it calls none that is known */
    struct wsdbg_wait_sites *sites; /* of the graph */
};

/* What a warp that stands at an instruction of its kernel must have executed, may have, and still can: for each of the
 * kernel's accesses. */
struct wsdbg_paths {
    uint32_t instruction;
    bool looked_back;
    bool may_owe_wait;             /* it may have arrived at the cluster barrier and not waited for it yet */
    uint8_t *least, *most, *after; /* see wsdbg_reach */
    bool *before_known;
};

/* How often the threads of one warp may have reached an access. */
struct wsdbg_execution_count {
    bool known;
    uint8_t least, most;
    struct wsdbg_optional_u32 id; /* of the barrier, where the instruction names several and this warp one of them */
};

/* What a warp of this index in its CTA has behind it at an instruction, WSDBG_GRAPH_NONE = when it has left: for each
 * of the kernel's accesses, known of named barriers only, and of arrivals on one mbarrier when it has left. */
struct wsdbg_past {
    uint32_t warp, instruction;
    struct wsdbg_execution_count *counts;
};

/* A grid's kernel: `accesses` as they are with the grid's parameters. */
struct wsdbg_code_kernel {
    uint64_t context, grid_id, entry;
    const struct wsdbg_code_function *function;
    struct wsdbg_access *accesses;
    size_t access_count;
    uint64_t *leads_to; /* for each access the instructions it leads to, a row of `set_words` each */
    size_t set_words;
    struct wsdbg_paths *paths_list; /* those asked for so far */
    size_t paths_count, paths_capacity;
    struct wsdbg_past *pasts; /* likewise */
    size_t past_count, past_capacity;
    uint64_t *comers;                              /* see wsdbg_code_comers */
    const struct wsdbg_shared_variable *variables; /* in shared memory; none in machine code */
    size_t variable_count;
};

/* An instruction of a function's graph.  If the graph has copies of other functions, it may be one of a copy. */
struct wsdbg_code_place {
    const struct wsdbg_code_function *function; /* NULL = not known */
    uint32_t instruction;
};
/* Whether the code there is decoded: PTX, or machine code of sm_90. */
static inline bool wsdbg_code_is_decoded(const struct wsdbg_code_place *place)
{
    return place->function && place->function->graph;
}

/* From here on images are compared with the machine's again; once before each look. */
void wsdbg_code_begin(struct wsdbg_code *code);
/* The function and offset of a PC of this grid's context.  The instruction there may not be decoded: the place may be
 * asked for its name and lines only.  Valid until the next wsdbg_code_begin. */
struct wsdbg_error *wsdbg_code_locate(struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t grid,
                                      uint64_t pc, struct wsdbg_code_place *out);
/* The same for decoded code only: any other place is not known.  Such a place may be asked what its instruction does.
 */
struct wsdbg_error *wsdbg_code_find(struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t grid,
                                    uint64_t pc, struct wsdbg_code_place *out);
/* The grid's kernel, NULL where its code is not known.  Valid until the next wsdbg_code_begin. */
struct wsdbg_error *wsdbg_code_kernel(struct wsdbg_code *code, struct wsdbg_machine *machine, uint32_t grid,
                                      struct wsdbg_code_kernel **out);
/* The kernel's control flow for `count` threads from `first` on, in x: see sass/threads.h.  The caller destroys it. */
struct wsdbg_error *wsdbg_code_threads(struct wsdbg_machine *machine, uint32_t grid,
                                       const struct wsdbg_code_kernel *kernel, uint32_t first, uint32_t count,
                                       struct wsdbg_graph **out);
/* The kernel's accesses, one for one, with what their operands are for these threads.  The caller frees them. */
struct wsdbg_error *wsdbg_code_accesses_of_threads(struct wsdbg_machine *machine, uint32_t grid,
                                                   const struct wsdbg_code_kernel *kernel, uint32_t first,
                                                   uint32_t count, struct wsdbg_access **out);
/* For each of the kernel's accesses a bit for each warp of a CTA whose threads may reach it, by what their index
 * decides: never too few.  *out is the kernel's; NULL where that is not known: the CTA has rows of threads, or too much
 * code. */
struct wsdbg_error *wsdbg_code_comers(struct wsdbg_machine *machine, uint32_t grid, struct wsdbg_code_kernel *kernel,
                                      const uint64_t **out);
/* 32 bits that the grid's threads find in a bank of constants: bank 0 holds their block's size and their parameters. */
struct wsdbg_error *wsdbg_code_constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank,
                                        uint32_t offset_bytes, uint32_t *value, bool *known);
/* The bank of constants that the compiler alone writes: tables of branch targets. */
enum { WSDBG_CODE_BANK_OF_TABLES = 2 };
/* What the function finds there, empty where that is not known.  Valid as long as the function. */
struct wsdbg_image wsdbg_code_tables(const struct wsdbg_code_function *function);
/* The architecture of a module's machine code: 90 = sm_90; 0 = not known, or PTX. */
uint32_t wsdbg_code_architecture(const struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t module);
/* Why a module's code is not known, in words; "" where it is. */
const char *wsdbg_code_reason(struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t module);
/* Source levels of a place, the innermost first; 0 = compiled without lines. */
size_t wsdbg_code_lines(const struct wsdbg_code_place *place, struct wsdbg_line *out, size_t most);
/* The instruction there as one at `address`, which counts for targets of branches; "" where it is not decoded. */
void wsdbg_code_text(const struct wsdbg_code_place *place, uint64_t address, char out[WSDBG_INSTRUCTION_TEXT_BYTES]);
uint64_t wsdbg_code_address(const struct wsdbg_code_place *place);
/* The function that an instruction is of, which may be one that the place's function calls, and its number there. */
const struct wsdbg_cubin_function *wsdbg_code_origin(const struct wsdbg_code_place *place, uint32_t *number);

#endif
