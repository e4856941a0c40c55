/* parse_words.c - what the words of suffixes mean; see parse_table.h.
 *
 * A word that means several things means what the instruction's row says.
 * Reads: words.  Writes: the instruction's types, spaces, variant and flags.
 */
#include "ptx/parse_table.h"

#include <string.h>

struct word {
    const char *text;
    uint8_t field;
    uint32_t value;
};

static const char *const type_names[WSDBG_PTX_TYPE_COUNT] = {
    [WSDBG_PTX_PRED] = "pred",     [WSDBG_PTX_B8] = "b8",       [WSDBG_PTX_B16] = "b16",
    [WSDBG_PTX_B32] = "b32",       [WSDBG_PTX_B64] = "b64",     [WSDBG_PTX_B128] = "b128",
    [WSDBG_PTX_U8] = "u8",         [WSDBG_PTX_U16] = "u16",     [WSDBG_PTX_U32] = "u32",
    [WSDBG_PTX_U64] = "u64",       [WSDBG_PTX_S8] = "s8",       [WSDBG_PTX_S16] = "s16",
    [WSDBG_PTX_S32] = "s32",       [WSDBG_PTX_S64] = "s64",     [WSDBG_PTX_F16] = "f16",
    [WSDBG_PTX_F16X2] = "f16x2",   [WSDBG_PTX_BF16] = "bf16",   [WSDBG_PTX_BF16X2] = "bf16x2",
    [WSDBG_PTX_TF32] = "tf32",     [WSDBG_PTX_F32] = "f32",     [WSDBG_PTX_F64] = "f64",
    [WSDBG_PTX_E4M3] = "e4m3",     [WSDBG_PTX_E5M2] = "e5m2",   [WSDBG_PTX_E4M3X2] = "e4m3x2",
    [WSDBG_PTX_E5M2X2] = "e5m2x2", [WSDBG_PTX_S16X2] = "s16x2", [WSDBG_PTX_U16X2] = "u16x2",
    [WSDBG_PTX_S4] = "s4",         [WSDBG_PTX_U4] = "u4",       [WSDBG_PTX_B1] = "b1",
};

