/* app_lookup.c - a program that looks up functions of the driver, and says whose address it got.
 *
 *   app_lookup KIND -     KIND = errors | addresses | other-library | no-driver
 *
 * "errors" says what dlerror() has after look-ups that went well.  "addresses" asks cuGetProcAddress for what each line
 * of stdin names: NAME VERSION FLAGS.  "other-library" looks into the library that OTHER_LIBRARY names, "no-driver"
 * looks without a driver.  DRIVER names another libcuda.so.1.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*get_address)(const char *, void **, int, uint64_t, int *);
typedef int (*raw_address)(const char *, void **, int, uint64_t);

static void *driver;

static void *must(void *pointer)
{
    if (!pointer)
        exit(98);
    return pointer;
}

static void load_driver(void)
{
    const char *path = getenv("DRIVER");
    driver = must(dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
}

static void say_errors(void)
{
    load_driver();
    must(dlsym(driver, "cuLaunchKernel"));
    const char *left = dlerror();
    printf("first: %s\n", left ? left : "none");
    must(dlsym(driver, "cuInit"));
    left = dlerror();
    printf("second: %s\n", left ? left : "none");
}

/* The driver's own, or what dlsym gives for that name under the observer. */
static void say_whose(const char *name, int version, uint64_t flags)
{
    void *raw = NULL, *got = NULL;
    char per_thread[64];
    const get_address get = (get_address)must(dlsym(driver, "cuGetProcAddress_v2"));
    const raw_address ask = (raw_address)must(dlsym(driver, "fake_cuda_address"));
    snprintf(per_thread, sizeof per_thread, "%s_ptsz", name);
    if (ask(name, &raw, version, flags) || get(name, &got, version, flags, NULL))
        exit(97);
    printf("%s %d %d: %s\n", name, version, (int)flags,
           got == raw                         ? "the driver's"
           : got == dlsym(driver, name)       ? name
           : got == dlsym(driver, per_thread) ? per_thread
                                              : "a stranger's");
}

static void say_addresses(void)
{
    char name[40];
    int version, flags;
    load_driver();
    while (scanf("%39s %d %d", name, &version, &flags) == 3)
        say_whose(name, version, (uint64_t)flags);
}

static void say_other(void)
{
    Dl_info info;
    load_driver();
    void *other = must(dlopen(getenv("OTHER_LIBRARY"), RTLD_NOW | RTLD_LOCAL));
    must(dlsym(driver, "cuLaunchKernel"));
    must((void *)(uintptr_t)dladdr(must(dlsym(other, "cuLaunchKernel")), &info));
    puts(strcmp(info.dli_fname, getenv("OTHER_LIBRARY")) == 0 ? "its own" : info.dli_fname);
}

static void say_missing(void)
{
    puts(dlsym(RTLD_DEFAULT, "cuInit") ? "there" : "not there");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *kind;
        void (*say)(void);
    } kinds[] = {
        {"errors", say_errors}, {"addresses", say_addresses}, {"other-library", say_other}, {"no-driver", say_missing}};
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].kind) == 0) {
            kinds[i].say();
            return 0;
        }
    return 98;
}
