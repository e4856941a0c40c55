/* sources_test.c - what a session keeps of a module to read: its source or, without one, its PTX; and why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "watch/sources.h"
#include "store/example.h"

static struct wsdbg_source_file read_module(const char *path, const char *image)
{
    struct wsdbg_module module = {0};
    struct wsdbg_source_file file;
    snprintf(module.source_path, sizeof module.source_path, "%s", path);
    snprintf(module.image_path, sizeof module.image_path, "%s", image);
    assert_null(wsdbg_source_read(".", &module, &file));
    return file;
}

static void assert_no_text(const char *path, const char *expected)
{
    struct wsdbg_source_file file = read_module(path, "");
    assert_string_equal(file.path, path);
    assert_null(file.text);
    assert_string_equal(file.text_missing, expected);
    assert_null(file.ptx);
    assert_string_equal(file.ptx_missing, "the module's image was not kept");
    wsdbg_source_file_deinit(&file);
}

static void assert_no_ptx(const char *image, const char *expected)
{
    struct wsdbg_source_file file = read_module("", image);
    assert_null(file.path);
    assert_null(file.text);
    assert_null(file.text_missing);
    assert_null(file.ptx);
    assert_string_equal(file.ptx_missing, expected);
    wsdbg_source_file_deinit(&file);
}

static void a_text_is_read_whole_and_then_no_ptx_is_looked_for(void **state)
{
    (void)state;
    write_file("kernel.cu", "one\ntwo\n", 8);
    struct wsdbg_source_file file = read_module("kernel.cu", "absent.image");
    assert_string_equal(file.path, "kernel.cu");
    assert_string_equal(file.text, "one\ntwo\n");
    assert_null(file.text_missing);
    assert_null(file.ptx);
    assert_null(file.ptx_missing);
    wsdbg_source_file_deinit(&file);
}

static void what_is_no_source_is_named(void **state)
{
    (void)state;
    write_file("binary", "a\0b", 3);
    write_file("large", "x", 1);
    assert_int_equal(truncate("large", (5 << 20)), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_no_text("absent.cu", "not found");
    assert_no_text(".", "no file");
    assert_no_text("pipe", "no file");
    assert_no_text("binary", "no text");
    assert_no_text("large", "larger than 4 MiB");
    assert_no_text("binary/kernel.cu", "cannot be opened: Not a directory");
}

static void without_a_source_the_ptx_is_taken(void **state)
{
    static const char ptx[] = "\n.version 9.0\n.target sm_90a\n";
    (void)state;
    write_file("1-0.image", ptx, sizeof ptx - 1);
    struct wsdbg_source_file file = read_module("absent.cu", "1-0.image");
    assert_string_equal(file.path, "absent.cu");
    assert_string_equal(file.text_missing, "not found");
    assert_string_equal(file.ptx, ptx);
    assert_null(file.ptx_missing);
    wsdbg_source_file_deinit(&file);
}

static void a_module_without_ptx_is_named(void **state)
{
    (void)state;
    write_file("cubin", "\177ELF\2\1\1", 7);
    write_file("strange", "\1\2\3\4", 4);
    assert_no_ptx("cubin", "the module is a cubin, which holds no PTX");
    assert_no_ptx("strange", "the module is neither PTX nor a fatbin nor a cubin");
    assert_no_ptx("absent", "the module's image: not found");
    assert_no_ptx("", "the module's image was not kept");
}

static void expect_kept(struct wsdbg_store *store, const char *expected)
{
    char *rows = example_query(store,
                               "SELECT module_id, coalesce(path, '?'), coalesce(text, text_missing, ptx_missing) "
                               "FROM source_file ORDER BY module_id",
                               WSDBG_QUERY_CSV);
    if (!strstr(rows, expected))
        fail_msg("not \"%s\" but: %s", expected, rows);
    free(rows);
}

/* The file may change while the program runs.  So may the choice of the file; a choice that is lost changes nothing. */
static void a_module_is_read_once_and_again_when_its_file_is_another(void **state)
{
    (void)state;
    struct example example;
    struct wsdbg_store *store = NULL;
    struct wsdbg_sources sources = {0};
    example_hang(&example, 1, 1);
    struct wsdbg_module *module = &example.snapshot.modules[0];
    example_ok(wsdbg_store_create("x.db", &example.info, &store));
    example_ok(wsdbg_store_snapshot(store, &example.snapshot));
    example_ok(wsdbg_sources_keep(&sources, store, &example.snapshot, NULL));
    expect_kept(store, "1,?,the module's image was not kept");
    snprintf(module->source_path, sizeof module->source_path, "kernel.cu");
    write_file("kernel.cu", "one", 3);
    example_ok(wsdbg_sources_keep(&sources, store, &example.snapshot, NULL));
    expect_kept(store, "1,kernel.cu,one");
    write_file("kernel.cu", "two", 3);
    example_ok(wsdbg_sources_keep(&sources, store, &example.snapshot, NULL));
    expect_kept(store, "1,kernel.cu,one");
    snprintf(module->source_path, sizeof module->source_path, "step.h");
    write_file("step.h", "three", 5);
    example_ok(wsdbg_sources_keep(&sources, store, &example.snapshot, NULL));
    expect_kept(store, "1,step.h,three");
    module->source_path[0] = '\0';
    example_ok(wsdbg_sources_keep(&sources, store, &example.snapshot, NULL));
    expect_kept(store, "1,step.h,three");
    wsdbg_sources_deinit(&sources);
    wsdbg_store_close(store);
    example_free(&example);
}

static void a_module_without_probes_is_not_kept(void **state)
{
    (void)state;
    struct example example;
    struct wsdbg_store *store = NULL;
    struct wsdbg_sources sources = {0};
    example_quiet(&example, 1);
    example.snapshot.modules[0] = (struct wsdbg_module){.context = WSDBG_NONE};
    example_ok(wsdbg_store_create("x.db", &example.info, &store));
    example_ok(wsdbg_sources_keep(&sources, store, &example.snapshot, NULL));
    assert_int_equal(sources.count, 0);
    wsdbg_sources_deinit(&sources);
    wsdbg_store_close(store);
    example_free(&example);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_text_is_read_whole_and_then_no_ptx_is_looked_for),
        TEST(what_is_no_source_is_named),
        TEST(without_a_source_the_ptx_is_taken),
        TEST(a_module_without_ptx_is_named),
        TEST(a_module_is_read_once_and_again_when_its_file_is_another),
        TEST(a_module_without_probes_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
