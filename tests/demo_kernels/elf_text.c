/* elf_text.c - see elf_text.h.  Reads a fatbin, writes nothing. */
#include "elf_text.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

void elf_texts_read(const char *path, struct elf_texts *out)
{
    size_t size;
    memset(out, 0, sizeof *out);
    out->file = read_file(path, &size);
    const unsigned char *elf = memmem(out->file, size, ELFMAG, SELFMAG);
    assert_non_null(elf);
    Elf64_Ehdr header;
    memcpy(&header, elf, sizeof header);
    for (int i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section, names;
        memcpy(&section, elf + header.e_shoff + (size_t)i * sizeof section, sizeof section);
        memcpy(&names, elf + header.e_shoff + header.e_shstrndx * sizeof names, sizeof names);
        const char *name = (const char *)elf + names.sh_offset + section.sh_name;
        if (strncmp(name, ".text.", 6) != 0)
            continue;
        assert_true(out->count < ELF_TEXTS_MAX);
        struct elf_text *text = &out->text[out->count++];
        snprintf(text->name, sizeof text->name, "%s", name);
        text->bytes = elf + section.sh_offset;
        text->size = section.sh_size;
    }
}

void elf_texts_free(struct elf_texts *texts)
{
    free(texts->file);
}
