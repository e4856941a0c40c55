/* described.c - see described.h. */
#include "ptx/described.h"

#include <stdio.h>
#include <string.h>

static const char *const operations[] = {
#define PTX(id, ...) [WSDBG_PTX_OP_##id] = #id,
#include "ptx/instructions.def"
#undef PTX
};
static const char *const types[] = {"none",   "pred",   "b8",     "b16",   "b32", "b64", "b128", "u8",
                                    "u16",    "u32",    "u64",    "s8",    "s16", "s32", "s64",  "f16",
                                    "f16x2",  "bf16",   "bf16x2", "tf32",  "f32", "f64", "e4m3", "e5m2",
                                    "e4m3x2", "e5m2x2", "s16x2",  "u16x2", "s4",  "u4",  "b1"};
static const char *const spaces[] = {"generic", "global", "const", "param", "local", "shared", "cluster"};
static const char *const compares[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                       "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
static const char *const combines[] = {"", "with-and", "with-or", "with-xor"};
static const char *const roundings[] = {"", "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"};
static const char *const parts[] = {"", "lo", "hi", "wide"};
static const char *const variants[] = {
    "",     "add",    "min",      "max",    "inc",        "dec",        "and",       "or",      "xor",
    "exch", "cas",    "popc",     "idx",    "up",         "down",       "bfly",      "all",     "any",
    "uni",  "ballot", "left",     "right",  "f4e",        "b4e",        "rc8",       "ecl",     "ecr",
    "rc16", "finite", "infinite", "number", "notanumber", "normal",     "subnormal", "address", "rank",
    "box",  "size",   "stride",   "step",   "elements",   "interleave", "swizzle",   "fill"};
static const char *const flags[] = {
    "ftz",       "sat",  "approx",    "cc",    "volatile",   "relaxed",  "acquire", "release", "uniform", "aligned",
    "multicast", "hint", "read",      "trans", "nocomplete", "parity",   "im2col",  "wrap",    "to",      "nc",
    "predicate", "relu", "satfinite", "NaN",   "xorsign",    "shiftamt", "expect",  "noinc"};

static void add_word(char *out, size_t byte_count, const char *before, const char *word)
{
    const size_t length = strlen(out);
    if (*word)
        snprintf(out + length, byte_count - length, "%s%s", before, word);
}

static void add_number(char *out, size_t byte_count, const char *before, unsigned number, const char *behind)
{
    const size_t length = strlen(out);
    if (number)
        snprintf(out + length, byte_count - length, "%s%u%s", before, number, behind);
}

void describe(const struct wsdbg_ptx_instruction *in, char *out, size_t byte_count)
{
    snprintf(out, byte_count, "%s", operations[in->operation]);
    add_word(out, byte_count, " ", in->type ? types[in->type] : "");
    add_word(out, byte_count, "/", in->source_type != in->type ? types[in->source_type] : "");
    add_word(out, byte_count, "/", in->third_type ? types[in->third_type] : "");
    add_word(out, byte_count, " ", in->space ? spaces[in->space] : "");
    add_word(out, byte_count, "<", in->source_space ? spaces[in->source_space] : "");
    add_number(out, byte_count, " x", in->vector_length == 1 ? 0 : in->vector_length, "");
    if (in->operation == WSDBG_PTX_OP_setp || in->operation == WSDBG_PTX_OP_set)
        add_word(out, byte_count, " ", compares[in->compare]);
    add_word(out, byte_count, " ", combines[in->combine]);
    add_word(out, byte_count, " ", roundings[in->rounding]);
    add_word(out, byte_count, " ", parts[in->part]);
    add_word(out, byte_count, " ", variants[in->variant]);
    add_number(out, byte_count, " ", in->dimensions, "d");
    add_number(out, byte_count, " m", in->m, "");
    add_number(out, byte_count, "n", in->n, "");
    add_number(out, byte_count, "k", in->k, "");
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        add_word(out, byte_count, " ", in->flags >> i & 1 ? flags[i] : "");
    add_number(out, byte_count, " #", in->operand_count, "");
}
