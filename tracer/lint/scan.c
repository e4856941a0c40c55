/* scan.c - see scan.h.  Reads the opcode in the first bytes of each instruction; decodes those of interest alone. */
#include "lint/scan.h"

#include <string.h>

#include "sass/cubin.h"
#include "sass/decode.h"

static const uint8_t interest_of[WSDBG_CLASS_COUNT] = {
    [WSDBG_CLASS_REGISTERS] = WSDBG_INTEREST_REGISTERS,    [WSDBG_CLASS_WGMMA] = WSDBG_INTEREST_WGMMA,
    [WSDBG_CLASS_WGMMA_SYNC] = WSDBG_INTEREST_WGMMA,       [WSDBG_CLASS_MBARRIER] = WSDBG_INTEREST_MBARRIERS,
    [WSDBG_CLASS_NAMED_BARRIER] = WSDBG_INTEREST_NAMED,    [WSDBG_CLASS_CLUSTER_BARRIER] = WSDBG_INTEREST_CLUSTER,
    [WSDBG_CLASS_COPY_ENGINE] = WSDBG_INTEREST_COPIES,     [WSDBG_CLASS_ASYNC_STORE] = WSDBG_INTEREST_COPIES,
    [WSDBG_CLASS_ASYNC_REDUCTION] = WSDBG_INTEREST_COPIES, [WSDBG_CLASS_GRID] = WSDBG_INTEREST_GRIDS,
};

/* The interests that an opcode may be of. */
static void interests_of_opcodes(uint8_t interests[WSDBG_OPCODES])
{
    uint64_t classes[WSDBG_OPCODES];
    wsdbg_opcode_classes(classes);
    for (unsigned opcode = 0; opcode < WSDBG_OPCODES; opcode++) {
        interests[opcode] = 0;
        for (uint64_t rest = classes[opcode]; rest; rest &= rest - 1)
            interests[opcode] |= interest_of[__builtin_ctzll(rest)];
    }
}

/* A __syncthreads, or one with a reduction: id 0 and all threads, both written down. */
static bool is_whole_block(const struct wsdbg_instruction *bar)
{
    for (unsigned i = 0; i < bar->source_count; i++) {
        const unsigned kind = bar->sources[i].kind;
        if (kind == WSDBG_OPERAND_REGISTER || (kind == WSDBG_OPERAND_IMMEDIATE && (i > 0 || bar->sources[i].value)))
            return false;
    }
    return bar->mode != WSDBG_BAR_ARV;
}

/* Operations share opcodes, and not all words of an opcode are instructions: so this one is decoded. */
static unsigned interest_of_word(const unsigned char *word)
{
    struct wsdbg_instruction instruction;
    wsdbg_decode(word, &instruction);
    const bool is_whole = instruction.operation == WSDBG_OP_BAR && is_whole_block(&instruction);
    return is_whole ? 0 : interest_of[wsdbg_operation_class(instruction.operation)];
}

unsigned wsdbg_lint_scan_code(const struct wsdbg_image *code)
{
    uint8_t interests[WSDBG_OPCODES];
    unsigned found = 0;
    interests_of_opcodes(interests);
    for (size_t at = 0; at + WSDBG_INSTRUCTION_BYTES <= code->byte_count; at += WSDBG_INSTRUCTION_BYTES) {
        uint16_t low;
        memcpy(&low, code->bytes + at, sizeof low);
        if (interests[low % WSDBG_OPCODES] & ~found)
            found |= interest_of_word(code->bytes + at);
    }
    return found;
}

unsigned wsdbg_lint_scan_ptx(const char *text, size_t byte_count)
{
    static const struct {
        const char *word;
        enum wsdbg_lint_interest interest;
    } words[] = {
        {"setmaxnreg", WSDBG_INTEREST_REGISTERS},    {"wgmma", WSDBG_INTEREST_WGMMA},
        {"mbarrier", WSDBG_INTEREST_MBARRIERS},      {"bar.arrive", WSDBG_INTEREST_NAMED},
        {"bar.sync", WSDBG_INTEREST_NAMED},          {"barrier.sync", WSDBG_INTEREST_NAMED},
        {"barrier.cluster", WSDBG_INTEREST_CLUSTER}, {"cp.async.bulk", WSDBG_INTEREST_COPIES},
        {"griddepcontrol", WSDBG_INTEREST_GRIDS},
    };
    unsigned found = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(text, byte_count, words[i].word, strlen(words[i].word)))
            found |= words[i].interest;
    return found;
}

const char *wsdbg_lint_scan_message(const struct wsdbg_image *cubin)
{
    /* Parts of what CUTLASS prints where it was compiled without the features of sm_90a. */
    static const char *const parts[] = {"without targeting sm90a", "without CUTE_ARCH_MMA_SM90A_ENABLED"};
    const char *begin = (const char *)cubin->bytes, *found = NULL;
    for (size_t i = 0; !found && i < sizeof parts / sizeof parts[0]; i++)
        found = memmem(begin, cubin->byte_count, parts[i], strlen(parts[i]));
    while (found && found > begin && found[-1] >= ' ')
        found--;
    return found;
}
