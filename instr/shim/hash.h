/* hash.h - 64-bit FNV-1a: a fast hash that is the same in all processes. */
#ifndef WSDBG_SHIM_HASH_H
#define WSDBG_SHIM_HASH_H

#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Adds bytes to a hash that begins as HASH_BEGIN. */
static inline uint64_t hash_add(uint64_t hash, const void *bytes, uint64_t count)
{
    const unsigned char *at = bytes;
    for (uint64_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
