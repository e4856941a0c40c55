/* python_find.c - see python_find.h.
 *
 * Reads: the program and libpython as mapped, the head of _PyRuntime, /proc/PID/exe.  Writes: nothing.
 */
#include "host/python_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which file ---- */

static bool is_library(const char *path)
{
    return strncmp(wsdbg_host_file_name(path), "libpython", strlen("libpython")) == 0;
}

/* Also "python3.14" that somebody else's loader started. */
static bool is_program(pid_t process, const char *path)
{
    char link[64], program[4096];
    if (strncmp(wsdbg_host_file_name(path), "python", strlen("python")) == 0)
        return true;
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)process);
    const ssize_t bytes = readlink(link, program, sizeof program - 1);
    return bytes > 0 && (size_t)bytes == strlen(path) && memcmp(program, path, (size_t)bytes) == 0;
}

/* NULL where the file has no interpreter. */
static struct wsdbg_host_module *open_python(pid_t process, const struct wsdbg_host_maps *maps, uint32_t file,
                                             struct wsdbg_host_memory *memory, uint64_t *runtime)
{
    struct wsdbg_host_symbol symbol;
    struct wsdbg_host_module *module = wsdbg_host_module_open(process, maps, file, memory);
    if (module && wsdbg_host_module_symbol(module, "_PyRuntime", &symbol)) {
        *runtime = symbol.address;
        return module;
    }
    wsdbg_host_module_close(module);
    return NULL;
}

static struct wsdbg_host_module *find_module(pid_t process, const struct wsdbg_host_maps *maps,
                                             struct wsdbg_host_memory *memory, uint64_t *runtime, uint32_t *file)
{
    for (int libraries = 1; libraries >= 0; libraries--)
        for (uint32_t i = 0; i < maps->file_count; i++) {
            const char *path = maps->files[i].path;
            if (libraries ? !is_library(path) : !is_program(process, path))
                continue;
            struct wsdbg_host_module *module = open_python(process, maps, i, memory, runtime);
            *file = i;
            if (module)
                return module;
        }
    return NULL;
}

/* ---- which version ---- */

/* "...3.10..." behind a word: 0x030a0000; 0 = it is not there. */
static uint32_t version_behind(const char *name, const char *word)
{
    const char *at = strstr(name, word);
    unsigned minor;
    if (!at || sscanf(at + strlen(word), "3.%2u", &minor) != 1)
        return 0;
    return 3u << 24 | minor << 16;
}

/* "_heapq.cpython-310-x86_64-linux-gnu.so" */
static uint32_t version_of_extension(const char *name)
{
    const char *at = strstr(name, ".cpython-3");
    unsigned minor;
    return at && sscanf(at, ".cpython-3%2u-", &minor) == 1 ? 3u << 24 | minor << 16 : 0;
}

static uint32_t version_by_names(const struct wsdbg_host_maps *maps, const char *path)
{
    uint32_t version = version_behind(wsdbg_host_file_name(path), "python");
    for (size_t i = 0; i < maps->file_count && !version; i++)
        version = version_of_extension(wsdbg_host_file_name(maps->files[i].path));
    return version;
}

/* From 3.11 on the interpreter keeps it in a word. */
static uint32_t version_of(const struct wsdbg_host_module *module, struct wsdbg_host_memory *memory,
                           const struct wsdbg_host_maps *maps, const char *path)
{
    struct wsdbg_host_symbol symbol;
    uint64_t version;
    if (wsdbg_host_module_symbol(module, "Py_Version", &symbol) &&
        wsdbg_host_read_word(memory, symbol.address, &version) && version <= UINT32_MAX)
        return (uint32_t)version;
    return version_by_names(maps, path);
}

static void put_version(uint32_t version, char out[WSDBG_PYTHON_VERSION_BYTES])
{
    if (version & 0xffff)
        wsdbg_python_version_text(version, out);
    else
        snprintf(out, WSDBG_PYTHON_VERSION_BYTES, "%u.%u", version >> 24 & 0xff, version >> 16 & 0xff);
}

/* ---- all of it ---- */

bool wsdbg_python_layout_read(struct wsdbg_host_memory *memory, uint64_t runtime, struct wsdbg_python_layout *out,
                              uint32_t *version)
{
    uint64_t table[WSDBG_PYTHON_TABLE_WORDS];
    return wsdbg_host_read(memory, runtime, table, sizeof table) && wsdbg_python_layout_of_table(table, out, version);
}

static bool find_layout(struct wsdbg_host_memory *memory, uint32_t version, struct wsdbg_python *out)
{
    uint32_t described;
    if (version >> 16 >= WSDBG_PYTHON_FIRST_SELF_DESCRIBED)
        return wsdbg_python_layout_read(memory, out->runtime, &out->layout, &described);
    const struct wsdbg_python_layout *layout = wsdbg_python_layout_of(version >> 16);
    if (layout)
        out->layout = *layout;
    return layout != NULL;
}

static bool find_type(const struct wsdbg_host_module *module, const char *name, uint64_t *out)
{
    struct wsdbg_host_symbol symbol;
    const bool found = wsdbg_host_module_symbol(module, name, &symbol);
    *out = symbol.address;
    return found;
}

static bool find_symbols(const struct wsdbg_host_module *module, struct wsdbg_python *out)
{
    struct wsdbg_host_symbol eval;
    if (wsdbg_host_module_symbol(module, "_PyEval_EvalFrameDefault", &eval)) {
        out->eval_first = eval.address;
        out->eval_bytes = eval.bytes;
    }
    return find_type(module, "PyCode_Type", &out->code_type) && find_type(module, "PyUnicode_Type", &out->text_type) &&
           find_type(module, "PyBytes_Type", &out->bytes_type);
}

static bool looks_like_python(const struct wsdbg_host_maps *maps)
{
    for (size_t i = 0; i < maps->file_count; i++)
        if (is_library(maps->files[i].path))
            return true;
    return false;
}

enum wsdbg_python_found wsdbg_python_find(pid_t process, const struct wsdbg_host_maps *maps,
                                          struct wsdbg_host_memory *memory, struct wsdbg_python *out, char *obstacle,
                                          size_t obstacle_bytes)
{
    *out = (struct wsdbg_python){0};
    struct wsdbg_host_module *module = find_module(process, maps, memory, &out->runtime, &out->file);
    if (!module) {
        snprintf(obstacle, obstacle_bytes, "libpython is there, but its file cannot be read");
        return looks_like_python(maps) ? WSDBG_PYTHON_UNREADABLE : WSDBG_PYTHON_NONE;
    }
    const uint32_t version = version_of(module, memory, maps, maps->files[out->file].path);
    const bool has_types = find_symbols(module, out);
    wsdbg_host_module_close(module);
    if (!version) {
        snprintf(obstacle, obstacle_bytes, "Python's version is not known");
        return WSDBG_PYTHON_UNREADABLE;
    }
    put_version(version, out->version);
    if (!has_types)
        snprintf(obstacle, obstacle_bytes, "Python %s does not export its types", out->version);
    else if (!find_layout(memory, version, out))
        snprintf(obstacle, obstacle_bytes, "the layout of Python %s is not known", out->version);
    else
        return WSDBG_PYTHON_FOUND;
    return WSDBG_PYTHON_UNREADABLE;
}
