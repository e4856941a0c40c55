/* elf_module.c - see elf_module.h.
 *
 * Reads: the file, through the process's own root folder (/proc/PID/root), mapped.  Writes: nothing.
 */
#include "host/elf_module.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapping_guard.h"

enum { PAGE_BYTES = 4096 };

struct wsdbg_host_module {
    void *pages;
    size_t byte_count;
    Elf *elf;
    uint64_t bias;
};

/* ---- the file ---- */

static int open_file(pid_t process, const char *path)
{
    char through_root[4096 + 64];
    if (snprintf(through_root, sizeof through_root, "/proc/%ld/root%s", (long)process, path) >=
        (int)sizeof through_root)
        return -1;
    return open(through_root, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool map_file(struct wsdbg_host_module *module, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr))
        return false;
    void *pages = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (pages == MAP_FAILED)
        return false;
    module->pages = pages;
    module->byte_count = (size_t)status.st_size;
    return wsdbg_mapping_guard(pages, module->byte_count);
}

/* The next one, from mapping `from` on, that has the file's beginning. */
static const struct wsdbg_host_mapping *next_first(const struct wsdbg_host_maps *maps, uint32_t file, size_t from)
{
    for (size_t i = from; i < maps->count; i++)
        if (maps->mappings[i].file == file && maps->mappings[i].offset == 0)
            return &maps->mappings[i];
    return NULL;
}

/* The headers and, in most files, the build's number. */
static bool is_the_same(const struct wsdbg_host_module *module, const struct wsdbg_host_mapping *mapping,
                        struct wsdbg_host_memory *memory)
{
    unsigned char page[PAGE_BYTES];
    const size_t bytes = module->byte_count < PAGE_BYTES ? module->byte_count : PAGE_BYTES;
    return wsdbg_host_read(memory, mapping->start, page, bytes) && memcmp(page, module->pages, bytes) == 0;
}

static bool find_bias(struct wsdbg_host_module *module, const struct wsdbg_host_mapping *mapping)
{
    GElf_Ehdr header;
    GElf_Phdr part;
    size_t count = 0;
    if (elf_kind(module->elf) != ELF_K_ELF || gelf_getclass(module->elf) != ELFCLASS64 ||
        !gelf_getehdr(module->elf, &header) || elf_getphdrnum(module->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(module->elf, (int)i, &part) && part.p_type == PT_LOAD && part.p_offset < PAGE_BYTES) {
            module->bias = mapping->start - (part.p_vaddr - part.p_offset);
            return true;
        }
    return false;
}

/* The next part of the file that is loaded as code, from program header *at on.  False: there is none. */
static bool next_code(const struct wsdbg_host_module *module, size_t *at, GElf_Phdr *part)
{
    size_t count = 0;
    while (elf_getphdrnum(module->elf, &count) == 0 && *at < count)
        if (gelf_getphdr(module->elf, (int)(*at)++, part) && part->p_type == PT_LOAD && (part->p_flags & PF_X))
            return true;
    return false;
}

/* Whether the file's code is where the bias says that it is. */
static bool has_its_code(const struct wsdbg_host_module *module, const struct wsdbg_host_maps *maps, uint32_t file)
{
    GElf_Phdr part;
    size_t at = 0;
    while (next_code(module, &at, &part)) {
        const struct wsdbg_host_mapping *mapping = wsdbg_host_mapping_at(maps, module->bias + part.p_vaddr);
        if (mapping && mapping->file == file && mapping->is_code)
            return true;
    }
    return false;
}

/* A process may also have mapped the file to read it.  Such a mapping has the file's beginning, but no code.  If no
 * mapping has code, the first one counts. */
static bool find_place(struct wsdbg_host_module *module, const struct wsdbg_host_maps *maps, uint32_t file)
{
    const struct wsdbg_host_mapping *const first = next_first(maps, file, 0), *mapping = first;
    for (; mapping; mapping = next_first(maps, file, (size_t)(mapping - maps->mappings) + 1))
        if (find_bias(module, mapping) && has_its_code(module, maps, file))
            return true;
    return find_bias(module, first);
}

struct wsdbg_host_module *wsdbg_host_module_open(pid_t process, const struct wsdbg_host_maps *maps, uint32_t file,
                                                 struct wsdbg_host_memory *memory)
{
    const struct wsdbg_host_mapping *mapping = next_first(maps, file, 0);
    const int fd = mapping ? open_file(process, maps->files[file].path) : -1;
    struct wsdbg_host_module *module = fd >= 0 ? calloc(1, sizeof *module) : NULL;
    bool fine = module && map_file(module, fd) && is_the_same(module, mapping, memory);
    if (fd >= 0)
        close(fd);
    if (fine) {
        elf_version(EV_CURRENT);
        module->elf = elf_memory(module->pages, module->byte_count);
        fine = module->elf && find_place(module, maps, file);
    }
    if (fine)
        return module;
    wsdbg_host_module_close(module);
    return NULL;
}

void wsdbg_host_module_close(struct wsdbg_host_module *module)
{
    if (!module)
        return;
    elf_end(module->elf);
    if (module->pages) {
        wsdbg_mapping_release(module->pages);
        munmap(module->pages, module->byte_count);
    }
    free(module);
}

Elf *wsdbg_host_module_elf(const struct wsdbg_host_module *module)
{
    return module->elf;
}

uint64_t wsdbg_host_module_bias(const struct wsdbg_host_module *module)
{
    return module->bias;
}

bool wsdbg_host_module_has_code(const struct wsdbg_host_module *module, uint64_t address)
{
    GElf_Phdr part;
    size_t at = 0;
    while (next_code(module, &at, &part))
        if (address - part.p_vaddr < part.p_memsz)
            return true;
    return false;
}

/* ---- its symbols ---- */

/* Where the name of a table's symbol is. */
struct strings {
    Elf *elf;
    size_t section;
};

/* Called with each defined symbol; false ends it. */
typedef bool visit_symbol(const GElf_Sym *symbol, const struct strings *strings, void *context);

/* "" = it has none. */
static const char *name_of(const GElf_Sym *symbol, const struct strings *strings)
{
    const char *name = elf_strptr(strings->elf, strings->section, symbol->st_name);
    return name ? name : "";
}

static bool visit_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, visit_symbol *visit, void *context)
{
    GElf_Sym symbol;
    Elf_Data *data = elf_getdata(section, NULL);
    const struct strings strings = {elf, header->sh_link};
    const size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i <= INT32_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
        if (symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && !visit(&symbol, &strings, context))
            return false;
    }
    return true;
}

