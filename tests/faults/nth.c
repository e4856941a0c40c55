/* nth.c - runs each command of wsdbg again and again, each time with another allocation or system call failing.
 *
 * usage: nth WSDBG LIBRARY RECORDING PTX DUMP [--all] [--json FILE]
 *        nth WSDBG LIBRARY --run TRACED [--hang] [--json FILE]     (TRACED: tests/trust/traced.c)
 * Reads:  what the commands say.  Writes: a line a command; with --json the counts.
 *
 * A command with a failure must say what it says without, with the same status, or end with words on stderr and status
 * 125, or 126 where it did not start the program.  Everything else is wrong: a signal, another answer, no words, more
 * than 20 s.  Without --all the numbers are thinned out as they grow.  Exit status 1 where something was wrong.
 *
 * --run: `wsdbg run` of a program that launches, with failures in wsdbg alone and in the observer alone.  The program
 * must do what it does alone, and where wsdbg has not counted all launches it must say what it could not do.  --hang:
 * of one that hangs, and ends itself after a while.  It must be found, or wsdbg must say why it was not.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS = 12, LIMIT_S = 20, FAILED = 125, NOT_STARTED = 126 };
#define LIFE_S "4" /* of a program that hangs and is not found */

struct answer {
    int status; /* of waitpid */
    char *out, *err;
};

struct counts {
    long runs, same, refused, wrong;
};

struct world {
    const char *wsdbg, *library;
    const char *where; /* FAIL_IN, NULL = everywhere */
    bool all;
};

static const struct fault {
    const char *name, *variable;
    bool all_after;
} faults[] = {{"allocation", "FAIL_ALLOCATION", false},
              {"all allocations from", "FAIL_ALLOCATION", true},
              {"system call", "FAIL_CALL", false},
              {"all system calls from", "FAIL_CALL", true}};
enum { FAULTS = sizeof faults / sizeof *faults };

static char *text_of(const char *path)
{
    struct stat status;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &status) != 0) {
        perror(path);
        exit(2);
    }
    char *text = calloc(1, (size_t)status.st_size + 1);
    const size_t got = fread(text, 1, (size_t)status.st_size, file);
    text[got] = '\0';
    fclose(file);
    return text;
}

static void become(const struct world *world, const char *const *arguments, const struct fault *fault, long number)
{
    char *words[ARGUMENTS + 2] = {(char *)(uintptr_t)world->wsdbg}, count[24];
    for (int i = 0; arguments[i]; i++)
        words[i + 1] = (char *)(uintptr_t)arguments[i];
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open("out", O_WRONLY | O_CREAT | O_EXCL, 0600), 1);
    dup2(open("err", O_WRONLY | O_CREAT | O_EXCL, 0600), 2);
    setenv("NO_COLOR", "1", 1);
    if (fault) {
        snprintf(count, sizeof count, "%ld", number);
        setenv("LD_PRELOAD", world->library, 1);
        setenv(fault->variable, count, 1);
        setenv("FAIL_REPORT", "failed", 1);
        if (world->where)
            setenv("FAIL_IN", world->where, 1);
        if (fault->all_after)
            setenv("FAIL_ALL_AFTER", "1", 1);
    }
    alarm(LIMIT_S);
    execv(world->wsdbg, words);
    _exit(99);
}

/* The files that the command makes are gone afterwards. */
static struct answer run(const struct world *world, const char *const *arguments, const struct fault *fault,
                         long number)
{
    struct answer answer = {0};
    unlink("out"); /* not cut to nothing: a file system may wait for the disk then */
    unlink("err");
    const pid_t child = fork();
    if (child == 0)
        become(world, arguments, fault, number);
    if (child < 0 || waitpid(child, &answer.status, 0) != child) {
        perror("fork");
        exit(2);
    }
    answer.out = text_of("out");
    answer.err = text_of("err");
    for (const char *const *name = (const char *const[]){"made", "made-wal", "made-shm", NULL}; *name; name++)
        unlink(*name);
    return answer;
}

static void forget(struct answer *answer)
{
    free(answer->out);
    free(answer->err);
}

/* NULL = as it should be. */
static const char *what_is_wrong(const struct answer *whole, const struct answer *answer)
{
    if (WIFSIGNALED(answer->status))
        return WTERMSIG(answer->status) == SIGALRM ? "it does not end" : "it dies of a signal";
    if (answer->status == whole->status && strcmp(answer->out, whole->out) == 0)
        return NULL;
    if (WEXITSTATUS(answer->status) != FAILED && WEXITSTATUS(answer->status) != NOT_STARTED)
        return answer->status == whole->status ? "another answer" : "another status";
    return answer->err[0] ? NULL : "no words";
}

/* Words of lines that say what wsdbg could not do. */
static bool says_why(const char *text)
{
    static const char *const words[] = {"not watch", "could not", "cannot", "memory", "not kept", "not read", NULL};
    for (const char *const *word = words; *word; word++)
        if (strstr(text, *word))
            return true;
    return false;
}

/* As above, of a run. */
static const char *what_is_wrong_with_run(const struct answer *whole, const struct answer *answer)
{
    static const char hang[] = "HANG: ", all[] = "8 kernel launches seen";
    const bool has_hang = strstr(whole->err, hang) != NULL;
    const bool ended_itself = WIFSIGNALED(answer->status) && WTERMSIG(answer->status) == SIGUSR1;
    const bool as_without = answer->status == whole->status && strcmp(answer->out, whole->out) == 0;
    if (!as_without && !(has_hang && ended_itself))
        return what_is_wrong(whole, answer);
    return strstr(answer->err, has_hang ? hang : all) || says_why(answer->err) ? NULL : "silent about what it missed";
}

