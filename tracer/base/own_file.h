/* own_file.h - whether a file that others could have put there is this user's own. */
#ifndef WSDBG_BASE_OWN_FILE_H
#define WSDBG_BASE_OWN_FILE_H

#include <sys/stat.h>

#include "base/error.h"

/* For a file in a folder that every user may write to.  Believed is a regular file that belongs to the effective user
 * and has one name: with a second name it could be a file that its owner keeps elsewhere.  WSDBG_ERROR_FOREIGN = it is
 * another user's.  `name` is for the message; `out` is fstat's, NULL = not wanted. */
struct wsdbg_error *wsdbg_own_file_check(int fd, const char *name, struct stat *out);

#endif
