/* targets.c - see targets.h.  Reads: the stand-ins' files, and loads them when a function of theirs is first called.
 * Writes: the slots; a line on stderr where a stand-in cannot be loaded.
 */
#include "static_runtime/targets.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "static_runtime/symbols.h"

enum { FUNCTIONS_MAX = 1024, INITIALIZATION_ERROR = 3 };

struct function {
    const char *name; /* in the stand-in's mapped file, which stays */
    target_slot slot;
};

/* Of one version.  Filled before a jump leads to a slot, and as it is from then on, but for the slots. */
struct functions {
    struct function rows[FUNCTIONS_MAX];
    uint32_t count;
    bool was_read;
};

static struct functions of_12, of_13;
static atomic_bool was_said;

#ifdef __x86_64__
/* A jump comes here with its slot in r11 and the arguments of the function as they were.  No function of the runtime
 * has an argument in a vector register. */
__asm__(".pushsection .text\n"
        ".type static_runtime_resolver, @function\n"
        "static_runtime_resolver:\n"
        "    endbr64\n"
        "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n    push %rax\n"
        "    mov %r11, %rdi\n"
        "    call static_runtime_resolve\n"
        "    mov %rax, %r11\n"
        "    pop %rax\n    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"
        "    jmp *%r11\n"
        ".size static_runtime_resolver, . - static_runtime_resolver\n"
        ".popsection\n");
void static_runtime_resolver(void) __attribute__((visibility("hidden")));
#else
static void static_runtime_resolver(void)
{
}
#endif
void *static_runtime_resolve(target_slot *slot) __attribute__((visibility("hidden"), used));

/* Of a file in the folder of this library; false where that is not known. */
static bool own_folder(char out[PATH_MAX])
{
    Dl_info own;
    if (!dladdr((const void *)own_folder, &own) || !own.dli_fname)
        return false;
    const char *slash = strrchr(own.dli_fname, '/');
    const int length =
        snprintf(out, PATH_MAX, "%.*s", slash ? (int)(slash - own.dli_fname) : 1, slash ? own.dli_fname : ".");
    return length > 0 && length < PATH_MAX;
}

static bool stand_in_path(bool is_12, char out[PATH_MAX])
{
    const size_t room = own_folder(out) ? PATH_MAX - strlen(out) : 0;
    const int length = room ? snprintf(out + strlen(out), room, "/libcudart.so.%d", is_12 ? 12 : 13) : -1;
    return length > 0 && (size_t)length < room;
}

bool target_is_stand_in(const char *path)
{
    char folder[PATH_MAX];
    const size_t length = own_folder(folder) ? strlen(folder) : 0;
    return length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/' && !strchr(path + length + 1, '/');
}

static bool is_runtime_name(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

static bool note(const struct symbols_function *function, void *user)
{
    struct functions *functions = user;
    if (!is_runtime_name(function->name) || functions->count == FUNCTIONS_MAX)
        return true;
    struct function *row = &functions->rows[functions->count++];
    row->name = function->name;
    atomic_store(&row->slot, (void *)static_runtime_resolver);
    return true;
}

static void read_functions(bool is_12, struct functions *out)
{
    char path[PATH_MAX];
    struct symbols_file file;
    if (stand_in_path(is_12, path) && symbols_open(path, &file))
        symbols_each(&file, note, out); /* the mapped file stays: the names lie in it */
    out->was_read = true;
}

target_slot *target_find(bool is_12, const char *name)
{
    struct functions *functions = is_12 ? &of_12 : &of_13;
    if (!is_runtime_name(name))
        return NULL;
    if (!functions->was_read)
        read_functions(is_12, functions);
    for (uint32_t i = 0; i < functions->count; i++)
        if (strcmp(functions->rows[i].name, name) == 0)
            return &functions->rows[i].slot;
    return NULL;
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
    return strcmp(name, "__cudaRegisterFatBinary") == 0 ? (void *)no_pointer : (void *)no_function;
}

/* Finds all functions of that version at once: as a rule when constructors register kernels, and so never while another
 * thread holds the loader's lock and waits for us.  dlopen() gives everybody the same library, so this needs no lock
 * of its own. */
void *static_runtime_resolve(target_slot *slot)
{
    struct functions *functions = &of_13;
    if ((uintptr_t)slot >= (uintptr_t)&of_12 && (uintptr_t)slot < (uintptr_t)(&of_12 + 1))
        functions = &of_12;
    char path[PATH_MAX];
    void *library = stand_in_path(functions == &of_12, path) ? dlopen(path, RTLD_NOW) : NULL;
    if (!library && !atomic_exchange(&was_said, true))
        fprintf(stderr, "wsdbg: the simulated CUDA runtime cannot be loaded: %s\n", dlerror());
    for (uint32_t i = 0; i < functions->count; i++) {
        void *target = library ? dlsym(library, functions->rows[i].name) : NULL;
        atomic_store(&functions->rows[i].slot, target ? target : replacement(functions->rows[i].name));
    }
    return atomic_load(slot);
}
