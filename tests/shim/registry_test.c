/* registry_test.c - the segment and its rows, linked directly: runs under the address and thread sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "registry.h"
#include "segment.h"
#include "segment_place.h"
#include "state.h"

#define WRITERS 4
#define LAUNCHES 20000 /* a writer: the ring is lapped several times */

static char session[32];

static int set_up(void **state)
{
    char why[WSDBG_TEXT_BYTES] = "";
    (void)state;
    snprintf(session, sizeof session, "registry%d", (int)getpid());
    if (!segment_create(session, WSDBG_SEGMENT_BYTES_DEFAULT, why))
        fail_msg("%s", why);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return segment_place_remove(session, (int)getpid());
}

static struct wsdbg_segment *segment(void)
{
    return atomic_load(&shim_segment);
}

/* Every field of the row follows from one number, so a row of two writers is seen. */
static struct wsdbg_launch_row made_row(uint32_t number)
{
    struct wsdbg_launch_row row = {.time_ns = number, .stream = number, .function = number, .context = number};
    for (int i = 0; i < 3; i++)
        row.grid[i] = row.block[i] = row.cluster[i] = number;
    row.dynamic_shared_bytes = number;
    row.result = WSDBG_RESULT_PENDING;
    return row;
}

static void assert_one_writer(const struct wsdbg_launch_row *row)
{
    struct wsdbg_launch_row expected = made_row(row->function);
    assert_true(row->time_ns == expected.time_ns && row->stream == expected.stream);
    assert_memory_equal(row->grid, expected.grid, sizeof row->grid);
    assert_memory_equal(row->block, expected.block, sizeof row->block);
    assert_memory_equal(row->cluster, expected.cluster, sizeof row->cluster);
    assert_int_equal(row->dynamic_shared_bytes, expected.dynamic_shared_bytes);
}

/* As session.h tells a reader to copy a row; false when it is not whole. */
static bool read_row(uint64_t entry, struct wsdbg_launch_row *row)
{
    struct wsdbg_launch_row *slot = &segment()->launches[entry % WSDBG_LAUNCH_ROWS];
    uint64_t *to = (uint64_t *)(void *)row, *from = (uint64_t *)(void *)slot;
    if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != entry + 1)
        return false;
    for (size_t i = 0; i < sizeof *row / sizeof *to; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) == entry + 1;
}

static void *write_launches(void *number)
{
    uint32_t base = *(uint32_t *)number * LAUNCHES;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        struct wsdbg_launch_row row = made_row(base + i);
        registry_launch_end(registry_launch_begin(&row), (int)(i % 2));
    }
    return NULL;
}

static void a_reader_never_sees_a_torn_launch(void **state)
{
    pthread_t writer[WRITERS];
    uint32_t number[WRITERS];
    uint64_t whole = 0, before = __atomic_load_n(&segment()->launch_count, __ATOMIC_RELAXED);
    (void)state;
    for (uint32_t i = 0; i < WRITERS; i++) {
        number[i] = i;
        pthread_create(&writer[i], NULL, write_launches, &number[i]);
    }
    for (uint64_t count = before; count < before + WRITERS * LAUNCHES;) {
        count = __atomic_load_n(&segment()->launch_count, __ATOMIC_ACQUIRE);
        for (uint64_t entry = count > 64 ? count - 64 : 0; entry < count; entry++) {
            struct wsdbg_launch_row row;
            if (!read_row(entry, &row))
                continue;
            whole++;
            assert_one_writer(&row);
        }
    }
    for (uint32_t i = 0; i < WRITERS; i++)
        pthread_join(writer[i], NULL);
    assert_true(whole > 0);
    assert_true(segment()->launch_count == before + WRITERS * LAUNCHES);
    /* at rest every row of the last lap is whole, but for those that were counted as lost */
    uint64_t torn = 0;
    for (uint64_t entry = segment()->launch_count - WSDBG_LAUNCH_ROWS; entry < segment()->launch_count; entry++) {
        struct wsdbg_launch_row row = {0};
        if (!read_row(entry, &row)) {
            torn++;
            continue;
        }
        assert_int_equal(row.result, row.function % LAUNCHES % 2);
        assert_int_equal(row.flags, row.result ? WSDBG_LAUNCH_REFUSED : 0);
    }
    assert_true(torn <= segment()->lost_rows);
}

static void a_launch_in_progress_is_marked(void **state)
{
    struct wsdbg_launch_row row = made_row(7), seen = {0};
    (void)state;
    uint64_t entry = registry_launch_begin(&row);
    assert_true(read_row(entry, &seen));
    assert_int_equal(seen.result, WSDBG_RESULT_PENDING);
    registry_launch_end(entry, 0);
    assert_true(read_row(entry, &seen));
    assert_int_equal(seen.result, 0);
}

/* Another thread's entry of the lap before, or of the lap after. */
static void a_row_that_somebody_else_has_taken_is_left_alone(void **state)
{
    struct wsdbg_launch_row row = made_row(8);
    (void)state;
    const uint64_t next = segment()->launch_count, lost = segment()->lost_rows;
    struct wsdbg_launch_row *slot = &segment()->launches[next % WSDBG_LAUNCH_ROWS];
    const struct wsdbg_launch_row before = *slot;
    const uint64_t taken[] = {UINT64_MAX, next + WSDBG_LAUNCH_ROWS + 1};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        segment()->launch_count = next;
        slot->sequence = taken[i];
        assert_true(registry_launch_begin(&row) == UINT64_MAX);
        assert_true(slot->sequence == taken[i]);
        assert_int_equal(slot->stream, before.stream);
        assert_int_equal(segment()->lost_rows, lost + i + 1);
    }
    *slot = before;
}

