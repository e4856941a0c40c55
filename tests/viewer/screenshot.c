/* screenshot.c - runs a terminal program by a script and prints what its screen shows: the pictures in docs/SCREENS.md, and
 * a look at a session on a machine without a terminal.
 *
 *   screenshot COLUMNSxROWS [STEP ...] -- COMMAND [ARGS...]
 *   steps: keys=TEXT  press these (\r, \e and \t are understood)     until=TEXT  wait for the text
 *          sleep=MS   let time pass                                  show        print the screen
 *
 * At the end the program is ended if it still runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "viewer/screen.h"

static void press(struct screen *screen, const char *text)
{
    char keys[256];
    size_t count = 0;
    for (; *text && count + 1 < sizeof keys; text++) {
        keys[count] = *text;
        if (*text == '\\' && text[1]) {
            text++;
            keys[count] = *text == 'r' ? '\r' : *text == 'e' ? '\x1b' : *text == 't' ? '\t' : *text;
        }
        count++;
    }
    keys[count] = '\0';
    screen_press(screen, keys);
}

static void show(struct screen *screen)
{
    fputs(screen_text(screen), stdout);
    puts("");
    fflush(stdout);
}

/* A terminal that nobody reads would stop the program. */
static void look_on(struct screen *screen, int ms)
{
    for (; ms > 0; ms -= 10) {
        screen_text(screen);
        usleep(10000);
    }
}

static void step(struct screen *screen, const char *word)
{
    if (strncmp(word, "keys=", 5) == 0)
        press(screen, word + 5);
    else if (strncmp(word, "until=", 6) == 0)
        screen_expect(screen, word + 6);
    else if (strncmp(word, "sleep=", 6) == 0)
        look_on(screen, atoi(word + 6));
    else if (strcmp(word, "show") == 0)
        show(screen);
    else
        fprintf(stderr, "screenshot: step \"%s\": keys=, until=, sleep= or show\n", word);
}

int main(int argc, char **argv)
{
    int columns, rows, command = 2;
    while (command < argc && strcmp(argv[command], "--") != 0)
        command++;
    if (command + 1 >= argc || sscanf(argv[1], "%dx%d", &columns, &rows) != 2) {
        fprintf(stderr, "usage: screenshot COLUMNSxROWS [STEP ...] -- COMMAND [ARGS...]\n");
        return 2;
    }
    struct screen *screen = screen_start(columns, rows, NULL, (const char *const *)argv + command + 1);
    for (int i = 2; i < command; i++)
        step(screen, argv[i]);
    screen_destroy(screen);
    return 0;
}
