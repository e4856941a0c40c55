/* prompt.c - see prompt.h.  Reads keys, writes its own text and a line of the canvas. */
#include "viewer/prompt.h"

#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#define ESCAPE 27
#define ERASE_LINE 21 /* Ctrl-U */

void viewer_prompt_begin(struct viewer_prompt *prompt, enum viewer_prompt_kind kind, const char *text)
{
    *prompt = (struct viewer_prompt){.kind = kind};
    snprintf(prompt->text, sizeof prompt->text, "%s", text);
}

/* Takes the last character away, all its bytes. */
static void erase_last(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
        length--;
    text[length > 0 ? length - 1 : 0] = '\0';
}

enum viewer_prompt_result viewer_prompt_press(struct viewer_prompt *prompt, int key)
{
    const size_t length = strlen(prompt->text);
    prompt->error[0] = '\0';
    switch (key) {
    case '\n':
    case '\r':
    case KEY_ENTER:
        return VIEWER_PROMPT_DONE;
    case ESCAPE:
    case 3: /* Ctrl-C */
        return VIEWER_PROMPT_GIVEN_UP;
    case KEY_BACKSPACE:
    case 127:
    case 8:
        if (length == 0)
            return VIEWER_PROMPT_GIVEN_UP;
        erase_last(prompt->text);
        break;
    case ERASE_LINE:
        prompt->text[0] = '\0';
        break;
    default:
        if (key >= ' ' && key < 256 && length + 1 < sizeof prompt->text) {
            prompt->text[length] = (char)key;
            prompt->text[length + 1] = '\0';
        }
    }
    return VIEWER_PROMPT_GOES_ON;
}

void viewer_prompt_draw(const struct viewer_prompt *prompt, struct viewer_canvas *canvas, int row)
{
    int at =
        viewer_put(canvas, row, 0, VIEWER_STYLE_STRONG, prompt->kind == VIEWER_PROMPT_SEARCH ? "search: " : "filter: ");
    at = viewer_put(canvas, row, at, VIEWER_STYLE_TEXT, prompt->text);
    at = viewer_put(canvas, row, at, VIEWER_STYLE_TEXT, "_");
    if (prompt->error[0])
        viewer_put(canvas, row, at + 2, VIEWER_STYLE_BAD, prompt->error);
}
