/* past_library.c - a library of a program: opened with RTLD_DEEPBIND it finds libc's dlsym() before anybody else's. */
#include <dlfcn.h>

__attribute__((visibility("default"))) void *(*deep_lookup(void))(void *, const char *);
void *(*deep_lookup(void))(void *, const char *)
{
    return dlsym;
}
