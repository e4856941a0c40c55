/* registers.h - what a cubin tells of a kernel's registers, and PTX does not: how many a thread has at launch, and
 * whether ptxas ignored setmaxnreg. */
#ifndef WSDBG_LIBCUDA_REGISTERS_H
#define WSDBG_LIBCUDA_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct registers_taker {
    void (*count)(void *user, const char *kernel, uint32_t registers); /* for each kernel with a count */
    void (*code)(void *user, const char *function, bool sets); /* for each function: setmaxnreg is in its code */
    void *user;
};
/* Of a damaged cubin it tells what can be read. */
void registers_read(const unsigned char *cubin, size_t byte_count, const struct registers_taker *taker);

#endif
