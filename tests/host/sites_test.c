/* sites_test.c - launch sites in a segment of any content: what is read of them is bounded, and a row of another entry,
 * or one that is being written, is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/site_rows.h"
#include "host/site_stacks.h"

/* This process with a file mapped that looks like its segment. */
static struct {
    struct wsdbg_segment *segment;
    struct wsdbg_site_row *rows;
    struct wsdbg_host_maps maps;
    struct wsdbg_host_memory *memory;
    struct wsdbg_host_modules *modules;
    uint32_t file;
    char path[32];
} own;

static uint64_t offset_of_rows(void)
{
    return (sizeof(struct wsdbg_segment) + 4095) / 4096 * 4096;
}

static int set_up(void **state)
{
    const size_t bytes = offset_of_rows() + WSDBG_SITES_ROWS * sizeof(struct wsdbg_site_row);
    (void)state;
    strcpy(own.path, "/tmp/wsdbg-sites-XXXXXX");
    const int fd = mkstemp(own.path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    own.segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(own.segment, MAP_FAILED);
    close(fd);
    own.segment->magic = WSDBG_SEGMENT_MAGIC;
    own.segment->version = WSDBG_SEGMENT_VERSION;
    own.segment->fixed_bytes = sizeof *own.segment;
    own.segment->sites_offset = offset_of_rows();
    own.rows = (struct wsdbg_site_row *)(void *)((char *)own.segment + offset_of_rows());
    assert_null(wsdbg_host_maps_read(getpid(), &own.maps));
    assert_null(wsdbg_host_memory_open(getpid(), UINT64_MAX, &own.memory));
    assert_null(wsdbg_host_modules_create(getpid(), &own.maps, own.memory, &own.modules));
    for (own.file = 0; own.file < own.maps.file_count && strcmp(own.maps.files[own.file].path, own.path) != 0;)
        own.file++;
    assert_true(own.file < own.maps.file_count);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wsdbg_host_modules_destroy(own.modules);
    wsdbg_host_memory_close(own.memory);
    wsdbg_host_maps_free(&own.maps);
    unlink(own.path);
    return 0;
}

static bool find(struct wsdbg_site_rings *rings)
{
    wsdbg_host_memory_forget(own.memory);
    return wsdbg_site_rings_find(&own.maps, own.file, own.memory, rings);
}

static void only_rings_that_are_there_are_read(void **state)
{
    struct wsdbg_site_rings rings;
    (void)state;
    assert_true(find(&rings));
    assert_int_equal(rings.rows, (uint64_t)(uintptr_t)own.rows);
    const struct {
        void *word;
        uint64_t value;
    } wrong[] = {{&own.segment->magic, 1},
                 {&own.segment->fixed_bytes, offsetof(struct wsdbg_segment, sites_offset)},
                 {&own.segment->sites_offset, 0},
                 {&own.segment->sites_offset, offset_of_rows() + 4096},
                 {&own.segment->sites_offset, UINT64_MAX - 4096}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t right;
        memcpy(&right, wrong[i].word, sizeof right);
        memcpy(wrong[i].word, &wrong[i].value, sizeof right);
        assert_false(find(&rings));
        memcpy(wrong[i].word, &right, sizeof right);
    }
    assert_false(wsdbg_site_rings_find(&own.maps, UINT32_MAX, own.memory, &rings));
}

static void a_row_of_another_entry_is_none(void **state)
{
    static const struct {
        uint64_t sequence, asked;
        bool is_there;
    } rows[] = {{6, 5, true},
                {0, 5, false},                              /* never written */
                {UINT64_MAX, 5, false},                     /* being written */
                {6 + WSDBG_SITES_LAUNCHED_ROWS, 5, false},  /* a later one has its place */
                {6, 5 + WSDBG_SITES_LAUNCHED_ROWS, false}}; /* not there yet */
    struct wsdbg_site_rings rings;
    struct wsdbg_site_row row;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        own.rows[5].sequence = rows[i].sequence;
        assert_true(find(&rings));
        assert_int_equal(wsdbg_site_row_read(&rings, WSDBG_SITES_LAUNCHED, rows[i].asked, &row), rows[i].is_there);
    }
}

