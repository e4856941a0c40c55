/* redirect.c - programs that are linked with the static CUDA runtime, nvcc's default, get the stand-in for it on the
 * simulator.
 *
 * The library is preloaded for `--device sim`, and its constructor runs before all others, even the C library's.  It
 * looks through the program's objects.  Where one has NVIDIA's static runtime in its symbol table, each function of it
 * that the stand-in has continues there (jump.h): all of an object or none.  NVIDIA's runtime is never entered, so what
 * it keeps in its own variables is not needed. Nothing here takes memory from malloc, which may be the program's and
 * not ready yet.
 *
 * Reads: the files of the objects and of the stand-in.  Writes: the objects' text; a line on stderr where an object
 * cannot be led there.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "static_runtime/jump.h"
#include "static_runtime/symbols.h"

enum { OBJECTS_MAX = 256, OBJECT_JUMPS_MAX = 512, NAMES_MAX = 1024, NEAR_JUMP_BYTES = 5, INITIALIZATION_ERROR = 3 };

/* What the runtime's constructors call; what only NVIDIA's static archive has; what each of its versions added. */
static const char register_name[] = "__cudaRegisterFatBinary", archive_prefix[] = "libcudart_static_",
                  new_in_12[] = "cudaGetDeviceProperties_v2", new_in_13[] = "cudaMemGetDefaultMemPool";

struct object {
    char path[PATH_MAX];
    uint64_t base, text, text_bytes;
    int protection;                              /* of the text */
    bool registers, is_of_archive, is_12, is_13; /* by the functions that it names */
    const char *names[NAMES_MAX];                /* that the stand-in has; in its mapped file, which stays */
    size_t name_count;
    bool fits; /* each of its functions has room for a jump */
    struct jump jumps[OBJECT_JUMPS_MAX];
    size_t jump_count;
};

struct objects {
    size_t count;
    bool is_late; /* another object's constructors ran before ours: kernels may be registered already */
    struct object rows[OBJECTS_MAX];
};

/* What the jumps lead to, by their index.  Grows before any other code of the program runs, and stays as it is then. */
static struct {
    struct {
        const char *name;
        bool is_12;
    } functions[JUMPS_MAX];
    uint32_t count;
    atomic_bool was_said;
} redirected;

/* libcudart.so.N in the folder of this library; false where that is not known. */
static bool stand_in_path(bool is_12, char out[PATH_MAX])
{
    Dl_info own;
    if (!dladdr((const void *)stand_in_path, &own) || !own.dli_fname)
        return false;
    const char *slash = strrchr(own.dli_fname, '/');
    const int length = snprintf(out, PATH_MAX, "%.*s/libcudart.so.%d", slash ? (int)(slash - own.dli_fname) : 1,
                                slash ? own.dli_fname : ".", is_12 ? 12 : 13);
    return length > 0 && length < PATH_MAX;
}

static int no_function(void)
{
    return INITIALIZATION_ERROR;
}

static const void *no_pointer(void)
{
    return NULL;
}

static const char *no_text(void)
{
    return "the simulated CUDA runtime cannot be loaded";
}

/* For a function whose stand-in cannot be had. */
static void *replacement(const char *name)
{
    if (strcmp(name, "cudaGetErrorString") == 0 || strcmp(name, "cudaGetErrorName") == 0)
        return (void *)no_text;
    return strcmp(name, register_name) == 0 ? (void *)no_pointer : (void *)no_function;
}

/* Finds all functions of that version at once: as a rule when the program's constructors register kernels, and so never
 * while another thread holds the loader's lock and waits for us.  dlopen() gives everybody the same library, so this
 * needs no lock of its own. */
static void *target_of(uint64_t index)
{
    const bool is_12 = redirected.functions[index].is_12;
    char path[PATH_MAX];
    void *library = stand_in_path(is_12, path) ? dlopen(path, RTLD_NOW) : NULL, *found = NULL;
    if (!library && !atomic_exchange(&redirected.was_said, true))
        fprintf(stderr, "wsdbg: the simulated CUDA runtime cannot be loaded: %s\n", dlerror());
    for (uint32_t i = 0; i < redirected.count; i++) {
        if (redirected.functions[i].is_12 != is_12)
            continue;
        void *target = library ? dlsym(library, redirected.functions[i].name) : NULL;
        jump_set(i, target ? target : replacement(redirected.functions[i].name));
        if (i == index)
            found = target ? target : replacement(redirected.functions[i].name);
    }
    return found;
}

