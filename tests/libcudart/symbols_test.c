/* symbols_test.c - the functions of an ELF file: of this test itself, and of files that are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "static_runtime/symbols.h"

enum { HEADER_BYTES = 64, DAMAGES = 400 };

int a_function_with_this_name(void);

int a_function_with_this_name(void)
{
    return 1;
}

static bool is_ours(const struct symbols_function *function, void *user)
{
    if (strcmp(function->name, "a_function_with_this_name") == 0)
        *(uint64_t *)user = function->address;
    return *(uint64_t *)user == 0;
}

static void a_function_is_found_by_its_name(void **state)
{
    (void)state;
    struct symbols_file file;
    uint64_t address = 0;
    assert_true(symbols_open("/proc/self/exe", &file));
    symbols_each(&file, is_ours, &address);
    assert_true(address != 0);
    assert_false(file.has_device_code);
    symbols_close(&file);
}

static void what_is_no_program_is_not_opened(void **state)
{
    (void)state;
    struct symbols_file file;
    assert_false(symbols_open("/nowhere", &file));
    assert_false(symbols_open("/", &file));
    assert_false(symbols_open(__FILE__, &file));
    assert_null(file.bytes);
}

static bool count(const struct symbols_function *function, void *user)
{
    *(size_t *)user += strlen(function->name) > 0;
    return true;
}

static void write_file(const char *path, const unsigned char *bytes, size_t byte_count)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, byte_count, out), byte_count);
    assert_int_equal(fclose(out), 0);
}

/* The section headers lie at the end: damage in the header, at the end, and files that are cut short. */
static void a_damaged_file_is_read_within_its_bounds(void **state)
{
    (void)state;
    struct symbols_file whole, damaged;
    char path[] = "/tmp/symbols_testXXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    assert_true(symbols_open("/proc/self/exe", &whole));
    unsigned char *bytes = malloc(whole.byte_count);
    assert_non_null(bytes);
    srand(1);
    for (int i = 0; i < DAMAGES; i++) {
        size_t length = whole.byte_count, seen = 0;
        memcpy(bytes, whole.bytes, length);
        if (i % 3 == 0)
            length = (size_t)rand() % length + 1;
        const size_t tail = length < 4096 ? length : 4096;
        for (int times = 0; times < 4; times++) {
            bytes[rand() % (length < HEADER_BYTES ? length : HEADER_BYTES)] ^= i % 2 ? (unsigned char)rand() : 0;
            bytes[length - 1 - (size_t)rand() % tail] = (unsigned char)rand();
        }
        write_file(path, bytes, length);
        if (symbols_open(path, &damaged))
            symbols_each(&damaged, count, &seen);
        symbols_close(&damaged);
    }
    free(bytes);
    symbols_close(&whole);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_found_by_its_name),
        cmocka_unit_test(what_is_no_program_is_not_opened),
        cmocka_unit_test(a_damaged_file_is_read_within_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