static void counts_are_cut_to_what_a_row_holds(void **state)
{
    struct wsdbg_site_rings rings;
    struct wsdbg_site_row row;
    (void)state;
    struct wsdbg_site_row *at = &own.rows[WSDBG_SITES_LAUNCHED_ROWS + 3]; /* entry 3 of the next ring */
    *at = (struct wsdbg_site_row){.sequence = 4, .python_frames = UINT32_MAX, .stack_words = UINT32_MAX};
    assert_true(find(&rings));
    assert_true(wsdbg_site_row_read(&rings, WSDBG_SITES_CAPTURED, 3, &row));
    assert_int_equal(row.python_frames, WSDBG_SITE_PYTHON_FRAMES);
    assert_int_equal(row.stack_words, WSDBG_SITE_WORDS - WSDBG_SITE_PYTHON_FRAMES * WSDBG_SITE_FRAME_WORDS);
}

/* Code of this program, addresses of the row's own stack, and anything. */
static uint64_t noise(uint64_t sp)
{
    switch (random() % 4) {
    case 0:
        return (uint64_t)(uintptr_t)&qsort + (uint64_t)(random() % 256);
    case 1:
        return (uint64_t)(uintptr_t)&find + (uint64_t)(random() % 512);
    case 2:
        return sp + (uint64_t)(random() % 2048);
    default:
        return (uint64_t)random() << (random() % 34);
    }
}

static void fill_with_noise(struct wsdbg_site_row *row, uint64_t entry)
{
    const uint64_t sp = 0x7ff000000000 + (uint64_t)(random() % 4096) * 8;
    *row = (struct wsdbg_site_row){.sequence = entry + 1,
                                   .owner = (uint64_t)(random() % 8),
                                   .group = (uint64_t)(random() % 2),
                                   .capture = (uint32_t)(random() % 3),
                                   .function = (uint32_t)(random() % 3),
                                   .thread_id = (uint32_t)random(),
                                   .python_frames = (uint32_t)(random() % 40),
                                   .stack_words = (uint32_t)(random() % 300)};
    for (int i = 0; i < WSDBG_SITE_REGISTERS; i++)
        row->registers[i] = noise(sp);
    row->registers[WSDBG_SITE_RSP] = random() % 16 ? sp : noise(sp);
    for (int i = 0; i < WSDBG_SITE_WORDS; i++)
        row->words[i] = noise(sp);
}

static void rows_of_noise_give_bounded_stacks(void **state)
{
    static struct wsdbg_host_wanted wanted[WSDBG_HOST_WANTED_MAX];
    const struct wsdbg_host_reader reader = {.process = getpid(), .memory = own.memory, .modules = own.modules};
    (void)state;
    srandom(24);
    for (int round = 0; round < 4; round++) {
        struct wsdbg_snapshot rows = {0};
        size_t count = 0;
        for (uint32_t i = 0; i < WSDBG_SITES_ROWS; i++)
            fill_with_noise(&own.rows[i], i < WSDBG_SITES_LAUNCHED_ROWS ? i : (i - WSDBG_SITES_LAUNCHED_ROWS) % 512);
        own.segment->site_counts[WSDBG_SITES_CAPTURED] = round % 2 ? 700 : UINT64_MAX;
        own.segment->site_counts[WSDBG_SITES_CALLED] = 300;
        for (; count < 100; count++)
            wanted[count] = (struct wsdbg_host_wanted){
                .ring = WSDBG_SITES_LAUNCHED, .owner = (uint64_t)(random() % 4096), .tag = (uint32_t)count / 8};
        for (; count < 110; count++)
            wanted[count] = (struct wsdbg_host_wanted){
                .ring = WSDBG_SITES_CALLED, .owner = (uint64_t)(random() % 8), .group = 1, .tag = (uint32_t)count};
        wanted[count++] = (struct wsdbg_host_wanted){.ring = WSDBG_SITES_CAPTURED, .function_row = 1, .tag = 999};
        wsdbg_host_memory_forget(own.memory);
        const struct wsdbg_host_request request = {
            .process_id = (uint32_t)getpid(), .wanted = wanted, .wanted_count = count};
        assert_null(wsdbg_site_stacks_read(&reader, own.file, &request, &rows));
        assert_in_range(rows.launch_site_count, 11, 2 * WSDBG_HOST_WANTED_MAX);
        for (size_t i = 0; i < rows.launch_site_count; i++) {
            const struct wsdbg_launch_site *site = &rows.launch_sites[i];
            assert_true(site->frame_first + (uint64_t)site->frame_count <= rows.site_frame_count);
            assert_true(site->frame_count > 0 || site->end[0]);
        }
        wsdbg_snapshot_deinit(&rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_rings_that_are_there_are_read),
        cmocka_unit_test(a_row_of_another_entry_is_none),
        cmocka_unit_test(counts_are_cut_to_what_a_row_holds),
        cmocka_unit_test(rows_of_noise_give_bounded_stacks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