static bool is_runtime_name(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

static bool note_known(const struct symbols_function *function, void *user)
{
    struct object *object = user;
    if (is_runtime_name(function->name) && object->name_count < NAMES_MAX)
        object->names[object->name_count++] = function->name;
    return true;
}

static const char *find_known(const struct object *object, const char *name)
{
    for (size_t i = 0; is_runtime_name(name) && i < object->name_count; i++)
        if (strcmp(object->names[i], name) == 0)
            return object->names[i];
    return NULL;
}

static bool look_at_name(const struct symbols_function *function, void *user)
{
    struct object *object = user;
    object->registers |= strcmp(function->name, register_name) == 0;
    object->is_of_archive |= strncmp(function->name, archive_prefix, sizeof archive_prefix - 1) == 0;
    object->is_12 |= strcmp(function->name, new_in_12) == 0;
    object->is_13 |= strcmp(function->name, new_in_13) == 0;
    return true;
}

static bool add_jump(const struct symbols_function *function, void *user)
{
    struct object *object = user;
    const uint64_t from = object->base + function->address, byte_count = function->byte_count;
    const char *name = find_known(object, function->name);
    if (!name)
        return true;
    const bool is_inside = from >= object->text && byte_count <= object->text_bytes &&
                           from - object->text <= object->text_bytes - byte_count;
    /* What is shorter than a jump calls nothing, and need not be led elsewhere. */
    if (is_inside && byte_count < NEAR_JUMP_BYTES)
        return true;
    object->fits = is_inside && object->jump_count < OBJECT_JUMPS_MAX && redirected.count < JUMPS_MAX &&
                   jump_fits(byte_count, (const unsigned char *)(uintptr_t)from);
    if (!object->fits)
        return false;
    redirected.functions[redirected.count].name = name;
    redirected.functions[redirected.count].is_12 = object->is_12;
    object->jumps[object->jump_count++] =
        (struct jump){.from = from, .byte_count = byte_count, .index = redirected.count++};
    return true;
}

static bool redirect(struct object *object, const struct symbols_file *file)
{
    char path[PATH_MAX];
    struct symbols_file stand_in;
    if (object->is_12 == object->is_13 || !stand_in_path(object->is_12, path) || !symbols_open(path, &stand_in))
        return false;
    object->fits = true;
    symbols_each(&stand_in, note_known, object);
    symbols_each(file, add_jump, object);
    /* The mapped file stays: the names lie in it. */
    return object->fits && object->jump_count > 0 &&
           jump_place(object->jumps, object->jump_count, object->text, object->text_bytes, object->protection,
                      target_of);
}

static void handle(struct object *object, bool is_late)
{
    struct symbols_file file;
    if (!symbols_open(object->path, &file))
        return;
    symbols_each(&file, look_at_name, object);
    if (object->registers && object->is_of_archive && (is_late || !redirect(object, &file)))
        fprintf(
            stderr,
            "wsdbg: %s: its static CUDA runtime%s cannot be replaced for the simulator; link it with -cudart shared\n",
            object->path, object->is_12 || object->is_13 ? "" : ", which is neither of CUDA 12 nor 13,");
    else if (file.has_device_code && !file.has_names && !symbols_asks_for(&file, register_name))
        fprintf(stderr,
                "wsdbg: %s has kernels but no symbols. If it is linked with the static CUDA runtime, the simulator "
                "cannot replace that: link "
                "it with -cudart shared, or keep its symbols, or try wsdbg lint\n",
                object->path);
    symbols_close(&file);
}

static bool wants_to_be_first(const ElfW(Dyn) * dynamic)
{
    for (; dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == DT_FLAGS_1 && dynamic->d_un.d_val & DF_1_INITFIRST)
            return true;
    return false;
}

static void set_path(struct object *object, const char *name, bool is_program)
{
    const ssize_t length = is_program ? readlink("/proc/self/exe", object->path, sizeof object->path - 1) : 0;
    if (is_program)
        object->path[length > 0 ? length : 0] = '\0';
    else
        snprintf(object->path, sizeof object->path, "%s", name);
}

static int collect(struct dl_phdr_info *info, size_t size, void *user)
{
    struct objects *objects = user;
    Dl_info own;
    (void)size;
    if (objects->count == OBJECTS_MAX)
        return 1;
    const bool is_own = dladdr((const void *)collect, &own) && (uint64_t)(uintptr_t)own.dli_fbase == info->dlpi_addr;
    struct object *object = &objects->rows[objects->count];
    set_path(object, info->dlpi_name, objects->count == 0); /* the first one is the program, which has no name here */
    object->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_flags & PF_X && header->p_memsz > object->text_bytes) {
            object->text = info->dlpi_addr + header->p_vaddr;
            object->text_bytes = header->p_memsz;
            object->protection =
                PROT_EXEC | (header->p_flags & PF_R ? PROT_READ : 0) | (header->p_flags & PF_W ? PROT_WRITE : 0);
        }
        if (header->p_type == PT_DYNAMIC && !is_own)
            objects->is_late |= wants_to_be_first((const ElfW(Dyn) *)(uintptr_t)(info->dlpi_addr + header->p_vaddr));
    }
    objects->count++;
    return 0;
}

__attribute__((constructor)) static void redirect_all(void)
{
    /* Pages that are not used are not there. */
    struct objects *objects =
        mmap(NULL, sizeof *objects, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (objects == MAP_FAILED)
        return;
    dl_iterate_phdr(collect, objects);
    for (size_t i = 0; i < objects->count; i++)
        if (*objects->rows[i].path)
            handle(&objects->rows[i], objects->is_late);
    munmap(objects, sizeof *objects);
}
