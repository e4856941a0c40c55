/* python_find.h - the interpreter in a process: where it is, and of which version. */
#ifndef WSDBG_HOST_PYTHON_FIND_H
#define WSDBG_HOST_PYTHON_FIND_H

#include "host/elf_module.h"
#include "host/python_code.h"

enum wsdbg_python_found {
    WSDBG_PYTHON_NONE,
    WSDBG_PYTHON_FOUND,
    WSDBG_PYTHON_UNREADABLE, /* there is one, and its stacks cannot be read */
};

/* The layout that _PyRuntime at `runtime` describes: wsdbg_python_layout_of_table() of its first words. */
bool wsdbg_python_layout_read(struct wsdbg_host_memory *memory, uint64_t runtime, struct wsdbg_python_layout *out,
                              uint32_t *version);

/* obstacle: why it is UNREADABLE, in words; it takes the place of a stack. */
enum wsdbg_python_found wsdbg_python_find(pid_t process, const struct wsdbg_host_maps *maps,
                                          struct wsdbg_host_memory *memory, struct wsdbg_python *out, char *obstacle,
                                          size_t obstacle_bytes);

#endif
