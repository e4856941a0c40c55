/* commands.c - the rows of the command table, in the order --help shows them.  Reads nothing, writes nothing. */
#include "cmd/command.h"

#include <stdint.h>
#include <string.h>

#include "base/near_word.h"

const struct wsdbg_command *const wsdbg_commands[] = {
    &wsdbg_command_run,     &wsdbg_command_arm,    &wsdbg_command_attach,
    &wsdbg_command_top,     &wsdbg_command_view,   &wsdbg_command_report,
    &wsdbg_command_why,     &wsdbg_command_query,  &wsdbg_command_export,
    &wsdbg_command_merge,   &wsdbg_command_replay, &wsdbg_command_core,
    &wsdbg_command_explore, &wsdbg_command_lint,   &wsdbg_command_demo,
    &wsdbg_command_doctor,  &wsdbg_command_help,   NULL,
};

const struct wsdbg_command *wsdbg_command_find(const char *name)
{
    for (size_t i = 0; wsdbg_commands[i]; i++)
        if (strcmp(wsdbg_commands[i]->name, name) == 0)
            return wsdbg_commands[i];
    return NULL;
}

const char *wsdbg_command_meant(const char *word)
{
    const char *meant = NULL;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; wsdbg_commands[i]; i++)
        if (wsdbg_word_is_nearer(word, wsdbg_commands[i]->name, &fewest))
            meant = wsdbg_commands[i]->name;
    return meant;
}
