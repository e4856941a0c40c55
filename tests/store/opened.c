/* opened.c - see opened.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/opened.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/example.h"

struct wsdbg_store *replayed(const char *folder, const char *session)
{
    char command[1024], name[64];
    struct wsdbg_store *store = NULL;
    snprintf(name, sizeof name, "%s.db", session);
    snprintf(command, sizeof command, "'%s' replay '%s/%s.wsrec' -o '%s/%s' >/dev/null 2>&1", WSDBG_PROGRAM,
             WSDBG_RECORDED_DIR, session, folder, name);
    assert_int_not_equal(system(command), -1);
    example_ok(wsdbg_store_open(example_path(folder, name), &store));
    unlink(example_path(folder, name));
    return store;
}

struct wsdbg_store *stored(const char *folder, const struct example *e)
{
    struct wsdbg_store *store;
    example_store(e, example_path(folder, "e.db"));
    example_ok(wsdbg_store_open(example_path(folder, "e.db"), &store));
    unlink(example_path(folder, "e.db"));
    return store;
}

void every_recording(const char *folder, void (*check)(struct wsdbg_store *store))
{
    static const char *const sessions[] = {"arrive-missing", "healthy", "waker-exited", "regs-exhausted",
                                           "shared-full-barrier"};
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
        check(replayed(folder, sessions[i]));
}