static const struct word words[] = {
    {"global", PTX_FIELD_SPACE, WSDBG_PTX_GLOBAL},
    {"const", PTX_FIELD_SPACE, WSDBG_PTX_CONST},
    {"param", PTX_FIELD_SPACE, WSDBG_PTX_PARAM},
    {"param::entry", PTX_FIELD_SPACE, WSDBG_PTX_PARAM},
    {"param::func", PTX_FIELD_SPACE, WSDBG_PTX_PARAM},
    {"local", PTX_FIELD_SPACE, WSDBG_PTX_LOCAL},
    {"shared", PTX_FIELD_SPACE, WSDBG_PTX_SHARED},
    {"shared::cta", PTX_FIELD_SPACE, WSDBG_PTX_SHARED},
    {"shared::cluster", PTX_FIELD_SPACE, WSDBG_PTX_SHARED_CLUSTER},

    {"ftz", PTX_FIELD_FLAG, WSDBG_PTX_FTZ},
    {"sat", PTX_FIELD_FLAG, WSDBG_PTX_SAT},
    {"satfinite", PTX_FIELD_FLAG, WSDBG_PTX_SATFINITE},
    {"relu", PTX_FIELD_FLAG, WSDBG_PTX_RELU},
    {"approx", PTX_FIELD_FLAG, WSDBG_PTX_APPROX},
    {"full", PTX_FIELD_NONE, 0}, /* as good as div.rn */
    {"cc", PTX_FIELD_FLAG, WSDBG_PTX_CARRY_OUT},
    {"NaN", PTX_FIELD_FLAG, WSDBG_PTX_NAN_WINS},
    {"xorsign", PTX_FIELD_FLAG, WSDBG_PTX_XORSIGN_ABS},
    {"abs", PTX_FIELD_FLAG, WSDBG_PTX_XORSIGN_ABS},
    {"shiftamt", PTX_FIELD_FLAG, WSDBG_PTX_SHIFT_AMOUNT},
    {"wrap", PTX_FIELD_FLAG, WSDBG_PTX_SHIFT_WRAP},
    {"clamp", PTX_FIELD_NONE, 0},
    {"volatile", PTX_FIELD_FLAG, WSDBG_PTX_VOLATILE},
    {"sys", PTX_FIELD_FLAG, WSDBG_PTX_SYSTEM},
    {"relaxed", PTX_FIELD_FLAG, WSDBG_PTX_RELAXED},
    {"acquire", PTX_FIELD_FLAG, WSDBG_PTX_ACQUIRE},
    {"release", PTX_FIELD_FLAG, WSDBG_PTX_RELEASE},
    {"acq_rel", PTX_FIELD_FLAG, WSDBG_PTX_ACQUIRE | WSDBG_PTX_RELEASE},
    {"sc", PTX_FIELD_FLAG, WSDBG_PTX_ACQUIRE | WSDBG_PTX_RELEASE},
    {"uni", PTX_FIELD_FLAG, WSDBG_PTX_UNI},
    {"aligned", PTX_FIELD_FLAG, WSDBG_PTX_ALIGNED},
    {"nc", PTX_FIELD_FLAG, WSDBG_PTX_NON_COHERENT},
    {"to", PTX_FIELD_FLAG, WSDBG_PTX_TO_SHARED},
    {"multicast::cluster", PTX_FIELD_FLAG, WSDBG_PTX_MULTICAST},
    {"L2::cache_hint", PTX_FIELD_FLAG, WSDBG_PTX_CACHE_HINT},
    {"read", PTX_FIELD_FLAG, WSDBG_PTX_READ_ONLY_GROUPS},
    {"trans", PTX_FIELD_FLAG, WSDBG_PTX_TRANSPOSED},
    {"noComplete", PTX_FIELD_FLAG, WSDBG_PTX_NO_COMPLETE},
    {"parity", PTX_FIELD_FLAG, WSDBG_PTX_PARITY},
    {"expect_tx", PTX_FIELD_FLAG, WSDBG_PTX_EXPECT_TX},
    {"noinc", PTX_FIELD_FLAG, WSDBG_PTX_NO_INCREMENT},
    {"im2col", PTX_FIELD_FLAG, WSDBG_PTX_IM2COL},
    {"im2col_no_offs", PTX_FIELD_FLAG, WSDBG_PTX_IM2COL},

    {"eq", PTX_FIELD_COMPARE, WSDBG_PTX_EQ},
    {"ne", PTX_FIELD_COMPARE, WSDBG_PTX_NE},
    {"lt", PTX_FIELD_COMPARE, WSDBG_PTX_LT},
    {"le", PTX_FIELD_COMPARE, WSDBG_PTX_LE},
    {"gt", PTX_FIELD_COMPARE, WSDBG_PTX_GT},
    {"ge", PTX_FIELD_COMPARE, WSDBG_PTX_GE},
    {"ls", PTX_FIELD_COMPARE, WSDBG_PTX_LS},
    {"hs", PTX_FIELD_COMPARE, WSDBG_PTX_HS},
    {"equ", PTX_FIELD_COMPARE, WSDBG_PTX_EQU},
    {"neu", PTX_FIELD_COMPARE, WSDBG_PTX_NEU},
    {"ltu", PTX_FIELD_COMPARE, WSDBG_PTX_LTU},
    {"leu", PTX_FIELD_COMPARE, WSDBG_PTX_LEU},
    {"gtu", PTX_FIELD_COMPARE, WSDBG_PTX_GTU},
    {"geu", PTX_FIELD_COMPARE, WSDBG_PTX_GEU},
    {"num", PTX_FIELD_COMPARE, WSDBG_PTX_NUM},
    {"nan", PTX_FIELD_COMPARE, WSDBG_PTX_NAN},

    {"rn", PTX_FIELD_ROUNDING, WSDBG_PTX_RN},
    {"rz", PTX_FIELD_ROUNDING, WSDBG_PTX_RZ},
    {"rm", PTX_FIELD_ROUNDING, WSDBG_PTX_RM},
    {"rp", PTX_FIELD_ROUNDING, WSDBG_PTX_RP},
    {"rna", PTX_FIELD_ROUNDING, WSDBG_PTX_RNA},
    {"rni", PTX_FIELD_ROUNDING, WSDBG_PTX_RNI},
    {"rzi", PTX_FIELD_ROUNDING, WSDBG_PTX_RZI},
    {"rmi", PTX_FIELD_ROUNDING, WSDBG_PTX_RMI},
    {"rpi", PTX_FIELD_ROUNDING, WSDBG_PTX_RPI},

    {"lo", PTX_FIELD_PART, WSDBG_PTX_LOW},
    {"hi", PTX_FIELD_PART, WSDBG_PTX_HIGH},
    {"wide", PTX_FIELD_PART, WSDBG_PTX_WIDE},

    {"add", PTX_FIELD_VARIANT, WSDBG_PTX_V_ADD},
    {"min", PTX_FIELD_VARIANT, WSDBG_PTX_V_MIN},
    {"max", PTX_FIELD_VARIANT, WSDBG_PTX_V_MAX},
    {"inc", PTX_FIELD_VARIANT, WSDBG_PTX_V_INC},
    {"dec", PTX_FIELD_VARIANT, WSDBG_PTX_V_DEC},
    {"and", PTX_FIELD_VARIANT, WSDBG_PTX_V_AND},
    {"or", PTX_FIELD_VARIANT, WSDBG_PTX_V_OR},
    {"xor", PTX_FIELD_VARIANT, WSDBG_PTX_V_XOR},
    {"exch", PTX_FIELD_VARIANT, WSDBG_PTX_V_EXCH},
    {"cas", PTX_FIELD_VARIANT, WSDBG_PTX_V_CAS},
    {"popc", PTX_FIELD_VARIANT, WSDBG_PTX_V_POPC},
    {"idx", PTX_FIELD_VARIANT, WSDBG_PTX_V_IDX},
    {"up", PTX_FIELD_VARIANT, WSDBG_PTX_V_UP},
    {"down", PTX_FIELD_VARIANT, WSDBG_PTX_V_DOWN},
    {"bfly", PTX_FIELD_VARIANT, WSDBG_PTX_V_BFLY},
    {"all", PTX_FIELD_VARIANT, WSDBG_PTX_V_ALL},
    {"any", PTX_FIELD_VARIANT, WSDBG_PTX_V_ANY},
    {"ballot", PTX_FIELD_VARIANT, WSDBG_PTX_V_BALLOT},
    {"l", PTX_FIELD_VARIANT, WSDBG_PTX_V_LEFT},
    {"r", PTX_FIELD_VARIANT, WSDBG_PTX_V_RIGHT},
    {"f4e", PTX_FIELD_VARIANT, WSDBG_PTX_V_F4E},
    {"b4e", PTX_FIELD_VARIANT, WSDBG_PTX_V_B4E},
    {"rc8", PTX_FIELD_VARIANT, WSDBG_PTX_V_RC8},
    {"ecl", PTX_FIELD_VARIANT, WSDBG_PTX_V_ECL},
    {"ecr", PTX_FIELD_VARIANT, WSDBG_PTX_V_ECR},
    {"rc16", PTX_FIELD_VARIANT, WSDBG_PTX_V_RC16},
    {"finite", PTX_FIELD_VARIANT, WSDBG_PTX_V_FINITE},
    {"infinite", PTX_FIELD_VARIANT, WSDBG_PTX_V_INFINITE},
    {"number", PTX_FIELD_VARIANT, WSDBG_PTX_V_NUMBER},
    {"notanumber", PTX_FIELD_VARIANT, WSDBG_PTX_V_NOT_A_NUMBER},
    {"normal", PTX_FIELD_VARIANT, WSDBG_PTX_V_NORMAL},
    {"subnormal", PTX_FIELD_VARIANT, WSDBG_PTX_V_SUBNORMAL},
    {"global_address", PTX_FIELD_VARIANT, WSDBG_PTX_V_GLOBAL_ADDRESS},
    {"rank", PTX_FIELD_VARIANT, WSDBG_PTX_V_RANK},
    {"box_dim", PTX_FIELD_VARIANT, WSDBG_PTX_V_BOX_DIM},
    {"global_dim", PTX_FIELD_VARIANT, WSDBG_PTX_V_GLOBAL_DIM},
    {"global_stride", PTX_FIELD_VARIANT, WSDBG_PTX_V_GLOBAL_STRIDE},
    {"element_stride", PTX_FIELD_VARIANT, WSDBG_PTX_V_ELEMENT_STRIDE},
    {"elemtype", PTX_FIELD_VARIANT, WSDBG_PTX_V_ELEMENT_TYPE},
    {"interleave_layout", PTX_FIELD_VARIANT, WSDBG_PTX_V_INTERLEAVE},
    {"swizzle_mode", PTX_FIELD_VARIANT, WSDBG_PTX_V_SWIZZLE},
    {"fill_mode", PTX_FIELD_VARIANT, WSDBG_PTX_V_FILL},

    {"v2", PTX_FIELD_LENGTH, 2},
    {"v4", PTX_FIELD_LENGTH, 4},
    {"v8", PTX_FIELD_LENGTH, 8},
    {"x1", PTX_FIELD_LENGTH, 1},
    {"x2", PTX_FIELD_LENGTH, 2},
    {"x4", PTX_FIELD_LENGTH, 4},
    {"1d", PTX_FIELD_DIMENSIONS, 1},
    {"2d", PTX_FIELD_DIMENSIONS, 2},
    {"3d", PTX_FIELD_DIMENSIONS, 3},
    {"4d", PTX_FIELD_DIMENSIONS, 4},
    {"5d", PTX_FIELD_DIMENSIONS, 5},
};