static void visit_symbols(Elf *elf, visit_symbol *visit, void *context)
{
    static const GElf_Word types[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) && header.sh_type == types[t] &&
                !visit_table(elf, section, &header, visit, context))
                return;
        }
}

struct wanted {
    const char *name;
    struct wsdbg_host_symbol symbol; /* in the file */
    bool found;
};

static bool is_wanted(const GElf_Sym *symbol, const struct strings *strings, void *context)
{
    struct wanted *wanted = context;
    if (strcmp(name_of(symbol, strings), wanted->name) != 0)
        return true;
    wanted->symbol = (struct wsdbg_host_symbol){symbol->st_value, symbol->st_size};
    wanted->found = true;
    return false;
}

bool wsdbg_host_module_symbol(const struct wsdbg_host_module *module, const char *name, struct wsdbg_host_symbol *out)
{
    struct wanted wanted = {.name = name};
    visit_symbols(module->elf, is_wanted, &wanted);
    *out = wanted.symbol;
    out->address += module->bias;
    return wanted.found;
}

struct questions {
    struct wsdbg_host_asked *asked;
    size_t count;
};

static size_t first_from(const struct questions *questions, uint64_t address)
{
    size_t low = 0, high = questions->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (questions->asked[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of several names for one function the first stays: the full table comes before the exported one. */
static bool answer(const GElf_Sym *symbol, const struct strings *strings, void *context)
{
    struct questions *questions = context;
    const unsigned type = GELF_ST_TYPE(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_size == 0)
        return true;
    for (size_t i = first_from(questions, symbol->st_value);
         i < questions->count && questions->asked[i].address - symbol->st_value < symbol->st_size; i++)
        if (!questions->asked[i].name || questions->asked[i].start < symbol->st_value) {
            questions->asked[i].name = name_of(symbol, strings);
            questions->asked[i].start = symbol->st_value;
        }
    return true;
}

void wsdbg_host_module_name(const struct wsdbg_host_module *module, struct wsdbg_host_asked *asked, size_t count)
{
    struct questions questions = {asked, count};
    for (size_t i = 0; i < count; i++)
        asked[i].name = NULL;
    if (count > 0)
        visit_symbols(module->elf, answer, &questions);
}
