/* mutated.c - `mutated LIBRARY PROGRAM [WORD...]`: starts the program with the library first in LD_PRELOAD. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    const char *before = getenv("LD_PRELOAD");
    char *value = NULL;
    if (count < 3) {
        fputs("usage: mutated LIBRARY PROGRAM [WORD...]\n", stderr);
        return 2;
    }
    if (asprintf(&value, "%s%s%s", words[1], before && *before ? ":" : "", before ? before : "") < 0 ||
        setenv("LD_PRELOAD", value, 1) != 0)
        return 1;
    execvp(words[2], words + 2);
    fprintf(stderr, "mutated: %s: %s\n", words[2], strerror(errno));
    return 127;
}
