/* mapping_guard.h - mappings of files that another process may cut short.
 *
 * A read behind the end of a mapped file raises SIGBUS.  In a guarded mapping the handler replaces the page by zeros,
 * and the read goes on.  Readers check all that they read, and ask whether that happened.
 */
#ifndef WSDBG_BASE_MAPPING_GUARD_H
#define WSDBG_BASE_MAPPING_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Sees to it that the process handles SIGBUS; one in other memory goes to whoever had it before.  False: too many are
 * guarded already.  A forked child has the same mappings guarded.  From any thread. */
bool wsdbg_mapping_guard(const void *pages, size_t byte_count);
/* Whether a page of the mapping was replaced.  It stays so, even if the file is as long as before again. */
bool wsdbg_mapping_was_cut(const void *pages);
/* Before munmap; of a mapping that is not guarded it does nothing. */
void wsdbg_mapping_release(const void *pages);

#endif
