/* replay_main.c - runs every file of a corpus folder through a fuzz target, without libFuzzer.
 *
 * Also runs every truncation of each file at a few lengths.  Fails when the folder holds no file, and where an input
 * takes ten seconds or, without a sanitizer, 2 GiB.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fuzz/fuzz_targets.h"

enum { INPUT_BYTES_MAX = 1 << 20, CUTS = 16, INPUT_SECONDS = 10 };

static int replay_file(const char *folder, const char *name, uint8_t *room)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    const size_t count = fread(room, 1, INPUT_BYTES_MAX, file);
    fclose(file);
    for (size_t cut = 0; cut < CUTS && cut <= count; cut++) {
        /* A copy of its own, so that a sanitizer sees a read past the input's end. */
        const size_t length = count - cut * count / CUTS;
        uint8_t *input = malloc(length + 1);
        if (!input)
            return 0;
        for (size_t i = 0; i < length; i++)
            input[i] = room[i];
        alarm(INPUT_SECONDS);
        fuzz_one_input(input, length);
        alarm(0);
        free(input);
    }
    return 1;
}

/* Sanitizers reserve terabytes. */
static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlim_t most = (rlim_t)2 << 30;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
#endif
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    uint8_t *room = malloc(INPUT_BYTES_MAX);
    int replayed = 0;
    limit_memory();
    if (!folder || !room) {
        fprintf(stderr, "replay: cannot open the corpus folder\n");
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            replayed += replay_file(argv[1], entry->d_name, room);
    closedir(folder);
    free(room);
    printf("%d inputs replayed\n", replayed);
    return replayed ? 0 : 1;
}
