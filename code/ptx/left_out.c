/* left_out.c - PTX that the simulator leaves out on purpose, and why: said instead of "not known".
 *
 * Reads: an instruction's mnemonic and suffixes.  Writes nothing.
 */
#include <string.h>

#include "ptx/parse_table.h"

#define TEXTURES "textures and surfaces are not simulated"
#define SPARSE "sparse matrices are not simulated"
#define STACK "memory that grows a thread's stack is not simulated"
#define VIDEO "video instructions are not simulated"
#define LATER "of sm_100 or later: the simulated device is an sm_90"

/* An instruction's first words; or with a dot before it, a suffix of any. */
static const struct {
    const char *word, *reason;
} left_out[] = {
    {"tex", TEXTURES},
    {"tld4", TEXTURES},
    {"txq", TEXTURES},
    {"suld", TEXTURES},
    {"sust", TEXTURES},
    {"sured", TEXTURES},
    {"suq", TEXTURES},
    {"istypep", TEXTURES},
    {"multimem", "memory of several devices is not simulated: there is one"},
    {"wmma", "wmma is not simulated: mma.sync and wgmma are"},
    {"mma.sp", SPARSE},
    {"mma.sp::ordered_metadata", SPARSE},
    {"wgmma.mma_async.sp", SPARSE},
    {"alloca", STACK},
    {"stacksave", STACK},
    {"stackrestore", STACK},
    {"vadd", VIDEO},
    {"vadd2", VIDEO},
    {"vadd4", VIDEO},
    {"vsub", VIDEO},
    {"vsub2", VIDEO},
    {"vsub4", VIDEO},
    {"vabsdiff", VIDEO},
    {"vavrg2", VIDEO},
    {"vavrg4", VIDEO},
    {"vmin", VIDEO},
    {"vmin2", VIDEO},
    {"vmin4", VIDEO},
    {"vmax", VIDEO},
    {"vmax2", VIDEO},
    {"vmax4", VIDEO},
    {"vset", VIDEO},
    {"vset2", VIDEO},
    {"vset4", VIDEO},
    {"vshl", VIDEO},
    {"vshr", VIDEO},
    {"vmad", VIDEO},
    {"shfl", "shfl has needed .sync since sm_70"},
    {"vote", "vote has needed .sync since sm_70"},
    {"tcgen05", LATER},
    {"clusterlaunchcontrol", LATER},
    {"st.bulk", LATER},
    {"redux.sync.min.f32", LATER},
    {"redux.sync.max.f32", LATER},
    {".cta_group::1", LATER},
    {".cta_group::2", LATER},
    {".tile::gather4", LATER},
    {".tile::scatter4", LATER},
    {".im2col::w", LATER},
    {".im2col::w::128", LATER},
    {".cp_mask", LATER},
    {".f32x2", LATER},
    {".rs", LATER},
    {".e2m1x2", LATER},
    {".e2m3x2", LATER},
    {".e3m2x2", LATER},
    {".ue8m0x2", LATER},
    {".m16n16", LATER},
};

/* Whether `word` stands at `at`, followed by another one or nothing. */
static bool stands_at(struct ptx_slice opcode, size_t at, const char *word)
{
    const size_t length = strlen(word), end = at + length;
    return end <= opcode.length && memcmp(opcode.bytes + at, word, length) == 0 &&
           (end == opcode.length || opcode.bytes[end] == '.');
}

const char *ptx_left_out(struct ptx_slice opcode)
{
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        const size_t last = *left_out[i].word == '.' ? opcode.length : 1;
        for (size_t at = 0; at < last; at++)
            if (stands_at(opcode, at, left_out[i].word))
                return left_out[i].reason;
    }
    return NULL;
}

bool ptx_left_out_at(size_t index, const char **word, const char **reason)
{
    if (index >= sizeof left_out / sizeof *left_out)
        return false;
    *word = left_out[index].word;
    *reason = left_out[index].reason;
    return true;
}
