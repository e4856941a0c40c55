/* style.c - see style.h: one table of colours and attributes, one of glyphs. */
#include "viewer/style.h"

#include <langinfo.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    short colour;              /* -1 = the terminal's own */
    unsigned long with_colour; /* attributes */
    unsigned long no_colour;
} styles[VIEWER_STYLE_COUNT] = {
    [VIEWER_STYLE_TEXT] = {-1, A_NORMAL, A_NORMAL},
    [VIEWER_STYLE_DIM] = {-1, A_DIM, A_DIM},
    [VIEWER_STYLE_STRONG] = {-1, A_BOLD, A_BOLD},
    [VIEWER_STYLE_TITLE] = {COLOR_CYAN, A_BOLD, A_BOLD},
    [VIEWER_STYLE_HEADER] = {-1, A_UNDERLINE, A_UNDERLINE},
    [VIEWER_STYLE_MOVING] = {COLOR_GREEN, A_NORMAL, A_NORMAL},
    [VIEWER_STYLE_WAITING] = {COLOR_YELLOW, A_NORMAL, A_BOLD},
    [VIEWER_STYLE_STUCK] = {COLOR_RED, A_BOLD, A_BOLD | A_UNDERLINE},
    [VIEWER_STYLE_GONE] = {-1, A_DIM, A_DIM},
    [VIEWER_STYLE_UNKNOWN] = {COLOR_MAGENTA, A_NORMAL, A_UNDERLINE},
    [VIEWER_STYLE_GOOD] = {COLOR_GREEN, A_BOLD, A_BOLD},
    [VIEWER_STYLE_BAD] = {COLOR_RED, A_BOLD, A_BOLD | A_UNDERLINE},
    [VIEWER_STYLE_MATCH] = {COLOR_YELLOW, A_REVERSE, A_REVERSE | A_BOLD},
};

static const struct {
    const char *utf8, *ascii;
} glyphs[VIEWER_GLYPH_COUNT] = {
    [VIEWER_GLYPH_CLOSED] = {"▸", "+"}, [VIEWER_GLYPH_OPEN] = {"▾", "-"},        [VIEWER_GLYPH_ARROW] = {"▶", ">"},
    [VIEWER_GLYPH_BRANCH] = {"├", "|"}, [VIEWER_GLYPH_LAST_BRANCH] = {"└", "`"}, [VIEWER_GLYPH_RAIL] = {"│", "|"},
    [VIEWER_GLYPH_LINE] = {"─", "-"},   [VIEWER_GLYPH_BLOCK] = {"█", "#"},       [VIEWER_GLYPH_HALF_BLOCK] = {"▌", "="},
    [VIEWER_GLYPH_LIGHT] = {"░", "."},  [VIEWER_GLYPH_MARK] = {"●", "*"},        [VIEWER_GLYPH_STALL] = {"▒", "!"},
    [VIEWER_GLYPH_CYCLE] = {"↻", "@"},  [VIEWER_GLYPH_ELLIPSIS] = {"…", "~"},    [VIEWER_GLYPH_DOT] = {"·", "."},
};

bool viewer_locale_is_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void viewer_look_plain(struct viewer_look *look, bool utf8)
{
    *look = (struct viewer_look){.utf8 = utf8};
}

void viewer_look_init(struct viewer_look *look)
{
    const char *refused = getenv("NO_COLOR");
    const bool colours = !(refused && *refused) && has_colors() && start_color() == OK && COLORS >= 8;
    viewer_look_plain(look, viewer_locale_is_utf8());
    const short background = colours && use_default_colors() == OK ? -1 : COLOR_BLACK;
    for (short i = 0; i < VIEWER_STYLE_COUNT; i++) {
        look->attributes[i] = colours ? styles[i].with_colour : styles[i].no_colour;
        if (!colours || styles[i].colour < 0)
            continue;
        look->pairs[i] = (short)(i + 1);
        init_pair((short)(i + 1), styles[i].colour, background);
    }
}

const char *viewer_look_glyph(const struct viewer_look *look, enum viewer_glyph glyph)
{
    return look->utf8 ? glyphs[glyph].utf8 : glyphs[glyph].ascii;
}
