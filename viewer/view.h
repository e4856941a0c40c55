/* view.h - one screen of the viewer: how a view is written.
 *
 * A view turns the picture into rows and draws one row at a time; the viewer owns the cursor, scrolling, search,
 * folding, sorting, the mouse and the jump from object to object.  So a view draws only what is visible, however
 * many rows there are.  To add a view: one file with one `const struct viewer_view`, and its line in views.c.
 */
#ifndef VIEWER_VIEW_H
#define VIEWER_VIEW_H

#include "viewer/canvas.h"
#include "viewer/filter.h"
#include "viewer/picture.h"

/* Anything the cursor can stand on.  Indices are those of the snapshot (or diagnosis) shown. */
enum viewer_object_kind {
    VIEWER_OBJECT_NONE,
    VIEWER_OBJECT_GRID,        /* index: grid */
    VIEWER_OBJECT_CTA,         /* index: CTA */
    VIEWER_OBJECT_WARPGROUP,   /* index: CTA, part: first warp / 4 */
    VIEWER_OBJECT_WARP,        /* index: warp row */
    VIEWER_OBJECT_PART,        /* index: warp row, part: in snapshot.parts */
    VIEWER_OBJECT_BARRIER,     /* index: barrier */
    VIEWER_OBJECT_FINDING,     /* index: finding */
    VIEWER_OBJECT_EDGE,        /* index: edge */
    VIEWER_OBJECT_SOURCE_LINE, /* index: module, part: line */
    VIEWER_OBJECT_CODE_LINE,   /* index: function, part: code row */
    VIEWER_OBJECT_GROUP        /* a folded row: index: an example warp or barrier, part: the view's own */
};

struct viewer_object {
    enum viewer_object_kind kind;
    uint32_t index, part;
};

struct viewer_row {
    struct viewer_object object;
    uint64_t data;   /* the view's own */
    uint8_t depth;   /* indentation */
    bool foldable;   /* can be opened */
    bool open;
};

struct viewer_rows {
    struct viewer_row *rows;
    size_t count, capacity;
};
/* Appends; false when out of memory. */
bool viewer_rows_add(struct viewer_rows *rows, const struct viewer_row *row);

struct viewer_samples;

/* What a view may look at.  `state` is the view's own memory (state_bytes, zero at first). */
struct viewer_context {
    const struct viewer_picture *picture;
    struct viewer_source *source;
    const struct viewer_filter *filter;
    const struct viewer_samples *samples; /* states seen while the viewer was open; NULL = none */
    unsigned sort;                        /* index into the view's sorts */
    int columns, lines;                   /* room for the rows, without header lines */
    struct viewer_object selected;        /* under the cursor */
    bool visited;                         /* the reader has been in this view, with rows to stand on */
    void *state;
    void *viewer; /* private to the viewer */
};
/* Whether a foldable row of this object is open: the viewer remembers it by object and `data`. */
bool viewer_is_open(const struct viewer_context *context, const struct viewer_row *row);
/* The role's name of a warp as text ("producer", "role 3", "?"), into out. */
void viewer_role_text(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp, char *out, size_t bytes);
/* "empty[3]", "named barrier 2", "register pool", …; "?" for an index that is none. */
void viewer_barrier_text(const struct wsdbg_snapshot *snapshot, uint32_t barrier, char *out, size_t bytes);
/* "1.2 s", "350 ms", "2 min"; always at most 8 columns. */
void viewer_duration_text(uint64_t ns, char *out, size_t bytes);

/* One key a view understands, for the help screen. */
struct viewer_key {
    const char *keys; /* "+ -" */
    const char *does; /* "zoom in and out" */
};

struct viewer_view {
    const char *name;    /* "warps": lower case, one word */
    const char *tab;     /* a shorter name for screens of 80 columns; NULL = the name is short enough */
    char key;            /* the letter that opens it; '\0' = none: Tab does, and a digit if its place gives it one */
    const char *summary; /* for help: one line */
    size_t state_bytes;
    int header_lines;
    bool follows; /* a cursor on the last row goes to the rows that come below it */
    void (*draw_header)(struct viewer_context *context, struct viewer_canvas *canvas); /* NULL = no header */
    /* Makes the rows.  Called when the picture, filter, sort, folding or size changed. */
    struct wsdbg_error *(*build)(struct viewer_context *context, struct viewer_rows *rows);
    /* Draws one row on a canvas of one line.  The cursor's look is added by the viewer. */
    void (*draw_row)(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas);
    /* The text shown where there are no rows: why, in one sentence. */
    const char *(*nothing)(const struct viewer_context *context);
    /* A key of the view's own (ncurses code).  True when it was one; the rows are built again.  The view may set
     * context->selected to have the cursor stand there. */
    bool (*press)(struct viewer_context *context, int key);
    const struct viewer_key *keys; /* ends with keys NULL; NULL = none */
    const char *const *sorts;      /* names, ends with NULL; NULL = cannot be sorted */
    /* The row to stand on for an object that another view names; SIZE_MAX = not here.  NULL = by equal object.
     * The viewer opens folds on the way: a view may say which with viewer_open_object before build. */
    size_t (*find)(struct viewer_context *context, const struct viewer_rows *rows, struct viewer_object object);
    /* What must be unfolded so that the object has a row: fills at most `capacity` objects, outermost first. */
    size_t (*path)(struct viewer_context *context, struct viewer_object object, struct viewer_row *out,
                   size_t capacity);
    /* What the cursor goes to, in the middle of the screen, when the reader comes from another view where it stood on
     * `from`; VIEWER_OBJECT_NONE = where it was.  NULL = always where it was.  The rows are those of the picture. */
    struct viewer_object (*arrive)(struct viewer_context *context, struct viewer_object from);
    void (*deinit)(void *state); /* NULL = nothing to free */
};

extern const struct viewer_view viewer_overview, viewer_warps, viewer_barriers, viewer_graph, viewer_timeline,
    viewer_source_lines, viewer_registers, viewer_cause, viewer_log, viewer_ranks, viewer_help;

#endif
