/* The views on sessions recorded on an H200, without a terminal: what the rows say with every fold open, that every
 * object can be jumped to, and that any width will do.  UPDATE_GOLDEN=1 rewrites golden/NAME.rows. */
#include "store/example.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/pane.h"

#define WIDTH 120
#define ROWS_SHOWN 60

static const struct viewer_view *const views[] = {&viewer_cause,    &viewer_warps,    &viewer_barriers,
                                                  &viewer_graph,    &viewer_timeline, &viewer_source_lines,
                                                  &viewer_registers};
enum { VIEW_COUNT = sizeof views / sizeof *views };

/* A recording, replayed into a database and open. */
struct session {
    char *folder;
    struct viewer_source *source;
    struct viewer_filter filter;
};

static void open_file(struct session *session, const char *path)
{
    struct wsdbg_store *store;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(viewer_source_open_database(store, &session->source));
}

static void open_session(struct session *session, const char *recording)
{
    char command[2048];
    *session = (struct session){.folder = example_folder()};
    const char *path = example_path(session->folder, "session.db");
    snprintf(command, sizeof command, "'%s' replay '%s/%s.wsrec' -o '%s' >/dev/null 2>&1", WSDBG_PROGRAM,
             WSDBG_RECORDED_DIR, recording, path);
    assert_int_not_equal(system(command), -1);
    open_file(session, path);
}

/* A session made by hand; frees the example. */
static void open_example(struct session *session, struct example *example)
{
    *session = (struct session){.folder = example_folder()};
    const char *path = example_path(session->folder, "session.db");
    example_store(example, path);
    example_free(example);
    open_file(session, path);
}

static void close_session(struct session *session)
{
    session->source->ops->close(session->source);
    example_clean(session->folder);
}

static const struct wsdbg_snapshot *snapshot_of(const struct session *session)
{
    return session->source->ops->picture(session->source)->snapshot;
}

static void open_pane(struct session *session, const struct viewer_view *view, int columns, struct viewer_pane *pane)
{
    example_ok(viewer_pane_init(pane, view));
    pane->context.picture = session->source->ops->picture(session->source);
    pane->context.source = session->source;
    pane->context.filter = &session->filter;
    pane->context.columns = columns;
    pane->context.lines = 20;
    viewer_pane_refresh(pane);
    assert_string_equal(pane->trouble, "");
}

static void open_all_folds(struct viewer_pane *pane)
{
    for (size_t i = 0; i < pane->rows.count; i++) {
        viewer_pane_select(pane, i);
        viewer_pane_fold(pane, true);
    }
}

static void row_text(struct viewer_pane *pane, size_t row, int columns, char *out, size_t bytes)
{
    char(*cells)[VIEWER_CELL_BYTES] = malloc((size_t)columns * sizeof *cells); /* no byte more: ASan sees what is */
    struct viewer_look look;
    assert_non_null(cells);
    viewer_look_plain(&look, true);
    struct viewer_canvas canvas = viewer_canvas_of_text(&look, cells, columns);
    pane->view->draw_row(&pane->context, &pane->rows.rows[row], &canvas);
    viewer_canvas_text(&canvas, out, bytes, NULL);
    free(cells);
}

static void print_view(struct session *session, const struct viewer_view *view, FILE *out)
{
    struct viewer_pane pane;
    open_pane(session, view, WIDTH, &pane);
    open_all_folds(&pane);
    fprintf(out, "== %s\n", view->name);
    for (size_t i = 0; i < pane.rows.count && i < ROWS_SHOWN; i++) {
        char text[4096];
        row_text(&pane, i, WIDTH, text, sizeof text);
        fprintf(out, "%s\n", text);
    }
    if (pane.rows.count > ROWS_SHOWN)
        fprintf(out, "(%zu more)\n", pane.rows.count - ROWS_SHOWN);
    if (pane.rows.count == 0)
        fprintf(out, "%s\n", view->nothing(&pane.context));
    viewer_pane_deinit(&pane);
}

