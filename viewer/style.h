/* style.h - private to the room: what styles and glyphs look like on this terminal.  Reads the locale, NO_COLOR and
 * what terminfo says. */
#ifndef VIEWER_STYLE_H
#define VIEWER_STYLE_H

#include "viewer/canvas.h"

/* The look of a terminal.  Attributes are ncurses'. */
struct viewer_look {
    unsigned long attributes[VIEWER_STYLE_COUNT];
    short pairs[VIEWER_STYLE_COUNT];
    bool utf8;
};

/* After ncurses was started: chooses colours or, without them, attributes that tell the styles apart. */
void viewer_look_init(struct viewer_look *look);
/* For text that goes to no terminal. */
void viewer_look_plain(struct viewer_look *look, bool utf8);
/* True when the locale's characters are UTF-8. */
bool viewer_locale_is_utf8(void);
const char *viewer_look_glyph(const struct viewer_look *look, enum viewer_glyph glyph);

#endif