static void judge(const char *name, const struct fault *fault, long number, const struct answer *whole,
                  const struct answer *answer, struct counts *counts)
{
    const bool is_run = strncmp(name, "run", 3) == 0;
    const char *wrong = is_run ? what_is_wrong_with_run(whole, answer) : what_is_wrong(whole, answer);
    counts->runs++;
    counts->wrong += wrong != NULL;
    counts->same += !wrong && answer->status == whole->status;
    counts->refused += !wrong && answer->status != whole->status;
    if (wrong)
        printf("%s: %s %ld fails: %s (status %#x); it says: %.300s\n", name, fault->name, number, wrong,
               (unsigned)answer->status, answer->err);
}

static struct counts run_all(const struct world *world, const char *name, const char *const *arguments)
{
    struct counts counts = {0};
    struct answer whole = run(world, arguments, NULL, 0);
    for (int f = 0; f < FAULTS; f++) {
        /* An observer all of whose calls fail can tell nobody. */
        bool reached = !(world->where && strcmp(world->where, "observer") == 0 && faults[f].all_after);
        for (long number = 1; reached; number += world->all ? 1 : 1 + number / 2) {
            unlink("failed");
            struct answer answer = run(world, arguments, &faults[f], number);
            reached = unlink("failed") == 0;
            if (reached)
                judge(name, &faults[f], number, &whole, &answer, &counts);
            forget(&answer);
        }
    }
    forget(&whole);
    return counts;
}

/* Returns how many were wrong. */
static long tell(const char *name, struct counts counts, FILE *json, bool follows)
{
    printf("%s: %ld runs, %ld as without, %ld refused, %ld wrong\n", name, counts.runs, counts.same, counts.refused,
           counts.wrong);
    fflush(stdout);
    if (json)
        fprintf(json, "%s\n {\"command\": \"%s\", \"runs\": %ld, \"same\": %ld, \"refused\": %ld, \"wrong\": %ld}",
                follows ? "," : "", name, counts.runs, counts.same, counts.refused, counts.wrong);
    return counts.wrong;
}

/* A program that launches, or hangs for LIFE_S at most, with failures in wsdbg and in the observer. */
static long run_programs(struct world *world, const char *traced, bool hangs, FILE *json)
{
    static const char *const places[] = {"wsdbg", "observer"};
    const char *const healthy[] = {"run", "-o", "made", "--", traced, "work", NULL};
    const char *const hanging[] = {"run", "-o", "made", "--stall", "0.3", "--", traced, "hangs", LIFE_S, NULL};
    long wrong = 0;
    for (size_t i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "run%s, in %s", hangs ? " (a hang)" : "", i ? "the observer" : "wsdbg");
        world->where = places[i];
        world->all = i == 1 && !hangs; /* it makes few calls, but some again and again */
        wrong += tell(name, run_all(world, name, hangs ? hanging : healthy), json, i > 0);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: nth WSDBG LIBRARY RECORDING PTX DUMP [--all] [--json FILE]\n"
                        "       nth WSDBG LIBRARY --run TRACED [--hang] [--json FILE]\n");
        return 2;
    }
    const bool runs = strcmp(argv[3], "--run") == 0;
    const char *recording = argv[3], *ptx = argv[4], *dump = argv[5];
    struct world world = {argv[1], argv[2], NULL, argc > 6 && strcmp(argv[6], "--all") == 0};
    FILE *json = argc > 6 && strcmp(argv[argc - 2], "--json") == 0 ? fopen(argv[argc - 1], "w") : NULL;
    char folder[] = "/tmp/wsdbg-nth.XXXXXX";
    const char *const commands[][ARGUMENTS] = {
        {"report", "a.db"},
        {"report", "--json", "a.db"},
        {"report", "--html", "a.db"},
        {"why", "a.db"},
        {"query", "a.db", "--csv", "SELECT * FROM warp"},
        {"query", "a.db", "--json", "SELECT * FROM timeline"},
        {"query", "--csv", "SELECT count(*) FROM warp"},
        {"export", "a.db", "--perfetto", "-"},
        {"export", "a.db", "--dot", "-"},
        {"replay", recording},
        {"replay", recording, "-o", "made"},
        {"lint", ptx},
        {"lint", "--json", ptx},
        {"core", dump},
        {"core", dump, "-o", "made"},
        {"merge", "a.db", "b.db", "-o", "made"},
        {"help", "run"},
    };
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 2;
    long wrong = 0;
    fprintf(json ? json : stderr, json ? "[" : "");
    if (runs)
        wrong = run_programs(&world, argv[4], argc > 5 && strcmp(argv[5], "--hang") == 0, json);
    else {
        struct answer made = run(&world, (const char *const[]){"replay", recording, "-o", "a.db", NULL}, NULL, 0);
        forget(&made);
        made = run(&world, (const char *const[]){"core", dump, "-o", "b.db", NULL}, NULL, 0);
        forget(&made);
    }
    for (size_t i = 0; !runs && i < sizeof commands / sizeof *commands; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", commands[i][0], commands[i][1] && commands[i][1][0] == '-' ? " " : "",
                 commands[i][1] && commands[i][1][0] == '-' ? commands[i][1] : "");
        wrong += tell(name, run_all(&world, name, commands[i]), json, i > 0);
    }
    if (json) {
        fprintf(json, "\n]\n");
        fclose(json);
    }
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || wrong ? 1 : 0;
}
