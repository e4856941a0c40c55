/* harness.h - drives the real wsdbg binary: starts it in a scratch folder, gives it input, collects what it says.
 *
 * Every wait has a limit: a wsdbg that does not end fails the test and is killed.
 */
#ifndef WSDBG_TESTS_CMD_HARNESS_H
#define WSDBG_TESTS_CMD_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct outcome {
    int status; /* exit status, or -signal */
    char *out;  /* what was written to stdout */
    char *err;  /* … and to stderr */
};

/* A wsdbg that runs. */
struct running {
    pid_t pid;
    int out, err;
};

/* cmocka setup and teardown: a fresh scratch folder, made the current one, and removed with all that is in it. */
int scratch_setup(void **state);
int scratch_teardown(void **state);

/* Starts WSDBG_BINARY with the words (NULL-terminated) and `input` on stdin (NULL = nothing). */
struct running start(const char *input, const char *const *words);
/* Waits until it has said the words, half a minute at most: a machine that is busy takes its time. */
void wait_for_words(struct running running, const char *words);
/* Waits for its end, a minute at most. */
struct outcome finish(struct running running);
void outcome_free(struct outcome *outcome);

#define WSDBG(...) finish(start(NULL, (const char *const[]){__VA_ARGS__, NULL}))
#define WSDBG_START(...) start(NULL, (const char *const[]){__VA_ARGS__, NULL})

/* Waits until `path` exists and is not empty, half a minute at most. */
void wait_for_file(const char *path);
/* The file's content; the caller frees. */
char *read_file(const char *path);
void write_file(const char *path, const char *content, size_t bytes);
/* Number of files in the current folder whose name matches. */
size_t count_files(const char *pattern);
bool process_lives(pid_t pid);
/* A pid that the program wrote into a file. */
pid_t read_pid(const char *path);
size_t count_lines(const char *text);
/* Cuts the lines out that say for how long wsdbg was attached and what that cost, if there are any; returns text. */
char *without_account(char *text);

#endif
