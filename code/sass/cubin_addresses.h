/* cubin_addresses.h - the addresses that a driver puts into a function's instructions as it loads it.  Private to this
 * room.
 */
#ifndef WSDBG_SASS_CUBIN_ADDRESSES_H
#define WSDBG_SASS_CUBIN_ADDRESSES_H

#include "sass/cubin.h"
#include "sass/decode.h"

/* Half of an address, which an instruction gets as its number. */
struct cubin_number {
    size_t section;
    uint64_t offset_bytes; /* of the instruction, in the section */
    uint32_t value;
};

int cubin_number_by_place(const void *a, const void *b);

/* Puts them into the decoded instructions of the function, as far as the image tells them. */
void wsdbg_cubin_put_addresses(const struct wsdbg_cubin_function *function, struct wsdbg_instruction *instructions);

#endif
