/* file_limit.c - see file_limit.h.  Writes: the disposition of SIGXFSZ. */
#include "base/file_limit.h"

#include <signal.h>
#include <stddef.h>

void wsdbg_file_limit_is_an_error(void)
{
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
}