static void an_entry_that_left_the_ring_is_not_written(void **state)
{
    struct wsdbg_launch_row row = made_row(9), seen = {0};
    (void)state;
    uint64_t old = registry_launch_begin(&row);
    for (int i = 0; i < WSDBG_LAUNCH_ROWS; i++)
        registry_launch_end(registry_launch_begin(&row), 0);
    registry_launch_end(old, 719);
    assert_true(read_row(old + WSDBG_LAUNCH_ROWS, &seen));
    assert_int_equal(seen.result, 0);
    assert_int_equal(seen.flags, 0);
}

static void a_full_table_counts_what_it_lost(void **state)
{
    struct wsdbg_context_row row = {.handle = 1};
    (void)state;
    uint64_t lost = segment()->lost_rows;
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        assert_int_equal(registry_add_context(&row), i);
    assert_int_equal(registry_add_context(&row), WSDBG_UNKNOWN32);
    assert_int_equal(segment()->context_count, WSDBG_CONTEXT_ROWS);
    assert_true(segment()->lost_rows == lost + 1);
}

static void names_beyond_the_table_are_cut_off(void **state)
{
    static struct wsdbg_name many[WSDBG_NAME_ROWS];
    uint32_t first = 99;
    (void)state;
    assert_int_equal(registry_add_names(many, 10, &first), 10);
    assert_int_equal(first, 0);
    assert_int_equal(registry_add_names(many, WSDBG_NAME_ROWS, &first), WSDBG_NAME_ROWS - 10);
    assert_int_equal(first, 10);
    assert_int_equal(segment()->name_count, WSDBG_NAME_ROWS);
}

static void one_function_has_one_row(void **state)
{
    struct wsdbg_function_row row = {.handle = 5, .module = 1, .name = "kernel"};
    (void)state;
    assert_int_equal(registry_add_function(&row), 0);
    assert_int_equal(registry_add_function(&row), 0);
    row.module = 2; /* the handle was reused after its module was unloaded */
    assert_int_equal(registry_add_function(&row), 1);
    assert_int_equal(registry_find_function("kernel"), 0);
    assert_int_equal(registry_find_function("other"), WSDBG_UNKNOWN32);
}

static void *block(void *unused)
{
    registry_thread_enter("cuStreamSynchronize", 3, 77, 1234);
    return unused;
}

static void a_thread_row_is_free_again_after_its_thread(void **state)
{
    pthread_t thread;
    (void)state;
    registry_thread_enter("cuCtxSynchronize", 1, WSDBG_UNKNOWN64, 99);
    assert_string_equal(segment()->threads[0].call, "cuCtxSynchronize");
    assert_true(segment()->threads[0].since_ns == 99);
    registry_thread_leave();
    assert_true(segment()->threads[0].since_ns == 0);
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, block, NULL);
        pthread_join(thread, NULL);
        assert_int_equal(segment()->threads[1].thread_id, 0);
        assert_true(segment()->threads[1].since_ns == 0);
    }
    assert_int_equal(segment()->thread_count, 2);
}

static void the_segment_grows_to_its_limit_and_no_further(void **state)
{
    char why[WSDBG_TEXT_BYTES] = "", path[SEGMENT_PATH_BYTES];
    uint64_t offset = 0;
    void *memory = NULL;
    struct stat status;
    (void)state;
    uint64_t before = segment()->used_bytes;
    shim_lock();
    assert_true(segment_grow(100000, &offset, &memory, why));
    shim_unlock();
    assert_true(offset == before && offset % 4096 == 0);
    assert_true(segment()->used_bytes == before + 102400);
    memset(memory, 0xab, 100000);
    int fd = open(segment_place(session, (int)getpid(), path), O_RDONLY | O_CLOEXEC);
    unsigned char byte = 0;
    assert_int_equal(pread(fd, &byte, 1, (off_t)offset + 99999), 1);
    assert_int_equal(byte, 0xab);
    assert_int_equal(fstat(fd, &status), 0);
    assert_true((uint64_t)status.st_size == segment()->used_bytes);
    close(fd);
    shim_lock();
    assert_false(segment_grow(WSDBG_SEGMENT_BYTES_DEFAULT, &offset, &memory, why));
    shim_unlock();
    assert_non_null(strstr(why, "more than its limit of 32 MiB"));
    assert_true((uint64_t)status.st_size == segment()->used_bytes);
}

static void a_second_process_of_that_name_is_refused(void **state)
{
    char why[WSDBG_TEXT_BYTES] = "";
    (void)state;
    struct wsdbg_segment *mine = segment();
    assert_false(segment_create(session, WSDBG_SEGMENT_BYTES_DEFAULT, why));
    assert_non_null(strstr(why, "File exists"));
    assert_ptr_equal(segment(), mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_thread_row_is_free_again_after_its_thread),
        TEST(a_reader_never_sees_a_torn_launch),
        TEST(a_launch_in_progress_is_marked),
        TEST(a_row_that_somebody_else_has_taken_is_left_alone),
        TEST(an_entry_that_left_the_ring_is_not_written),
        TEST(a_full_table_counts_what_it_lost),
        TEST(names_beyond_the_table_are_cut_off),
        TEST(one_function_has_one_row),
        TEST(the_segment_grows_to_its_limit_and_no_further),
        TEST(a_second_process_of_that_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
