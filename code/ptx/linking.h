/* linking.h - one kernel on its way to whole code, for the files that make it.  Private to ptx/.
 *
 * link.c finds what the kernel calls and where that has its registers and memory, link_size.c which calls are replaced
 * by the code of what they call, link_code.c writes the code.
 */
#ifndef WSDBG_PTX_LINKING_H
#define WSDBG_PTX_LINKING_H

#include "ptx/function.h"

/* A function's code in the current kernel. */
struct ptx_copy {
    uint32_t function;
    uint32_t register_base; /* its register 0 */
    uint32_t frame;         /* where its local memory begins */
    bool stands_in_caller;  /* it replaces a call */
};

/* A function that the current kernel calls, directly or not; the kernel itself is the first. */
struct ptx_placed {
    struct ptx_copy copy;
    uint32_t first;    /* index of its first instruction, where it has code of its own */
    bool is_inlined;   /* its code stands in place of each call */
    uint32_t expanded; /* instructions, with those that stand in place of calls */
    uint32_t height;   /* of calls that are replaced one in another */
};

/* A row of places, and the one for the copy that is being written. */
struct ptx_moved_place {
    uint32_t from, to;
};

struct ptx_linking {
    struct ptx_parser *parser;
    struct ptx_array instructions, instruction_text; /* the new ones */
    struct ptx_array placed;                         /* struct ptx_placed: the kernel first */
    struct ptx_array order;                          /* uint32_t: in `placed`, what is called before what calls it */
    struct ptx_array path, shared;                   /* struct visit; uint32_t */
    struct ptx_array copies;     /* struct ptx_copy, of the calls of bodies that are being written */
    struct ptx_array positions;  /* uint32_t: where instructions of these bodies are now */
    struct ptx_array open_calls; /* uint32_t: calls whose targets are not known yet */
    struct ptx_array places;     /* struct ptx_moved_place, of these bodies */
    struct ptx_array owned;      /* struct ptx_copy: with registers of their own */
    struct ptx_array objects;    /* struct ptx_local: of all copies */
    uint32_t registers;          /* of the kernel, so far */
    uint64_t local_bytes;
    uint32_t *placed_as; /* of each function: its index in `placed` + 1, 0 = not in this kernel */
    bool *on_path;
};

static inline struct wsdbg_ptx_function *ptx_function_at(const struct ptx_linking *link, uint32_t index)
{
    return PTX_ITEM(link->parser->functions, struct wsdbg_ptx_function, index);
}

static inline const struct ptx_function_note *ptx_note_at(const struct ptx_linking *link, uint32_t index)
{
    return PTX_ITEM(link->parser->function_notes, struct ptx_function_note, index);
}

/* What the kernel has placed of a function. */
static inline struct ptx_placed *ptx_placed_of(const struct ptx_linking *link, uint32_t function)
{
    return PTX_ITEM(link->placed, struct ptx_placed, link->placed_as[function] - 1);
}

/* How many operands are written in braces or brackets: those of a vector, or of a tensor's address. */
static inline uint32_t ptx_element_count(const struct wsdbg_ptx_operand *operand)
{
    const bool is_tensor = operand->kind == WSDBG_PTX_OPERAND_TENSOR;
    return is_tensor || operand->kind == WSDBG_PTX_OPERAND_VECTOR ? operand->count + is_tensor : 0;
}

static inline const struct wsdbg_ptx_operand *ptx_element(const struct ptx_linking *link,
                                                          const struct wsdbg_ptx_operand *operand, uint32_t index)
{
    return PTX_ITEM(link->parser->vectors, struct wsdbg_ptx_operand, operand->number + index);
}

static inline bool ptx_is_load_or_store(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_ld || instruction->operation == WSDBG_PTX_OP_st;
}

/* The address of a load or store. */
static inline const struct wsdbg_ptx_operand *ptx_place_operand(const struct wsdbg_ptx_instruction *access)
{
    return &access->operands[access->operation == WSDBG_PTX_OP_ld];
}

/* Decides which of the placed functions are inlined. */
void ptx_find_inlined(struct ptx_linking *link);
/* Writes the kernel's code and that of the functions that are not inlined. */
struct wsdbg_error *ptx_link_code(struct ptx_linking *link);
/* Registers and local memory for one more copy of a function; those that the function has already, where there is no
 * room. */
struct wsdbg_error *ptx_own_copy(struct ptx_linking *link, uint32_t function, struct ptx_copy *out);

/* promote.c: gives variables of the kernel's local memory registers, where only loads and stores at known places use
 * them. */
struct wsdbg_error *ptx_promote_local(struct ptx_linking *link, struct wsdbg_ptx_function *kernel);
/* local_space.c: generic loads and stores that can only concern local memory become local ones. */
struct wsdbg_error *ptx_find_local_space(struct ptx_linking *link, const struct wsdbg_ptx_function *kernel);

#endif
