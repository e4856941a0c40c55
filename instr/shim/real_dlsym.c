/* real_dlsym.c - see real_dlsym.h.
 *
 * Reads:  libc's symbol table, since our own export shadows the name.  Writes: the two pointers.
 */
#include "real_dlsym.h"

#include <stddef.h>

#include "loader.h"
#include "sanitizers.h"

static void *no_symbol(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

static void *no_versioned_symbol(void *handle, const char *name, const char *version)
{
    (void)version;
    return no_symbol(handle, name);
}

void *(*wsdbg_real_dlsym)(void *, const char *) = NULL;
void *(*wsdbg_real_dlvsym)(void *, const char *, const char *) = NULL;

void real_dlsym_find(void)
{
    sanitizers_pass_by();
    if (__atomic_load_n(&wsdbg_real_dlvsym, __ATOMIC_ACQUIRE))
        return;
    void *symbol = loader_libc_function("dlsym", 0), *versioned = loader_libc_function("dlvsym", 0);
    wsdbg_real_dlsym = symbol ? (void *(*)(void *, const char *))symbol : no_symbol;
    __atomic_store_n(&wsdbg_real_dlvsym,
                     versioned ? (void *(*)(void *, const char *, const char *))versioned : no_versioned_symbol,
                     __ATOMIC_RELEASE);
}

void real_dlsym_forget_errors(void)
{
    wsdbg_real_dlsym(RTLD_DEFAULT, "dlopen"); /* a look-up that succeeds removes it */
}