static char *read_file(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* All views of a session with golden/NAME.rows; closes it. */
static void compare_session(struct session *session, const char *name)
{
    char path[1024], *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    for (int i = 0; i < VIEW_COUNT; i++)
        print_view(session, views[i], out);
    fclose(out);
    close_session(session);
    snprintf(path, sizeof path, "%s/%s.rows", WSDBG_GOLDEN_DIR, name);
    if (getenv("UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
    assert_string_equal(text, read_file(path));
    free(text);
}

static void compare(const char *recording)
{
    struct session session;
    open_session(&session, recording);
    compare_session(&session, recording);
}

static void an_arrival_is_missing(void **state)
{
    (void)state;
    compare("arrive-missing");
}

static void the_register_pool_is_exhausted(void **state)
{
    (void)state;
    compare("regs-exhausted");
}

static void a_parity_is_wrong(void **state)
{
    (void)state;
    compare("parity-wrong");
}

static void nothing_hangs(void **state)
{
    (void)state;
    compare("healthy");
}

static void what_is_not_known_is_a_question_mark(void **state)
{
    (void)state;
    struct session session;
    struct example example;
    example_unknown(&example);
    open_example(&session, &example);
    compare_session(&session, "unknown");
}

/* A whole chip of equal CTAs is as many rows as one CTA. */
static void equal_ctas_are_one_row(void **state)
{
    (void)state;
    struct session session;
    struct example example;
    struct viewer_pane pane;
    example_hang(&example, 132, 2);
    open_example(&session, &example);
    assert_int_equal(snapshot_of(&session)->warp_count, 132 * 12);
    open_pane(&session, &viewer_warps, WIDTH, &pane);
    assert_int_equal(pane.rows.count, 2);
    viewer_pane_deinit(&pane);
    open_pane(&session, &viewer_timeline, WIDTH, &pane);
    assert_int_equal(pane.rows.count, 132 * 3);
    viewer_pane_deinit(&pane);
    close_session(&session);
}

/* Stands on the object and says so with a row that has it, or one of its warps. */
static void jump(struct viewer_pane *pane, enum viewer_object_kind kind, uint32_t index, uint32_t part)
{
    if (!viewer_pane_find(pane, (struct viewer_object){kind, index, part}))
        fail_msg("%s: no row for object %d, index %u, part %u", pane->view->name, kind, index, part);
    assert_true(viewer_pane_row(pane)->object.kind == kind || viewer_pane_row(pane)->object.kind == VIEWER_OBJECT_WARP);
}

static void every_warp_has_a_row_to_jump_to(void **state)
{
    (void)state;
    struct session session;
    open_session(&session, "regs-exhausted");
    const struct wsdbg_snapshot *s = snapshot_of(&session);
    struct viewer_pane timeline;
    open_pane(&session, &viewer_timeline, WIDTH, &timeline);
    assert_int_equal(s->warp_count, 48);
    for (uint32_t w = 0; w < s->warp_count; w++) {
        struct viewer_pane pane; /* a new one each time: nothing is open in it */
        open_pane(&session, &viewer_warps, WIDTH, &pane);
        jump(&pane, VIEWER_OBJECT_WARP, w, 0);
        assert_int_equal(viewer_pane_row(&pane)->object.index, w);
        jump(&pane, VIEWER_OBJECT_CTA, s->warps[w].cta, 0);
        jump(&pane, VIEWER_OBJECT_WARPGROUP, s->warps[w].cta, s->warps[w].warp / 4);
        viewer_pane_deinit(&pane);
        assert_true(viewer_pane_find(&timeline, (struct viewer_object){VIEWER_OBJECT_WARP, w, 0}));
        assert_int_equal(viewer_pane_row(&timeline)->object.part, s->warps[w].warp / 4);
    }
    viewer_pane_deinit(&timeline);
    close_session(&session);
}

static void every_barrier_has_a_row_to_jump_to(void **state)
{
    (void)state;
    struct session session;
    open_session(&session, "arrive-missing");
    const struct wsdbg_snapshot *s = snapshot_of(&session);
    assert_in_range(s->barrier_count, 8, 1000);
    for (uint32_t b = 0; b < s->barrier_count; b++) {
        struct viewer_pane pane;
        open_pane(&session, &viewer_barriers, WIDTH, &pane);
        jump(&pane, VIEWER_OBJECT_BARRIER, b, 0);
        assert_int_equal(viewer_pane_row(&pane)->object.index, b);
        viewer_pane_deinit(&pane);
    }
    close_session(&session);
}

/* The evidence of the verdict names objects that the other views have. */
static void evidence_leads_to_its_warps_and_barriers(void **state)
{
    (void)state;
    struct session session;
    struct viewer_pane cause, warps, barriers;
    size_t leading = 0;
    open_session(&session, "arrive-missing");
    open_pane(&session, &viewer_cause, WIDTH, &cause);
    open_pane(&session, &viewer_warps, WIDTH, &warps);
    open_pane(&session, &viewer_barriers, WIDTH, &barriers);
    for (size_t i = 0; i < cause.rows.count; i++) {
        const struct viewer_object object = cause.rows.rows[i].object;
        if (object.kind == VIEWER_OBJECT_WARP)
            jump(&warps, object.kind, object.index, 0);
        else if (object.kind == VIEWER_OBJECT_BARRIER)
            jump(&barriers, object.kind, object.index, 0);
        else
            continue;
        leading++;
    }
    assert_in_range(leading, 5, 100);
    viewer_pane_deinit(&cause);
    viewer_pane_deinit(&warps);
    viewer_pane_deinit(&barriers);
    close_session(&session);
}

static void any_width_will_do(void **state)
{
    (void)state;
    struct session session;
    open_session(&session, "regs-exhausted");
    for (int i = 0; i < VIEW_COUNT; i++) {
        struct viewer_pane pane;
        open_pane(&session, views[i], WIDTH, &pane);
        open_all_folds(&pane);
        for (int columns = 1; columns < 230; columns += columns < 30 ? 1 : 19) {
            pane.context.columns = columns;
            pane.stale = true;
            viewer_pane_refresh(&pane);
            for (size_t row = 0; row < pane.rows.count; row++) {
                char text[8192];
                row_text(&pane, row, columns, text, sizeof text);
            }
        }
        viewer_pane_deinit(&pane);
    }
    close_session(&session);
}

static void a_filter_shows_only_its_role(void **state)
{
    (void)state;
    struct session session;
    struct viewer_pane pane;
    open_session(&session, "arrive-missing");
    snprintf(session.filter.role, sizeof session.filter.role, "producer");
    open_pane(&session, &viewer_warps, WIDTH, &pane);
    assert_int_equal(pane.rows.count, 2); /* warp 0, and warps 1-3 that left */
    viewer_pane_deinit(&pane);
    open_pane(&session, &viewer_timeline, WIDTH, &pane);
    assert_int_equal(pane.rows.count, 4); /* a warpgroup in each of four CTAs */
    viewer_pane_deinit(&pane);
    close_session(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_is_missing),
        cmocka_unit_test(the_register_pool_is_exhausted),
        cmocka_unit_test(a_parity_is_wrong),
        cmocka_unit_test(nothing_hangs),
        cmocka_unit_test(what_is_not_known_is_a_question_mark),
        cmocka_unit_test(equal_ctas_are_one_row),
        cmocka_unit_test(every_warp_has_a_row_to_jump_to),
        cmocka_unit_test(every_barrier_has_a_row_to_jump_to),
        cmocka_unit_test(evidence_leads_to_its_warps_and_barriers),
        cmocka_unit_test(any_width_will_do),
        cmocka_unit_test(a_filter_shows_only_its_role),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
