/* document_test.c - docs/PTX.md is the table of instructions: this test makes it from the table and compares.
 *
 * With UPDATE_GOLDEN set it writes the page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parse_table.h"

#define DOCUMENT_BYTES ((size_t)1 << 20)

static const char head[] = "# PTX that the simulator knows\n\n"
                           "Made from `code/ptx/instructions.def` by the test `ptx_document`. An instruction or form "
                           "that is not listed is an error. The error "
                           "names its text, file and line.\n\n"
                           "## Notation\n\n"
                           "Suffixes stand in the order of the text:\n\n"
                           "| written | means |\n|---|---|\n"
                           "| `a/b` | one of these |\n"
                           "| `[a/b]` | one of these or none |\n"
                           "| `~a ~[b]` | these in any order |\n"
                           "| `<int>` | a list, see below |\n"
                           "| `m64n*k16` | n is a multiple of 8 up to 256 |\n"
                           "| `a:compare` | `a`, meant as a comparison (or whatever stands there) |\n"
                           "| `+a` | not written, but meant |\n\n"
                           "Operands:\n\n"
                           "| written | is |\n|---|---|\n"
                           "| `t` `u` `v` | a register or constant of the first, second, third type |\n"
                           "| `w` | of the first type, of twice its width with `.wide` |\n"
                           "| `16` `32` `64` `f` | of so many bits; an `f32` |\n"
                           "| `p` `!p` | a predicate; one that may be negated |\n"
                           "| `*` | an address of 32 or 64 bits as a value |\n"
                           "| `=t` `=t_` `_` | a register that is written; or the sink `_`; always the sink |\n"
                           "| `\\|p` | a predicate that is written behind a bar |\n"
                           "| `t+` `t@` | registers may be wider; a variable's address as well |\n"
                           "| `#` | a constant |\n"
                           "| `[]` `[map]` | an address; a tensor map with its coordinates |\n"
                           "| `{t}` | in braces with `.v2` and so on |\n"
                           "| `{d}` `{a}` `{b}` `{c}` | registers with parts of matrices |\n"
                           "| `{offsets}` | offsets of im2col |\n"
                           "| `pack` | a value, or its parts in braces |\n"
                           "| `x?` | may be missing |\n"
                           "| `hint:x` `mask:x` | there with `.L2::cache_hint`, with `.multicast::cluster` |\n\n"
                           "## Lists\n\n";

/* The text up to " | ", which is passed. */
static struct ptx_slice next_form(const char **at)
{
    const char *end = strstr(*at, " | ");
    const struct ptx_slice form = {*at, end ? (size_t)(end - *at) : strlen(*at)};
    *at = end ? end + 3 : NULL;
    return form;
}

static void print_form(FILE *out, const char *mnemonics, struct ptx_slice suffixes, struct ptx_slice operands)
{
    const char *colon = memchr(suffixes.bytes, ':', suffixes.length);
    const bool names_mnemonic = colon && (colon + 1 == suffixes.bytes + suffixes.length || colon[1] == ' ') &&
                                !memchr(suffixes.bytes, ' ', (size_t)(colon - suffixes.bytes));
    struct ptx_slice mnemonic = {mnemonics, strlen(mnemonics)};
    if (names_mnemonic) {
        mnemonic = (struct ptx_slice){suffixes.bytes, (size_t)(colon - suffixes.bytes)};
        suffixes = (struct ptx_slice){colon + 1, suffixes.length - mnemonic.length - 1};
        while (suffixes.length && *suffixes.bytes == ' ')
            suffixes = (struct ptx_slice){suffixes.bytes + 1, suffixes.length - 1};
    }
    fprintf(out, "%.*s", (int)mnemonic.length, mnemonic.bytes);
    if (suffixes.length)
        fprintf(out, " %.*s", (int)suffixes.length, suffixes.bytes);
    if (operands.length)
        fprintf(out, "    %.*s", (int)operands.length, operands.bytes);
    fputc('\n', out);
}

static void print_row(FILE *out, const char *mnemonics, const char *suffixes, const char *operands, const char *meaning)
{
    const bool is_shared = !strstr(operands, " | ");
    fprintf(out, "\n### %s\n\n%s\n\n```\n", mnemonics, meaning);
    while (suffixes) {
        const struct ptx_slice form = next_form(&suffixes);
        const char *same = operands;
        print_form(out, mnemonics, form, next_form(is_shared ? &same : &operands));
    }
    fputs("```\n", out);
}

static char *make_document(void)
{
    char *text = NULL;
    size_t length;
    const char *name, *words;
    FILE *out = open_memstream(&text, &length);
    fputs(head, out);
    fputs("| list | words |\n|---|---|\n", out);
    for (size_t i = 0; ptx_word_list_at(i, &name, &words); i++)
        fprintf(out, "| `<%s>` | `%s` |\n", name, words);
    fputs("\n## Instructions\n", out);
#define PTX(id, mnemonics, suffixes, operands, meaning) print_row(out, mnemonics, suffixes, operands, meaning);
#include "ptx/instructions.def"
#undef PTX
    fputs("\n## Left out\n\nRefused with these words; a word with a dot before it is a suffix.\n\n| PTX | why "
          "|\n|---|---|\n",
          out);
    for (size_t i = 0; ptx_left_out_at(i, &name, &words); i++)
        fprintf(out, "| `%s` | %s |\n", name, words);
    fclose(out);
    return text;
}

static void the_page_is_made_from_the_table(void **state)
{
    (void)state;
    char *expected = make_document(), *document = calloc(1, DOCUMENT_BYTES);
    FILE *file = getenv("UPDATE_GOLDEN") ? fopen(WSDBG_DOCS_DIR "/PTX.md", "w") : NULL;
    if (file) {
        fputs(expected, file);
        fclose(file);
    }
    file = fopen(WSDBG_DOCS_DIR "/PTX.md", "r");
    assert_non_null(file);
    assert_true(fread(document, 1, DOCUMENT_BYTES - 1, file) > 0);
    fclose(file);
    if (strcmp(document, expected) != 0)
        fail_msg("docs/PTX.md is not what the table says: run this test with UPDATE_GOLDEN=1");
    free(document);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_page_is_made_from_the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
