/* armed.h - names of the folders and files through which a later `wsdbg attach` finds an armed process.
 *
 * A process is armed if the observer is preloaded, WSDBG_ARM asks for it, and no wsdbg runs the process (WSDBG_SESSION
 * is not set).  All armed processes of a user that see the same files form one session.
 */
#ifndef WSDBG_ARMED_H
#define WSDBG_ARMED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

/* "1": armed, in the folder of WSDBG_ARMED_FOLDER_FORMAT.  An absolute path: armed, in that folder.  Any other value:
 * not armed. */
#define WSDBG_ENV_ARM "WSDBG_ARM"
#define WSDBG_ARMED_FOLDER_FORMAT "/tmp/wsdbg-%u" /* effective user */
/* The session's name, with the user's number.  The second one is for a folder that the user chose: there no segment is
 * in /dev/shm. */
#define WSDBG_ARMED_SESSION_FORMAT "armed-%u"
#define WSDBG_ARMED_ELSEWHERE_FORMAT "armed-elsewhere-%u"
#define WSDBG_ARMED_LOCK_FORMAT "%d.attach" /* process; the wsdbg that is attached locks it */

enum { WSDBG_ARMED_FOLDER_BYTES = 512 };

/* The folder that a value of WSDBG_ARM stands for, with the process's effective user.  False: the process is not armed.
 * *is_default: the user chose no folder. */
static inline bool wsdbg_armed_folder(const char *value, unsigned user, char folder[WSDBG_ARMED_FOLDER_BYTES],
                                      bool *is_default)
{
    int length = -1;
    *is_default = value && value[0] == '1' && value[1] == '\0';
    if (*is_default)
        length = snprintf(folder, WSDBG_ARMED_FOLDER_BYTES, WSDBG_ARMED_FOLDER_FORMAT, user);
    else if (value && value[0] == '/')
        length = snprintf(folder, WSDBG_ARMED_FOLDER_BYTES, "%s", value);
    return length > 0 && length < WSDBG_ARMED_FOLDER_BYTES;
}

static inline void wsdbg_armed_session(bool is_default, unsigned user, char *name, size_t bytes)
{
    if (is_default)
        snprintf(name, bytes, WSDBG_ARMED_SESSION_FORMAT, user);
    else
        snprintf(name, bytes, WSDBG_ARMED_ELSEWHERE_FORMAT, user);
}

/* The folder of this process's session; NULL = it has none. */
static inline const char *wsdbg_folder_of_environment(char folder[WSDBG_ARMED_FOLDER_BYTES])
{
    const char *session = getenv(WSDBG_ENV_SESSION), *spool = getenv(WSDBG_ENV_SPOOL);
    bool is_default;
    const bool is_run = session && *session;
    if (!is_run && wsdbg_armed_folder(getenv(WSDBG_ENV_ARM), (unsigned)geteuid(), folder, &is_default))
        return folder;
    return spool && *spool ? spool : NULL;
}

/* The process that a file in the session's folder belongs to, read from the file's name: "4711.off", "4711.attach",
 * "4711-3.image", "4711-refused-3.image", "state-4711-CONTEXT" or "works-4711-CONTEXT", with ".new" until the
 * file is whole.  0: it is not wsdbg's file.  A folder that a user chose may hold other files. */
static inline unsigned long wsdbg_armed_file_process(const char *name)
{
    const bool is_state = strncmp(name, "state-", 6) == 0 || strncmp(name, "works-", 6) == 0;
    const char *number = is_state ? name + 6 : name;
    char *end;
    if (*number < '1' || *number > '9')
        return 0;
    const unsigned long process = strtoul(number, &end, 10);
    bool is_ours = strcmp(end, ".off") == 0 || strcmp(end, ".attach") == 0;
    if (is_state)
        is_ours =
            *end == '-' && strspn(end + 1, "0123456789abcdef") == 16 && (!end[17] || strcmp(end + 17, ".new") == 0);
    else if (*end == '-') {
        const char *index = strncmp(end, "-refused-", 9) == 0 ? end + 9 : end + 1;
        const size_t digits = strspn(index, "0123456789");
        is_ours = digits > 0 && strcmp(index + digits, ".image") == 0;
    }
    return is_ours && process <= INT32_MAX ? process : 0;
}

#endif
