/* viewer_internal.h - private to the viewer's frame: what viewer.c, frame.c and actions.c share. */
#ifndef VIEWER_VIEWER_INTERNAL_H
#define VIEWER_VIEWER_INTERNAL_H

#include <stdio.h>

#include "viewer/keys.h"
#include "viewer/pane.h"
#include "viewer/prompt.h"
#include "viewer/samples.h"
#include "viewer/viewer.h"

#define VIEWER_BACK_MAX 32

/* Where Enter came from. */
struct viewer_back {
    size_t view;
    struct viewer_row row;
    bool on_row;
};

/* A tab's place on the screen, for the mouse. */
struct viewer_tab {
    int from, to;
};

struct viewer {
    struct viewer_source *source;
    struct viewer_look look;
    void *screen; /* SCREEN of ncurses */
    FILE *terminal;
    int descriptor;
    char title[256];
    struct viewer_pane panes[VIEWER_VIEWS_MAX];
    size_t pane_count, current;
    struct viewer_tab tabs[VIEWER_VIEWS_MAX];
    struct viewer_back back[VIEWER_BACK_MAX];
    size_t back_count;
    struct viewer_filter filter;
    struct viewer_samples *samples;
    struct viewer_prompt prompt;
    char search[128];
    char message[200]; /* about the last key, until the next one */
    char trouble[200]; /* of the source */
    const char *question;
    bool paused, input, dirty, leave;
    bool typed;   /* a key was pressed since the last frame */
    int body_top; /* first line of the view */
    uint64_t now_ns, updated_ns, drawn_ns;
    uint64_t clicked_ns;
    size_t clicked_row;
};

/* frame.c: gives the views their room, which rows depend on; draws everything. */
void viewer_lay_out(struct viewer *viewer);
void viewer_draw(struct viewer *viewer);
/* actions.c: one key, ncurses code. */
void viewer_press(struct viewer *viewer, int key);
/* The state of `source` was taken over: all rows are stale. */
void viewer_set_stale(struct viewer *viewer);
struct viewer_pane *viewer_current(struct viewer *viewer);
/* Ctrl-Z: the terminal is the shell's for a while (viewer.c). */
void viewer_stop(struct viewer *viewer);

#endif