/* Scopes, caches, proxies and what the mnemonic says already: memory is sequentially consistent here. */
static const char *const silent_words[] = {
    "cta",
    "cluster",
    "gpu",
    "gl",
    "weak",
    "mmio",
    "noftz",
    "sync",
    "proxy",
    "alias",
    "async",
    "async::generic",
    "tensormap::generic",
    "mbarrier_init",
    "sync_restrict::shared::cta",
    "sync_restrict::shared::cluster",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "L1",
    "L2",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_unchanged",
    "L2::evict_first",
    "L2::evict_last",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "fractional",
    "range",
    "cvt",
    "mbarrier::complete_tx::bytes",
    "bulk_group",
    "tile",
    "b1024",
    "m8n8",
    "row",
    "col",
};

static const struct {
    const char *name, *words;
} lists[] = {
    {"int", "u16/s16/u32/s32/u64/s64"},
    {"whole", "b16/b32/b64/u16/u32/u64/s16/s32/s64"},
    {"scalar", "u8/u16/u32/u64/s8/s16/s32/s64/f16/bf16/f32/f64"},
    {"memory", "b8/b16/b32/b64/b128/u8/u16/u32/u64/s8/s16/s32/s64/f32/f64"},
    {"wide_int", "u32/s32/u64/s64"},
    {"half", "f16/f16x2/bf16/bf16x2"},
    {"truth", "u32/s32/f32/f16/f16x2/bf16/bf16x2"},
    {"space", "const/global/local/param/param::entry/param::func/shared/shared::cta/shared::cluster"},
    {"written", "global/local/param/param::func/shared/shared::cta/shared::cluster"},
    {"generic", "global/shared/shared::cta/shared::cluster/local/const/param/param::entry"},
    {"anywhere", "global/shared/shared::cta/shared::cluster"},
    {"own", "shared/shared::cta"},
    {"order", "relaxed/acquire/release/acq_rel"},
    {"scope", "cta/cluster/gpu/sys"},
    {"L1", "L1::evict_normal/L1::evict_unchanged/L1::evict_first/L1::evict_last/L1::no_allocate"},
    {"L2", "L2::evict_normal/L2::evict_first/L2::evict_last"},
    {"policy", "L2::evict_last/L2::evict_normal/L2::evict_first/L2::evict_unchanged"},
    {"sector", "L2::64B/L2::128B/L2::256B"},
    {"dim", "1d/2d/3d/4d/5d"},
    {"round", "rn/rz/rm/rp"},
    {"integral", "rni/rzi/rmi/rpi"},
    {"compare", "eq/ne/lt/le/gt/ge/lo:compare/ls/hi:compare/hs/equ/neu/ltu/leu/gtu/geu/num/nan"},
    {"combine", "and:combine/or:combine/xor:combine"},
};

