/* own_file.h - whether a file belongs to this user, in a folder to which others can write. */
#ifndef WSDBG_BASE_OWN_FILE_H
#define WSDBG_BASE_OWN_FILE_H

#include <sys/stat.h>

#include "base/error.h"

/* Checks a file in a folder that every user may write to.  It must be a regular file, belong to the effective user and
 * have one name only: a second name could be a hard link to another file of that user.  WSDBG_ERROR_FOREIGN = the file
 * belongs to another user.  `name` is for the message; `out` is fstat's, NULL = not wanted. */
struct wsdbg_error *wsdbg_own_file_check(int fd, const char *name, struct stat *out);

#endif
