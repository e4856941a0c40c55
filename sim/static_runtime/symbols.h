/* symbols.h - the functions that an ELF file names: what its symbol table says, read from the file itself. */
#ifndef WSDBG_STATIC_RUNTIME_SYMBOLS_H
#define WSDBG_STATIC_RUNTIME_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_function {
    const char *name; /* lies in the file's mapping */
    uint64_t address; /* before relocation */
    uint64_t byte_count;
};

struct symbols_file {
    const unsigned char *bytes; /* mapped, read-only */
    size_t byte_count;
    bool has_device_code; /* a section with fat binaries */
    bool has_names;       /* a symbol table beside the dynamic one: it was not stripped */
};

/* Maps the file.  False: it is no 64-bit ELF file of this machine, or cannot be read. */
bool symbols_open(const char *path, struct symbols_file *out);
void symbols_close(struct symbols_file *file);

/* The part of the file that is mapped executable; the largest, where there are several. */
struct symbols_text {
    const unsigned char *bytes; /* as the file has them */
    uint64_t address;           /* before relocation */
    uint64_t byte_count;
    int protection; /* PROT_* */
};

/* False: the file has no such part, or it does not lie within the file. */
bool symbols_text(const struct symbols_file *file, struct symbols_text *out);

/* Whether the dynamic symbol table asks another object for this function. */
bool symbols_asks_for(const struct symbols_file *file, const char *name);

/* Calls `take` for each defined function of the symbol table or, where there is none, of the dynamic one.  Stops when
 * it returns false. */
void symbols_each(const struct symbols_file *file, bool (*take)(const struct symbols_function *function, void *user),
                  void *user);

#endif
