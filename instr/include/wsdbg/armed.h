/* armed.h - where an armed process keeps what a later `wsdbg attach` reads: the names that both sides agree on.
 *
 * A process is armed when the observer is preloaded and WSDBG_ARM says so, and no wsdbg runs it (WSDBG_SESSION is not
 * set).  All armed processes of a user that see the same files are one session, whose folder is never a wsdbg's own.
 */
#ifndef WSDBG_ARMED_H
#define WSDBG_ARMED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "session.h"

/* "1": armed, the folder is WSDBG_ARMED_FOLDER_FORMAT.  An absolute path: armed, that is the folder.  Else: not armed.
 */
#define WSDBG_ENV_ARM "WSDBG_ARM"
#define WSDBG_ARMED_FOLDER_FORMAT "/tmp/wsdbg-%u" /* effective user */
/* Name of the session: user.  With a folder of one's own no segment lies in /dev/shm. */
#define WSDBG_ARMED_SESSION_FORMAT "armed-%u"
#define WSDBG_ARMED_ELSEWHERE_FORMAT "armed-elsewhere-%u"
#define WSDBG_ARMED_LOCK_FORMAT "%d.attach" /* process; the wsdbg that is attached holds a record lock on it */

enum { WSDBG_ARMED_FOLDER_BYTES = 512 };

/* The folder that a value of WSDBG_ARM means; false = it means none.  *is_default: it is nobody's choice. */
static inline bool wsdbg_armed_folder(const char *value, char folder[WSDBG_ARMED_FOLDER_BYTES], bool *is_default)
{
    int length = -1;
    *is_default = value && value[0] == '1' && value[1] == '\0';
    if (*is_default)
        length = snprintf(folder, WSDBG_ARMED_FOLDER_BYTES, WSDBG_ARMED_FOLDER_FORMAT, (unsigned)geteuid());
    else if (value && value[0] == '/')
        length = snprintf(folder, WSDBG_ARMED_FOLDER_BYTES, "%s", value);
    return length > 0 && length < WSDBG_ARMED_FOLDER_BYTES;
}

static inline void wsdbg_armed_session(bool is_default, char *name, size_t bytes)
{
    const unsigned user = (unsigned)geteuid();
    if (is_default)
        snprintf(name, bytes, WSDBG_ARMED_SESSION_FORMAT, user);
    else
        snprintf(name, bytes, WSDBG_ARMED_ELSEWHERE_FORMAT, user);
}

/* Folder of this process's session, for what lies beside the segment; NULL = it has none. */
static inline const char *wsdbg_folder_of_environment(char folder[WSDBG_ARMED_FOLDER_BYTES])
{
    const char *session = getenv(WSDBG_ENV_SESSION), *spool = getenv(WSDBG_ENV_SPOOL);
    bool is_default;
    if (session && *session)
        return spool && *spool ? spool : NULL;
    return wsdbg_armed_folder(getenv(WSDBG_ENV_ARM), folder, &is_default) ? folder : spool && *spool ? spool : NULL;
}

#endif
