/* prepare.h - a module's instructions are prepared for execution; see prepare.c. */
#ifndef WSDBG_HOPPER_PREPARE_H
#define WSDBG_HOPPER_PREPARE_H

#include "hopper/code.h"

/* The addresses are those of the module's variables in device memory. */
struct wsdbg_error *hopper_code_create(const struct wsdbg_ptx_program *program, uint64_t global_address,
                                       uint64_t const_address, struct hopper_code **out);
void hopper_code_destroy(struct hopper_code *code); /* NULL is fine */

#endif
