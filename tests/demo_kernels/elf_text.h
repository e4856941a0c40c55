/* elf_text.h - the machine code of the kernels in a fatbin, for the tests. */
#ifndef TESTS_DEMO_KERNELS_ELF_TEXT_H
#define TESTS_DEMO_KERNELS_ELF_TEXT_H

#include <stddef.h>

#define ELF_TEXTS_MAX 16

struct elf_text {
    char name[64]; /* ".text.KERNEL" */
    const unsigned char *bytes;
    size_t size;
};

struct elf_texts {
    unsigned char *file;
    size_t count;
    struct elf_text text[ELF_TEXTS_MAX];
};

/* Reads the first (uncompressed) cubin of the fatbin `path`; fails the running test when it is not as expected. */
void elf_texts_read(const char *path, struct elf_texts *out);
void elf_texts_free(struct elf_texts *texts);

#endif
