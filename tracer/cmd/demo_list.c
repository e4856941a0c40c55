/* demo_list.c - see demo_list.h.
 *
 * Reads: the output of `PROGRAM --list-bugs` (one hang a line: name, tab, other columns, tab, story), the folder of
 * recorded sessions, and there the stories of those whose program is not at hand.
 */
#include "cmd/demo_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/paths.h"

/* A demo's name is `prefix` and the bug's name.  `correct`: the name of the demo that runs the program without a bug;
 * NULL = there is none, or the program's own list has it. */
static const struct program {
    const char *name, *prefix, *correct;
} programs[] = {{"gemm", "", "healthy"}, {"two_async_warps", "two-async-", NULL}, {"waits", "", NULL}};
static const char recording_suffix[] = ".wsrec";

struct list {
    struct wsdbg_demo *demos;
    size_t count;
};

static struct wsdbg_demo *find(struct list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->demos[i].name, name) == 0)
            return &list->demos[i];
    return NULL;
}

static struct wsdbg_demo *add(struct list *list, const char *name)
{
    struct wsdbg_demo *demo = find(list, name);
    if (demo || list->count == WSDBG_DEMOS_MAX || strlen(name) >= sizeof demo->name)
        return demo;
    demo = &list->demos[list->count++];
    *demo = (struct wsdbg_demo){0};
    strcpy(demo->name, name);
    return demo;
}

static void add_line(struct list *list, const struct program *program, char *line)
{
    char name[sizeof list->demos->name];
    line[strcspn(line, "\n")] = '\0';
    char *story = strrchr(line, '\t');
    if (!story)
        return;
    story++;
    line[strcspn(line, "\t")] = '\0';
    if (snprintf(name, sizeof name, "%s%s", program->prefix, line) >= (int)sizeof name)
        return;
    struct wsdbg_demo *demo = add(list, name);
    if (!demo || demo->program)
        return;
    demo->program = program->name;
    strcpy(demo->bug, name + strlen(program->prefix));
    snprintf(demo->story, sizeof demo->story, "%s", story);
}

/* Runs `path --list-bugs` without a shell; its complaints, if it cannot start here, are not wanted. */
static FILE *open_listing(const char *path, pid_t *child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    *child = fork();
    if (*child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDIN_FILENO);
        dup2(null, STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        execl(path, path, "--list-bugs", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *file = *child > 0 ? fdopen(ends[0], "r") : NULL;
    if (!file)
        close(ends[0]);
    return file;
}

static void add_program(struct list *list, const struct program *program)
{
    char *path, line[1024];
    pid_t child;
    struct wsdbg_error *error = wsdbg_path_program(program->name, &path);
    if (error) {
        wsdbg_error_destroy(error);
        return;
    }
    FILE *file = open_listing(path, &child);
    while (file && fgets(line, sizeof line, file))
        add_line(list, program, line);
    struct wsdbg_demo *correct = file && program->correct ? add(list, program->correct) : NULL;
    if (correct)
        correct->program = program->name;
    if (file) {
        fclose(file);
        waitpid(child, NULL, 0);
    }
    free(path);
}

/* The lines are like a program's, with two columns. */
static void add_stories(struct list *list, const char *folder)
{
    char *path = NULL, line[1024];
    if (asprintf(&path, "%s/stories.tsv", folder) < 0)
        return;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *story = strchr(line, '\t');
        if (!story)
            continue;
        *story++ = '\0';
        struct wsdbg_demo *demo = find(list, line);
        if (demo && !demo->story[0])
            snprintf(demo->story, sizeof demo->story, "%s", story);
    }
    if (file)
        fclose(file);
    free(path);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct wsdbg_demo *)left)->name, ((const struct wsdbg_demo *)right)->name);
}

static void add_recordings(struct list *list)
{
    char *folder;
    struct wsdbg_error *error = wsdbg_path_recordings(&folder);
    if (error) {
        wsdbg_error_destroy(error);
        return;
    }
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        size_t length = strlen(entry->d_name), suffix = sizeof recording_suffix - 1;
        if (length <= suffix || strcmp(entry->d_name + length - suffix, recording_suffix) != 0)
            continue;
        entry->d_name[length - suffix] = '\0';
        struct wsdbg_demo *demo = add(list, entry->d_name);
        if (demo)
            demo->recorded = true;
    }
    if (listing)
        closedir(listing);
    add_stories(list, folder);
    free(folder);
}

size_t wsdbg_demo_list(struct wsdbg_demo out[WSDBG_DEMOS_MAX])
{
    struct list list = {.demos = out};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        add_program(&list, &programs[i]);
    add_recordings(&list);
    qsort(out, list.count, sizeof *out, by_name);
    return list.count;
}
