/* loaded.h - the objects that the loader maps: those of the start, and those that are opened later. */
#ifndef WSDBG_STATIC_RUNTIME_LOADED_H
#define WSDBG_STATIC_RUNTIME_LOADED_H

#include <link.h>
#include <stdbool.h>

#include "static_runtime/jump.h"

/* Handles one object, which was just mapped; the jumps' memory is forgotten when the object is gone. */
typedef void loaded_handler(const struct link_map *map, bool is_program, struct jump_pages *pages);

/* Calls `handle` for each object of every namespace, once. */
void loaded_each(loaded_handler *handle);

/* From now on, also for each object that is opened later, before its constructors run.  False: this loader has no
 * place where that can be noticed. */
bool loaded_follow(void);

#endif
