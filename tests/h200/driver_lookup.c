/* driver_lookup.c - see driver_lookup.h. */
#include "driver_lookup.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int (*get_proc_address)(const char *, void **, int, uint64_t, int *);

static const char *program_name;
static get_proc_address proc;

void driver_find(const char *program)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    program_name = program;
    if (!library || !(proc = (get_proc_address)dlsym(library, "cuGetProcAddress_v2"))) {
        fprintf(stderr, "%s: no NVIDIA driver\n", program);
        exit(77);
    }
}

void *driver(const char *name)
{
    void *function = NULL;
    int found = 0;
    if (proc(name, &function, 12050, 0, &found) != 0 || !function) {
        fprintf(stderr, "%s: the driver has no %s\n", program_name, name);
        exit(77);
    }
    return function;
}

struct wanted {
    const char *name;
    uintptr_t address; /* 0 = not found */
};

/* Linkers put the names right behind the symbols, so the symbols end where the names begin. */
static void find_symbol(const struct dl_phdr_info *object, const ElfW(Dyn) * dynamic, struct wanted *wanted)
{
    const ElfW(Sym) *symbol = NULL;
    const char *names = NULL;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB)
            symbol = (const ElfW(Sym) *)dynamic->d_un.d_ptr; // NOLINT: the loader made it an address
        if (dynamic->d_tag == DT_STRTAB)
            names = (const char *)dynamic->d_un.d_ptr; // NOLINT
    }
    for (; symbol && (const char *)symbol < names && !wanted->address; symbol++)
        if (symbol->st_value && strcmp(names + symbol->st_name, wanted->name) == 0)
            wanted->address = object->dlpi_addr + symbol->st_value;
}

static int visit_libcuda(struct dl_phdr_info *object, size_t size, void *wanted)
{
    const char *slash = strrchr(object->dlpi_name, '/');
    (void)size;
    if (strncmp(slash ? slash + 1 : object->dlpi_name, "libcuda.so", 10) != 0)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            find_symbol(object, (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr), wanted); // NOLINT
    return 1;
}

void *driver_itself(const char *name)
{
    struct wanted wanted = {.name = name};
    dl_iterate_phdr(visit_libcuda, &wanted);
    if (!wanted.address) {
        fprintf(stderr, "%s: libcuda exports no %s\n", program_name, name);
        exit(77);
    }
    return (void *)wanted.address; // NOLINT
}

void check(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %s: CUDA error %d\n", program_name, what, result);
        exit(77);
    }
}

void *load_kernel(const char *ptx, const char *kernel)
{
    int device = 0;
    void *context = NULL, *module = NULL, *function = NULL;
    check(((int (*)(unsigned))driver("cuInit"))(0), "cuInit");
    check(((int (*)(int *, int))driver("cuDeviceGet"))(&device, 0), "cuDeviceGet");
    check(((int (*)(void **, int))driver("cuDevicePrimaryCtxRetain"))(&context, device), "cuDevicePrimaryCtxRetain");
    check(((int (*)(void *))driver("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
    check(((int (*)(void **, const void *))driver("cuModuleLoadData"))(&module, ptx), "cuModuleLoadData");
    check(((int (*)(void **, void *, const char *))driver("cuModuleGetFunction"))(&function, module, kernel),
          "cuModuleGetFunction");
    return function;
}

double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}
