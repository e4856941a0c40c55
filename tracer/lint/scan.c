/* scan.c - see scan.h.  Reads the operation's number in the first bytes of each instruction; writes nothing. */
#include "lint/scan.h"

#include <string.h>

#include "sass/cubin.h"
#include "sass/decode.h"

/* The lowest nine bits name the operation, the three above them the form of its operands. */
#define OPERATION_MASK 0x1ffu

static const uint8_t interest_of[OPERATION_MASK + 1] = {
    [0x02d] = WSDBG_INTEREST_GRIDS,     /* PREEXIT */
    [0x02e] = WSDBG_INTEREST_GRIDS,     /* ACQBULK */
    [0x11d] = WSDBG_INTEREST_NAMED,     /* BAR */
    [0x1a7] = WSDBG_INTEREST_MBARRIERS, /* SYNCS: tests and arrivals */
    [0x1b0] = WSDBG_INTEREST_MBARRIERS, /* ARRIVES */
    [0x1b1] = WSDBG_INTEREST_MBARRIERS, /* SYNCS.CCTL */
    [0x1b2] = WSDBG_INTEREST_MBARRIERS, /* SYNCS.EXCH */
    [0x1b4] = WSDBG_INTEREST_COPIES,    /* UTMALDG */
    [0x1b5] = WSDBG_INTEREST_COPIES,    /* UTMASTG */
    [0x1b6] = WSDBG_INTEREST_COPIES,    /* UTMAREDG */
    [0x1ba] = WSDBG_INTEREST_COPIES,    /* UBLKCP */
    [0x1bb] = WSDBG_INTEREST_COPIES,    /* UBLKRED */
    [0x1bd] = WSDBG_INTEREST_COPIES,    /* STAS */
    [0x1be] = WSDBG_INTEREST_COPIES,    /* REDAS */
    [0x1c5] = WSDBG_INTEREST_WGMMA,     /* WARPGROUP */
    [0x1c7] = WSDBG_INTEREST_CLUSTER,   /* UCGABAR */
    [0x1c8] = WSDBG_INTEREST_REGISTERS, /* USETMAXREG */
    [0x1f0] = WSDBG_INTEREST_WGMMA,     /* HGMMA */
    [0x1f1] = WSDBG_INTEREST_WGMMA,     /* IGMMA */
    [0x1f2] = WSDBG_INTEREST_WGMMA,     /* BGMMA */
    [0x1f3] = WSDBG_INTEREST_WGMMA,     /* QGMMA */
};

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

/* True where the word, which has such an operation's number, is one: other instructions share the low bits. */
static bool is_of(const unsigned char *word)
{
    struct wsdbg_instruction instruction;
    wsdbg_decode(word, &instruction);
    return instruction.operation != WSDBG_OP_OTHER &&
           (instruction.operation != WSDBG_OP_BAR || !is_whole_block(&instruction));
}

unsigned wsdbg_lint_scan_code(const struct wsdbg_image *code)
{
    unsigned found = 0;
    for (size_t at = 0; at + WSDBG_INSTRUCTION_BYTES <= code->byte_count; at += WSDBG_INSTRUCTION_BYTES) {
        uint16_t low;
        memcpy(&low, code->bytes + at, sizeof low);
        const unsigned interest = interest_of[low & OPERATION_MASK];
        if ((interest & ~found) && is_of(code->bytes + at))
            found |= interest;
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
