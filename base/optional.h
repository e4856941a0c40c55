/* optional.h - values that may be unknown.  Unknown prints `?`, is null in JSON and NULL in SQL; never 0. */
#ifndef WSDBG_BASE_OPTIONAL_H
#define WSDBG_BASE_OPTIONAL_H

#include <stdbool.h>
#include <stdint.h>

struct wsdbg_optional_u32 {
    uint32_t value;
    bool known;
};

struct wsdbg_optional_u64 {
    uint64_t value;
    bool known;
};

static inline struct wsdbg_optional_u32 wsdbg_known_u32(uint32_t value)
{
    return (struct wsdbg_optional_u32){.value = value, .known = true};
}

static inline struct wsdbg_optional_u64 wsdbg_known_u64(uint64_t value)
{
    return (struct wsdbg_optional_u64){.value = value, .known = true};
}

#endif
