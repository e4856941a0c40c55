/* redirect.c - objects that are linked with the static CUDA runtime, nvcc's default, get the stand-in for it on the
 * simulator.
 *
 * The library is preloaded for `--device sim`, and its constructor runs before all others, even the C library's.  It
 * looks through the program's objects, and follows those that are opened later (loaded.h).  Where one has NVIDIA's
 * static runtime in its symbol table, each function of it that the stand-in has continues there (jump.h): all of an
 * object or none.  So does NVIDIA's shared runtime, where a program finds it before the stand-in.  NVIDIA's runtime is
 * never entered, so what it keeps in its own variables is not needed.  Nothing here takes memory from malloc, which may
 * be the program's and not ready yet.
 *
 * Reads: the files of the objects and of the stand-in.  Writes: the objects' text; a line on stderr where an object
 * cannot be led there.
 */
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "static_runtime/jump.h"
#include "static_runtime/loaded.h"
#include "static_runtime/symbols.h"
#include "static_runtime/targets.h"

enum { OBJECT_JUMPS_MAX = 512, NEAR_JUMP_BYTES = 5, COMPARED_BYTES = 9 };

/* What constructors that register kernels call; what only NVIDIA's static archive has; its shared library; what each
 * version added. */
static const char register_name[] = "__cudaRegisterFatBinary", archive_prefix[] = "libcudart_static_",
                  shared_prefix[] = "libcudart.so.", new_in_12[] = "cudaGetDeviceProperties_v2",
                  new_in_13[] = "cudaMemGetDefaultMemPool";

struct object {
    uint64_t base; /* added to the file's addresses */
    struct symbols_text text;
    bool registers, is_of_archive, is_12, is_13; /* by the functions that it names */
    const char *reason;                          /* why not all of its functions can be led elsewhere; NULL: they can */
    struct jump jumps[OBJECT_JUMPS_MAX];
    size_t jump_count;
};

/* Another object's constructors ran before ours: kernels of the start may be registered already. */
static bool is_late;
/* The object that is looked at; one at a time, under the loader's lock. */
static struct object object;

static bool look_at_name(const struct symbols_function *function, void *user)
{
    (void)user;
    object.registers |= strcmp(function->name, register_name) == 0;
    object.is_of_archive |= strncmp(function->name, archive_prefix, sizeof archive_prefix - 1) == 0;
    object.is_12 |= strcmp(function->name, new_in_12) == 0;
    object.is_13 |= strcmp(function->name, new_in_13) == 0;
    return true;
}

static bool has_jump_from(uint64_t from, const target_slot *slot)
{
    for (size_t i = 0; i < object.jump_count; i++)
        if (object.jumps[i].from == from && object.jumps[i].slot != slot)
            return true;
    return false;
}

/* Why this function cannot continue elsewhere; NULL: it can, or need not. */
static const char *add_jump(const struct symbols_function *function, target_slot *slot)
{
    const uint64_t start = function->address - object.text.address, end = start + function->byte_count;
    if (function->address < object.text.address || end < start || end > object.text.byte_count)
        return "its functions lie in several places";
    const unsigned char *first = (const unsigned char *)(uintptr_t)(object.base + function->address);
    const uint64_t readable = object.text.byte_count - start;
    const bool fits = jump_fits(first, function->byte_count, readable);
    /* What is shorter than a jump calls nothing, and need not be led elsewhere. */
    if (!fits && function->byte_count < NEAR_JUMP_BYTES)
        return NULL;
    if (!fits || object.jump_count == OBJECT_JUMPS_MAX)
        return "a function of it is too short for a jump";
    if (memcmp(first, object.text.bytes + start, readable < COMPARED_BYTES ? readable : COMPARED_BYTES) != 0)
        return "its code is not as its file has it";
    if (has_jump_from(object.base + function->address, slot))
        return "its linker made one function of several";
    object.jumps[object.jump_count++] = (struct jump){.from = object.base + function->address, .slot = slot};
    return NULL;
}

static bool take_function(const struct symbols_function *function, void *user)
{
    (void)user;
    target_slot *slot = target_find(object.is_12, function->name);
    object.reason = slot ? add_jump(function, slot) : NULL;
    return !object.reason;
}

/* NULL, or why the runtime stays. */
static const char *redirect(const struct symbols_file *file, struct jump_pages *pages)
{
    if (object.is_12 == object.is_13)
        return "it is neither of CUDA 12 nor 13";
    if (!symbols_text(file, &object.text))
        return "its file is damaged";
    symbols_each(file, take_function, NULL);
    if (object.reason)
        return object.reason;
    if (object.jump_count == 0)
        return "the simulated CUDA runtime cannot be read";
    return jump_place(object.jumps, object.jump_count, object.base + object.text.address, object.text.byte_count,
                      object.text.protection, pages);
}

static void handle_file(const struct symbols_file *file, const char *path, struct jump_pages *pages)
{
    const char *slash = strrchr(path, '/');
    const bool is_shared = strncmp(slash ? slash + 1 : path, shared_prefix, sizeof shared_prefix - 1) == 0;
    symbols_each(file, look_at_name, NULL);
    if (object.registers && (object.is_of_archive || is_shared)) {
        const char *reason = is_late ? "constructors of another library ran before" : redirect(file, pages);
        if (reason)
            fprintf(stderr,
                    "wsdbg: %s: its %s CUDA runtime cannot be replaced for the simulator (%s); %s, or try wsdbg "
                    "lint\n",
                    path, is_shared ? "shared" : "static", reason,
                    is_shared ? "let LD_LIBRARY_PATH find libcudart" : "relink with -cudart shared");
    } else if (file->has_device_code && !file->has_names && !symbols_asks_for(file, register_name))
        fprintf(stderr,
                "wsdbg: %s has kernels but no symbols. If it is linked with the static CUDA runtime, the simulator "
                "cannot replace that: relink with -cudart shared, or keep its symbols, or try wsdbg lint\n",
                path);
}

static void handle(const struct link_map *map, bool is_program, struct jump_pages *pages)
{
    char path[PATH_MAX];
    struct symbols_file file;
    const ssize_t length = is_program ? readlink("/proc/self/exe", path, sizeof path - 1) : 0;
    if (is_program)
        path[length > 0 ? length : 0] = '\0';
    else
        snprintf(path, sizeof path, "%s", map->l_name);
    if (!strchr(path, '/') || target_is_stand_in(path) || !symbols_open(path, &file))
        return;
    object = (struct object){.base = map->l_addr};
    handle_file(&file, path, pages);
    symbols_close(&file);
}

static bool wants_to_be_first(const ElfW(Dyn) * dynamic)
{
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == DT_FLAGS_1 && dynamic->d_un.d_val & DF_1_INITFIRST)
            return true;
    return false;
}

__attribute__((constructor)) static void redirect_all(void)
{
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (!target_is_stand_in(map->l_name))
            is_late |= wants_to_be_first(map->l_ld);
    loaded_each(handle);
    is_late = false;
    loaded_follow();
}
