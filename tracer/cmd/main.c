/* main.c - the wsdbg program: finds the command in the table, parses its options, runs it.
 *
 * Reads: the command line.  Writes: nothing itself but one line for a command line it cannot follow.
 */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "cmd/command.h"
#include "base/console.h"
#include "cmd/help.h"
#include "cmd/limits.h"
#include "cmd/options.h"

static int run_command(const struct wsdbg_command *command, char **arguments)
{
    struct wsdbg_invocation invocation;
    int status = 0;
    struct wsdbg_error *error = wsdbg_options_parse(command, arguments, &invocation);
    if (!error && invocation.help)
        wsdbg_help_command(command, stdout);
    else if (!error && !(error = wsdbg_limits_take(&invocation)))
        error = command->run(&invocation, &status);
    if (!error && !invocation.help && !command->lives_on)
        error = wsdbg_error_prefix(wsdbg_memory_error(), "something may be missing from the answer");
    if (!error && fflush(stdout) != 0)
        error = wsdbg_error_create(WSDBG_ERROR_OS, "cannot write to standard output");
    if (error) {
        wsdbg_say_error(command->name, error);
        status = WSDBG_EXIT_FAILED;
    }
    return status;
}

/* The parent of wsdbg sees the end that it would have seen of the program: Ctrl-C ends a shell's loop, for example.  No
 * core dump of wsdbg's takes the place of the program's. */
static int die_of(int number)
{
    sigset_t signals;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0); /* a limit does not hold for a pipe to a collector of dumps */
    signal(number, SIG_DFL);
    sigemptyset(&signals);
    sigaddset(&signals, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    return WSDBG_EXIT_SIGNAL + number;
}

static int refuse(const char *word)
{
    const char *meant = wsdbg_command_meant(word);
    if (meant)
        wsdbg_say("unknown command '%s'; did you mean %s?", word, meant);
    else
        wsdbg_say("unknown %s '%s'; wsdbg --help lists the commands", word[0] == '-' ? "option" : "command", word);
    return WSDBG_EXIT_FAILED;
}

/* Every look builds a picture and frees it 20 ms later: memory given back to the kernel in between is faulted in
 * again page by page, which took a quarter of a look's time. */
static void keep_freed_memory(void)
{
    const int bytes = 64 << 20;
    mallopt(M_TRIM_THRESHOLD, bytes);
    mallopt(M_MMAP_THRESHOLD, bytes / 2);
}

int main(int argc, char **argv)
{
    keep_freed_memory();
    if (argc < 2) {
        wsdbg_help_overview(stderr);
        return WSDBG_EXIT_FAILED;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("wsdbg " WSDBG_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        wsdbg_help_overview(stdout);
        return 0;
    }
    const struct wsdbg_command *command = wsdbg_command_find(argv[1]);
    const int status = command ? run_command(command, argv + 2) : refuse(argv[1]);
    return status < 0 ? die_of(-status) : status;
}