enum wsdbg_ptx_type ptx_type_named(struct ptx_slice name)
{
    for (unsigned type = WSDBG_PTX_PRED; type < WSDBG_PTX_TYPE_COUNT; type++)
        if (ptx_slice_is(name, type_names[type]))
            return (enum wsdbg_ptx_type)type;
    return WSDBG_PTX_NO_TYPE;
}

bool ptx_word_list_at(size_t index, const char **name, const char **list)
{
    if (index >= sizeof lists / sizeof *lists)
        return false;
    *name = lists[index].name;
    *list = lists[index].words;
    return true;
}

const char *ptx_word_list(struct ptx_slice name)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (ptx_slice_is(name, lists[i].name))
            return lists[i].words;
    return NULL;
}

static bool is_shape(struct ptx_slice word)
{
    return word.length > 5 && word.bytes[0] == 'm' && memchr(word.bytes, 'n', word.length) &&
           memchr(word.bytes, 'k', word.length);
}

void ptx_word_meaning(struct ptx_slice word, enum ptx_field *field, uint32_t *value)
{
    *field = PTX_FIELD_TYPE;
    *value = ptx_type_named(word);
    if (*value != WSDBG_PTX_NO_TYPE)
        return;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_slice_is(word, words[i].text)) {
            *field = (enum ptx_field)words[i].field;
            *value = words[i].value;
            return;
        }
    *field = is_shape(word) ? PTX_FIELD_SHAPE : PTX_FIELD_UNKNOWN;
    for (size_t i = 0; i < sizeof silent_words / sizeof *silent_words; i++)
        if (ptx_slice_is(word, silent_words[i]))
            *field = PTX_FIELD_NONE;
}

void ptx_word_meaning_in(struct ptx_slice word, struct ptx_slice field_name, enum ptx_field *field, uint32_t *value)
{
    static const struct {
        const char *field, *word;
        uint8_t meaning;
        uint32_t value;
    } meanings[] = {
        {"compare", "lo", PTX_FIELD_COMPARE, WSDBG_PTX_LO},   {"compare", "hi", PTX_FIELD_COMPARE, WSDBG_PTX_HI},
        {"combine", "and", PTX_FIELD_COMBINE, WSDBG_PTX_AND}, {"combine", "or", PTX_FIELD_COMBINE, WSDBG_PTX_OR},
        {"combine", "xor", PTX_FIELD_COMBINE, WSDBG_PTX_XOR}, {"variant", "uni", PTX_FIELD_VARIANT, WSDBG_PTX_V_UNI},
    };
    *field = PTX_FIELD_UNKNOWN;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (ptx_slice_is(word, meanings[i].word) && ptx_slice_is(field_name, meanings[i].field)) {
            *field = (enum ptx_field)meanings[i].meaning;
            *value = meanings[i].value;
        }
}
