/* expected_test.c - every distinct instruction of the demo kernels and of forms.cu, against nvdisasm.
 *
 * Reads expected.txt.zst: lines of address, words and text that expect.py wrote.  For kernels whose machine code is not
 * kept here it reads the file given, "-" for the standard input.  There an instruction that no table holds is no
 * failure.  All instructions that no table holds are printed.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "sass/decode.h"

struct counts {
    size_t all, other, half, wrong;
};

/* Of an instruction whose sources are not all decoded: its guard, name and what it writes, as far as shown. */
static bool begins_alike(const char *text, const char *expected)
{
    const char *dots = strstr(text, "...");
    const size_t name =
        strcspn(text + (*text == '@' ? strcspn(text, " ") + 1 : 0), " ,") + (*text == '@' ? strcspn(text, " ") + 1 : 0);
    return dots && strncmp(text, expected, name) == 0;
}

/* As its text says.  Fences have a scope too, but no memory. */
static bool has_system_scope(const struct wsdbg_instruction *instruction, const char *text)
{
    return instruction->width_bytes && strstr(text, ".SYS");
}

static void check(const char *line, struct counts *counts)
{
    uint64_t address, words[2];
    int used = 0;
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %n", &address, &words[0], &words[1], &used) < 3)
        return;
    struct wsdbg_instruction instruction, of_many;
    char text[WSDBG_INSTRUCTION_TEXT_BYTES], text_of_many[WSDBG_INSTRUCTION_TEXT_BYTES];
    wsdbg_decode(words, &instruction);
    wsdbg_instruction_text(&instruction, address, text);
    wsdbg_decode_all(words, 1, &of_many);
    wsdbg_instruction_text(&of_many, address, text_of_many);
    const char *expected = line + used;
    const bool is_half = strstr(text, "...") != NULL;
    counts->all++;
    if (instruction.operation == WSDBG_OP_OTHER) {
        counts->other++;
        printf("%016" PRIx64 " %016" PRIx64 " is not decoded: %s\n", words[0], words[1], line + used);
    }
    counts->half += is_half;
    const bool is_right =
        instruction.operation == WSDBG_OP_OTHER ||
        ((is_half ? begins_alike(text, expected) : strcmp(text, expected) == 0) && strcmp(text, text_of_many) == 0);
    if (is_right && instruction.is_system == has_system_scope(&instruction, text))
        return;
    counts->wrong++;
    printf("%016" PRIx64 " %016" PRIx64 " \"%s\", not \"%s\"\n", words[0], words[1], text, expected);
}

static char *read_packed(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    enum { PACKED_MOST = 1 << 20, PLAIN_MOST = 16 << 20 };
    char *packed = malloc(PACKED_MOST), *plain = malloc(PLAIN_MOST + 1);
    const size_t count = packed ? fread(packed, 1, PACKED_MOST, file) : 0;
    fclose(file);
    const size_t plain_count = plain ? ZSTD_decompress(plain, PLAIN_MOST, packed, count) : 0;
    free(packed);
    if (!plain || ZSTD_isError(plain_count)) {
        free(plain);
        return NULL;
    }
    plain[plain_count] = '\0';
    return plain;
}

static bool check_kept(struct counts *counts)
{
    char *all = read_packed(WSDBG_EXPECTED);
    char *rest = NULL;
    for (char *line = all ? strtok_r(all, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        check(line, counts);
    free(all);
    return counts->all > 1000 && counts->other == 0;
}

static void check_given(FILE *file, struct counts *counts)
{
    char line[1024];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        check(line, counts);
    }
}

int main(int count, char **arguments)
{
    struct counts counts = {0};
    bool is_complete = true;
    if (count < 2) {
        is_complete = check_kept(&counts);
    } else {
        FILE *file = strcmp(arguments[1], "-") == 0 ? stdin : fopen(arguments[1], "r");
        if (!file) {
            perror(arguments[1]);
            return 2;
        }
        check_given(file, &counts);
    }
    printf("%zu instructions: %zu disagree, %zu in part, %zu not decoded\n", counts.all, counts.wrong, counts.half,
           counts.other);
    return is_complete && counts.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
