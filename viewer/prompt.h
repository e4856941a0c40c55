/* prompt.h - private to the viewer's frame: one line that is typed at the bottom of the screen. */
#ifndef VIEWER_PROMPT_H
#define VIEWER_PROMPT_H

#include "viewer/canvas.h"

enum viewer_prompt_kind { VIEWER_PROMPT_NONE, VIEWER_PROMPT_SEARCH, VIEWER_PROMPT_FILTER };
enum viewer_prompt_result { VIEWER_PROMPT_GOES_ON, VIEWER_PROMPT_DONE, VIEWER_PROMPT_GIVEN_UP };

struct viewer_prompt {
    enum viewer_prompt_kind kind;
    char text[128];
    char error[160]; /* why the line was not taken, "" = nothing */
};

void viewer_prompt_begin(struct viewer_prompt *prompt, enum viewer_prompt_kind kind, const char *text);
/* One key (ncurses code, or a byte of UTF-8). */
enum viewer_prompt_result viewer_prompt_press(struct viewer_prompt *prompt, int key);
void viewer_prompt_draw(const struct viewer_prompt *prompt, struct viewer_canvas *canvas, int row);

#endif
