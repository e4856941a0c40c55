/* log_test.c - the log and the source files: what was stored comes back, what was not is said to be missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"

static char *folder;

static int set_up(void **state)
{
    (void)state;
    folder = example_folder();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    example_clean(folder);
    return 0;
}

static void check_line(struct wsdbg_store *store, uint64_t number, uint64_t time_ns, enum wsdbg_log_origin origin,
                       const char *text)
{
    struct wsdbg_log_line line;
    bool found = false;
    example_ok(wsdbg_store_log_line(store, number, &line, &found));
    assert_true(found);
    assert_int_equal(line.time_ns, time_ns);
    assert_int_equal(line.origin, origin);
    assert_string_equal(line.text, text);
}

static void lines_come_back_in_order_with_their_origin(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    const char *path = example_path(folder, "log.db");
    example_quiet(&e, 1);
    example_ok(wsdbg_store_create(path, &e.info, &store));
    example_ok(wsdbg_store_log(store, 10, WSDBG_LOG_STDOUT, "tile 1"));
    example_ok(wsdbg_store_log(store, 20, WSDBG_LOG_STDERR, ""));
    example_ok(wsdbg_store_log(store, 20, WSDBG_LOG_TERMINAL, "日本 \x1b[1mbold"));
    example_ok(wsdbg_store_log(store, 30, WSDBG_LOG_WSDBG, "no progress for 2 s"));
    example_ok(wsdbg_store_log(store, 40, WSDBG_LOG_SCHEDULE, "hang in schedule 7 of launch 0 (f)"));
    wsdbg_store_close(store);

    example_ok(wsdbg_store_open(path, &store));
    assert_int_equal(wsdbg_store_log_count(store), 5);
    check_line(store, 4, 40, WSDBG_LOG_SCHEDULE, "hang in schedule 7 of launch 0 (f)");
    check_line(store, 0, 10, WSDBG_LOG_STDOUT, "tile 1");
    check_line(store, 1, 20, WSDBG_LOG_STDERR, "");
    check_line(store, 2, 20, WSDBG_LOG_TERMINAL, "日本 \x1b[1mbold");
    check_line(store, 3, 30, WSDBG_LOG_WSDBG, "no progress for 2 s");
    struct wsdbg_log_line line;
    bool found = true;
    example_ok(wsdbg_store_log_line(store, 5, &line, &found));
    assert_false(found);
    wsdbg_store_close(store);
    example_free(&e);
}

static void lines_written_after_the_database_was_opened_are_seen(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *writer = NULL, *reader = NULL;
    const char *path = example_path(folder, "live.db");
    example_quiet(&e, 1);
    example_ok(wsdbg_store_create(path, &e.info, &writer));
    example_ok(wsdbg_store_open(path, &reader));
    assert_int_equal(wsdbg_store_log_count(reader), 0);
    example_ok(wsdbg_store_log(writer, 10, WSDBG_LOG_STDOUT, "later"));
    assert_int_equal(wsdbg_store_log_count(reader), 1);
    check_line(reader, 0, 10, WSDBG_LOG_STDOUT, "later");
    wsdbg_store_close(reader);
    wsdbg_store_close(writer);
    example_free(&e);
}

static void check_words(const char *got, const char *expected)
{
    if (expected)
        assert_string_equal(got, expected);
    else
        assert_null(got);
}

static void check_source(struct wsdbg_store *store, const struct wsdbg_source_file *expected)
{
    struct wsdbg_loaded loaded;
    struct wsdbg_source_file file = {.path = "?", .text = "?"};
    example_ok(wsdbg_store_load(store, false, &loaded));
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    check_words(file.path, expected->path);
    check_words(file.text, expected->text);
    check_words(file.text_missing, expected->text_missing);
    check_words(file.ptx, expected->ptx);
    check_words(file.ptx_missing, expected->ptx_missing);
    wsdbg_source_file_deinit(&file);
    wsdbg_loaded_deinit(&loaded);
}

static void a_module_has_its_source_or_its_ptx_or_why_not(void **state)
{
    static const struct wsdbg_source_file nothing = {0}, source = {.path = "/src/gemm.cu", .text = "int x;\n"},
                                          empty = {.path = "/src/gemm.cu", .text = ""},
                                          ptx = {.path = "/src/gemm.cu", .text_missing = "not found", .ptx = ".loc"},
                                          neither = {.ptx_missing = "the module is a cubin"};
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    const char *path = example_path(folder, "source.db");
    example_hang(&e, 1, 1);
    example_ok(wsdbg_store_create(path, &e.info, &store));
    example_refused(wsdbg_store_source(store, 0, &source), "source of a module that is not stored");
    example_ok(wsdbg_store_snapshot(store, &e.snapshot));
    check_source(store, &nothing);
    const struct wsdbg_source_file *const files[] = {&neither, &ptx, &empty, &source};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        example_ok(wsdbg_store_source(store, 0, files[i]));
        check_source(store, files[i]);
    }
    wsdbg_store_close(store);

    example_ok(wsdbg_store_open(path, &store));
    check_source(store, &source);
    wsdbg_store_close(store);
    example_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_back_in_order_with_their_origin),
        cmocka_unit_test(lines_written_after_the_database_was_opened_are_seen),
        cmocka_unit_test(a_module_has_its_source_or_its_ptx_or_why_not),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
