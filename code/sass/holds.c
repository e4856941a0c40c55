/* holds.c - see holds.h.  Reads an image of unknown origin; writes numbers and words. */
#include "sass/holds.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_BYTES = 4096, /* of a PTX text: its first lines say what it is for */
    PTX_BYTES_MAX = 64 << 20,
    MACHINE_CUDA = 190,
    ABI_VERSION_BEFORE = 7, /* of CUDA 12: the architecture lies in the flags' first byte, later in the second */
};

/* The number behind a word at the start of a line, as "90" in ".target sm_90a"; NULL = there is none. */
static const char *after_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        if (strncmp(line, word, length) == 0 && isspace((unsigned char)line[length]))
            return line + length + strspn(line + length, " \t");
    }
    return NULL;
}

static bool read_ptx(const char *text, struct wsdbg_code_form *out)
{
    const char *version = after_word(text, ".version"), *target = after_word(text, ".target");
    char *end;
    *out = (struct wsdbg_code_form){.is_ptx = true};
    if (!version || !target || strncmp(target, "sm_", 3) != 0)
        return false;
    out->architecture = (uint32_t)strtoul(target + 3, &end, 10);
    out->architecture_only = *end == 'a';
    const unsigned long major = strtoul(version, &end, 10);
    if (*end == '.' && major < 1000)
        out->ptx_version = (uint32_t)(10 * major + strtoul(end + 1, NULL, 10) % 10);
    return true;
}

static bool read_ptx_bytes(const unsigned char *bytes, size_t byte_count, struct wsdbg_code_form *out)
{
    char head[LOOK_BYTES + 1];
    const size_t count = byte_count < LOOK_BYTES ? byte_count : LOOK_BYTES;
    memcpy(head, bytes, count);
    head[count] = '\0';
    return read_ptx(head, out);
}

static bool read_cubin(const struct wsdbg_image *image, struct wsdbg_code_form *out)
{
    Elf64_Ehdr header;
    if (image->byte_count < sizeof header)
        return false;
    memcpy(&header, image->bytes, sizeof header);
    *out = (struct wsdbg_code_form){0};
    out->architecture = header.e_flags >> (header.e_ident[EI_ABIVERSION] > ABI_VERSION_BEFORE ? 8 : 0) & 0xff;
    return header.e_machine == MACHINE_CUDA && out->architecture != 0;
}

static bool is_same(const struct wsdbg_code_form *a, const struct wsdbg_code_form *b)
{
    return a->is_ptx == b->is_ptx && a->architecture == b->architecture &&
           a->architecture_only == b->architecture_only && a->ptx_version == b->ptx_version;
}

static void add(struct wsdbg_holds *holds, const struct wsdbg_code_form *form)
{
    for (size_t i = 0; i < holds->count; i++)
        if (is_same(&holds->forms[i], form))
            return;
    if (holds->count < WSDBG_HOLDS_MOST)
        holds->forms[holds->count++] = *form;
}

/* The entry says the architecture; the PTX's version is in its text. */
static void add_entry(struct wsdbg_holds *holds, const struct wsdbg_fatbin_entry *entry)
{
    struct wsdbg_code_form form = {.is_ptx = entry->kind == WSDBG_FATBIN_PTX,
                                   .architecture = entry->architecture,
                                   .architecture_only = entry->architecture_only};
    struct wsdbg_code_form said;
    char *text;
    size_t byte_count;
    if (entry->kind != WSDBG_FATBIN_PTX && entry->kind != WSDBG_FATBIN_CUBIN)
        return;
    if (form.is_ptx) {
        struct wsdbg_error *error = wsdbg_fatbin_unpack(entry, PTX_BYTES_MAX, &text, &byte_count);
        if (!error && read_ptx_bytes((const unsigned char *)text, byte_count, &said))
            form.ptx_version = said.ptx_version;
        if (!error)
            free(text);
        wsdbg_error_destroy(error);
    }
    add(holds, &form);
}

static struct wsdbg_error *read_fatbin(const struct wsdbg_image *image, struct wsdbg_holds *out)
{
    struct wsdbg_fatbin_entry entry;
    size_t offset = 0;
    bool found = true;
    struct wsdbg_error *error = NULL;
    while (!(error = wsdbg_fatbin_next(image, &offset, &entry, &found)) && found)
        add_entry(out, &entry);
    return error;
}

struct wsdbg_error *wsdbg_holds_read(const struct wsdbg_image *image, struct wsdbg_holds *out)
{
    struct wsdbg_code_form form;
    *out = (struct wsdbg_holds){0};
    if (wsdbg_fatbin_is(image))
        return read_fatbin(image, out);
    const bool is_elf = image->byte_count >= SELFMAG && memcmp(image->bytes, ELFMAG, SELFMAG) == 0;
    if (is_elf ? !read_cubin(image, &form) : !read_ptx_bytes(image->bytes, image->byte_count, &form))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "neither PTX nor a fatbin nor a cubin");
    add(out, &form);
    return NULL;
}

void wsdbg_holds_text(const struct wsdbg_holds *holds, char *out, size_t bytes)
{
    size_t used = 0;
    snprintf(out, bytes, "nothing");
    for (size_t i = 0; i < holds->count && used < bytes; i++) {
        const struct wsdbg_code_form *form = &holds->forms[i];
        used += (size_t)snprintf(out + used, bytes - used, "%s%s for sm_%u%s", i ? ", " : "",
                                 form->is_ptx ? "PTX" : "machine code", form->architecture,
                                 form->architecture_only ? "a" : "");
    }
}

bool wsdbg_code_form_runs(const struct wsdbg_code_form *form, uint32_t capability)
{
    if (form->architecture_only)
        return form->architecture == capability;
    if (form->is_ptx)
        return form->architecture <= capability;
    return form->architecture / 10 == capability / 10 && form->architecture <= capability;
}
