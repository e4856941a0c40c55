/* limits_test.c - small files that would cost gigabytes or years: each command says so and ends, within ten seconds
 * (harness.h) and a bounded address space, and its options raise the bound. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <zlib.h>
#include <zstd.h>

#include "cmd/harness.h"
#include "evidence/record.h"

#define MIB ((size_t)1 << 20)
#define RECORDED WSDBG_SOURCE "/tests/recorded/"

/* Sanitizers reserve terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LIMITS_MEMORY = 0 };
#else
enum { LIMITS_MEMORY = 1 };
#endif

static void limit_memory(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    if (LIMITS_MEMORY)
        setrlimit(RLIMIT_AS, &limit);
}

static struct outcome within(size_t mib, const char *const *words)
{
    limit_memory(mib * MIB);
    const struct running running = start(NULL, words);
    limit_memory(RLIM_INFINITY);
    return finish(running);
}

#define WITHIN(mib, ...) within(mib, (const char *const[]){__VA_ARGS__, NULL})

static void check_said(struct outcome outcome, int status, const char *words)
{
    if (outcome.status != status || !strstr(outcome.err, words))
        fail_msg("expected %d and '%s'; got %d: %s", status, words, outcome.status, outcome.err);
    outcome_free(&outcome);
}

/* ---- the options ---- */

static void limits_that_are_none(void **state)
{
    (void)state;
    check_said(WSDBG("report", "x.db", "--time-limit", "soon"), 125, "--time-limit: 'soon' is not a number of seconds");
    check_said(WSDBG("report", "x.db", "--time-limit", "-1"), 125, "--time-limit: '-1' is not a number of seconds");
    check_said(WSDBG("core", "x", "--unpack-limit", "0"), 125, "--unpack-limit: '0' is not a whole number from 1");
    check_said(WSDBG("lint", "x", "--unpack-limit", "1G"), 125, "--unpack-limit: '1G' is not a whole number");
    check_said(WSDBG("replay", "x", "--unpack-limit", "99999999"), 125, "--unpack-limit: '99999999' is not");
}

/* ---- fatbins ---- */

/* One packed stream of so many zeros, as zstd makes it; the caller frees. */
static unsigned char *pack_zeros(size_t zeros, size_t *packed_bytes)
{
    static const char piece[1 << 16];
    size_t room = zeros / 8192 + 4096, left;
    unsigned char *packed = malloc(room);
    ZSTD_CStream *stream = ZSTD_createCStream();
    assert_true(packed && stream);
    ZSTD_outBuffer out = {packed, room, 0};
    ZSTD_CCtx_setPledgedSrcSize(stream, zeros);
    for (size_t done = 0; done < zeros;) {
        ZSTD_inBuffer in = {piece, zeros - done < sizeof piece ? zeros - done : sizeof piece, 0};
        done += in.size;
        do {
            left = ZSTD_compressStream2(stream, &out, &in, done == zeros ? ZSTD_e_end : ZSTD_e_continue);
            assert_false(ZSTD_isError(left));
        } while (in.pos < in.size || (done == zeros && left));
    }
    ZSTD_freeCStream(stream);
    *packed_bytes = out.pos;
    return packed;
}

enum { FATBIN_PTX = 1, FATBIN_CUBIN = 2 };

/* A fatbin with one entry for sm_90, packed by zstd. */
static void make_fatbin(const char *path, uint16_t kind, size_t plain_bytes)
{
    size_t count;
    unsigned char *packed = pack_zeros(plain_bytes, &count);
    const uint64_t padded = (count + 7) / 8 * 8, plain = plain_bytes, flags = 0x8000;
    const uint32_t entry[] = {
        kind | 0x01010000u, 64, (uint32_t)padded, (uint32_t)(padded >> 32), (uint32_t)count, 0, 0, 90, 0, 0};
    const uint64_t fatbin[] = {0x00100001ba55ed50, 64 + padded}, unused = 0;
    FILE *file = fopen(path, "wb");
    fwrite(fatbin, sizeof fatbin, 1, file);
    fwrite(entry, sizeof entry, 1, file);
    fwrite(&flags, sizeof flags, 1, file);
    fwrite(&unused, sizeof unused, 1, file);
    fwrite(&plain, sizeof plain, 1, file);
    fwrite(packed, count, 1, file);
    fwrite("\0\0\0\0\0\0\0", padded - count, 1, file);
    assert_int_equal(ftell(file), (long)(sizeof fatbin + 64 + padded));
    assert_int_equal(fclose(file), 0);
    free(packed);
}

static void a_fatbin_does_not_unpack_to_a_gigabyte(void **state)
{
    (void)state;
    make_fatbin("cubin.fatbin", FATBIN_CUBIN, 1024 * MIB - 8);
    make_fatbin("ptx.fatbin", FATBIN_PTX, 1024 * MIB - 8);
    check_said(WITHIN(400, "lint", "cubin.fatbin"), 125,
               "bytes that unpack to more than 128 MiB; --unpack-limit allows more");
    check_said(WITHIN(400, "lint", "ptx.fatbin"), 125,
               "bytes that unpack to more than 128 MiB; --unpack-limit allows more");
}

static void a_larger_image_is_read_where_somebody_wants_it(void **state)
{
    (void)state;
    make_fatbin("cubin.fatbin", FATBIN_CUBIN, 160 * MIB);
    check_said(WSDBG("lint", "cubin.fatbin"), 125, "--unpack-limit allows more");
    struct outcome read = WSDBG("lint", "--unpack-limit", "160", "cubin.fatbin");
    assert_null(strstr(read.err, "--unpack-limit"));
    check_said(read, 125, "not a cubin");
    check_said(WSDBG("lint", "--unpack-limit", "16", "cubin.fatbin"), 125, "unpack to more than 16 MiB");
}

/* ---- core dumps ---- */

/* Members of gzip, one behind the other, unpack one behind the other. */
static void make_packed_zeros(const char *path, unsigned mib)
{
    unsigned char *zeros = calloc(1, MIB), packed[1 << 14];
    z_stream stream = {.next_in = zeros, .avail_in = MIB, .next_out = packed, .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    FILE *file = fopen(path, "wb");
    for (unsigned i = 0; i < mib; i++)
        assert_int_equal(fwrite(packed, stream.total_out, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    deflateEnd(&stream);
    free(zeros);
}

static void a_packed_dump_does_not_fill_the_disk(void **state)
{
    (void)state;
    char words[128];
    struct stat large;
    make_packed_zeros("small", 400); /* of 400 KiB */
    make_packed_zeros("large", 1600);
    assert_int_equal(stat("large", &large), 0);
    snprintf(words, sizeof words, "bytes that unpack to more than %zu MiB; --unpack-limit allows more",
             256 * (size_t)large.st_size / MIB);
    check_said(WSDBG("core", "small"), 125, "bytes that unpack to more than 128 MiB; --unpack-limit allows more");
    check_said(WSDBG("core", "large"), 125, words);
}

static void a_dump_that_packs_well_is_read_where_somebody_wants_it(void **state)
{
    (void)state;
    make_packed_zeros("dump", 150);
    check_said(WSDBG("core", "dump"), 125, "--unpack-limit allows more");
    struct outcome read = WSDBG("core", "--unpack-limit", "150", "dump");
    assert_null(strstr(read.err, "--unpack-limit"));
    check_said(read, 125, "dump: ");
}

/* ---- recordings ---- */

static void put(FILE *file, const void *bytes, size_t count)
{
    assert_int_equal(fwrite(bytes, count, 1, file), 1);
}

static void a_frame_does_not_unpack_to_half_a_gigabyte(void **state)
{
    (void)state;
    size_t count;
    unsigned char *packed = pack_zeros(500 * MIB, &count);
    const struct wsdbg_record_head head = {.magic = WSDBG_RECORD_MAGIC, .version = WSDBG_RECORD_VERSION};
    const struct wsdbg_record_frame frame = {
        .magic = WSDBG_RECORD_FRAME_MAGIC, .now_ns = 1, .plain_bytes = 500 * MIB, .compressed_bytes = count};
    FILE *file = fopen("x.wsrec", "wb");
    put(file, &head, sizeof head);
    put(file, &frame, sizeof frame);
    put(file, packed, count);
    fclose(file);
    free(packed);
    check_said(WITHIN(300, "replay", "x.wsrec"), 125,
               "bytes that unpack to more than 128 MiB; --unpack-limit allows more");
    check_said(WSDBG("replay", "x.wsrec", "--unpack-limit", "500"), 125, "the frame holds more than its processes");
}

/* The offset of the last frame's head. */
static size_t last_frame(const char *bytes, size_t count)
{
    size_t at = sizeof(struct wsdbg_record_head), last = 0;
    while (at < count) {
        struct wsdbg_record_frame frame;
        memcpy(&frame, bytes + at, sizeof frame);
        assert_int_equal(frame.magic, WSDBG_RECORD_FRAME_MAGIC);
        last = at;
        at += sizeof frame + frame.compressed_bytes;
    }
    return last;
}

/* A recording of a program that ended well, with its last frame so much later. */
static void make_silent(const char *path, uint64_t silence_ns)
{
    static char bytes[1 << 20];
    struct wsdbg_record_frame frame;
    FILE *file = fopen(RECORDED "healthy.wsrec", "rb");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const size_t at = last_frame(bytes, count);
    memcpy(&frame, bytes + at, sizeof frame);
    frame.now_ns += silence_ns;
    memcpy(bytes + at, &frame, sizeof frame);
    write_file(path, bytes, count);
}

static void a_year_without_a_frame_passes_at_once(void **state)
{
    (void)state;
    make_silent("year.wsrec", UINT64_C(365) * 24 * 3600 * 1000000000);
    check_said(WSDBG("replay", "year.wsrec"), 0, "the recording shows no hang");
}

static void a_time_that_no_clock_shows_is_damage(void **state)
{
    (void)state;
    make_silent("x.wsrec", UINT64_MAX / 2);
    check_said(WSDBG("replay", "x.wsrec"), 125, "a frame of a time that no clock shows");
}

/* Each frame is small, and there is one every five minutes, for 300 days. */
static void a_replay_without_end_is_given_up(void **state)
{
    (void)state;
    unsigned char packed[64];
    const struct wsdbg_record_head head = {.magic = WSDBG_RECORD_MAGIC, .version = WSDBG_RECORD_VERSION};
    struct wsdbg_record_frame frame = {.magic = WSDBG_RECORD_FRAME_MAGIC,
                                       .compressed_bytes = ZSTD_compress(packed, sizeof packed, "", 0, 1)};
    FILE *file = fopen("x.wsrec", "wb");
    put(file, &head, sizeof head);
    for (frame.now_ns = 1; frame.now_ns < UINT64_C(86400) * 300 * 1000000000; frame.now_ns += UINT64_C(300000000000)) {
        put(file, &frame, sizeof frame);
        put(file, packed, frame.compressed_bytes);
    }
    fclose(file);
    check_said(WSDBG("replay", "x.wsrec", "--time-limit", "1"), 125,
               "x.wsrec: takes longer than 1 s; --time-limit allows more");
}

/* ---- databases ---- */

#define ENDLESS "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)"

static void make_database(const char *path, const char *change)
{
    sqlite3 *db;
    outcome_free(&(struct outcome[]){WSDBG("replay", RECORDED "arrive-missing.wsrec", "-o", path)}[0]);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, change, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_table_without_end_is_refused_by_every_command(void **state)
{
    (void)state;
    static const char said[] = "x.db: 'grid' is a view, not a table";
    make_database("x.db", "PRAGMA legacy_alter_table = ON; ALTER TABLE grid RENAME TO old;"
                          "CREATE VIEW grid AS " ENDLESS "SELECT * FROM n");
    check_said(WSDBG("report", "x.db"), 125, said);
    check_said(WSDBG("report", "--html", "x.db"), 125, said);
    check_said(WSDBG("query", "x.db", "@stuck"), 125, said);
    check_said(WSDBG("export", "x.db", "--dot", "-"), 125, said);
    check_said(WSDBG("why", "x.db"), 125, said);
    check_said(WSDBG("view", "x.db"), 125, said);
}

static void somebodys_own_question_takes_as_long_as_they_say(void **state)
{
    (void)state;
    make_database("x.db", "SELECT 1");
    check_said(WSDBG("query", "x.db", ENDLESS " SELECT count(*) FROM n", "--time-limit", "0.3"), 125,
               "x.db: query: takes longer than 0.3 s; --time-limit allows more");
    struct running asks = WSDBG_START("query", "x.db", ENDLESS " SELECT count(*) FROM n");
    usleep(300000);
    assert_int_equal(kill(asks.pid, SIGINT), 0); /* Ctrl-C */
    struct outcome asked = finish(asks);
    assert_int_equal(asked.status, -SIGINT);
    outcome_free(&asked);
}

static void every_other_reading_is_given_up(void **state)
{
    (void)state;
    make_database("x.db", "SELECT 1");
    check_said(WSDBG("query", "x.db", "@waits", "--time-limit", "0"), 0, "");
    make_database("y.db", "INSERT INTO log SELECT value, 1, 'stdout', 'x' FROM (WITH RECURSIVE n(value) AS "
                          "(SELECT 1000 UNION ALL SELECT value + 1 FROM n WHERE value < 300000) SELECT value FROM n);"
                          "INSERT INTO name SELECT value, 1, value, 'role', value, 'x', 1, 1, 1, 1, 0 FROM (WITH "
                          "RECURSIVE n(value) AS (SELECT 1000 UNION ALL SELECT value + 1 FROM n WHERE value < 300000) "
                          "SELECT value FROM n)");
    check_said(WSDBG("report", "y.db", "--time-limit", "0.001"), 125,
               "y.db: takes longer than 0.001 s; --time-limit allows more");
    check_said(WSDBG("export", "y.db", "--dot", "out.dot", "--time-limit", "0.001"), 125, "--time-limit allows more");
    assert_int_equal(count_files("out.dot"), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(limits_that_are_none),
        TEST(a_fatbin_does_not_unpack_to_a_gigabyte),
        TEST(a_larger_image_is_read_where_somebody_wants_it),
        TEST(a_packed_dump_does_not_fill_the_disk),
        TEST(a_dump_that_packs_well_is_read_where_somebody_wants_it),
        TEST(a_frame_does_not_unpack_to_half_a_gigabyte),
        TEST(a_year_without_a_frame_passes_at_once),
        TEST(a_time_that_no_clock_shows_is_damage),
        TEST(a_replay_without_end_is_given_up),
        TEST(a_table_without_end_is_refused_by_every_command),
        TEST(somebodys_own_question_takes_as_long_as_they_say),
        TEST(every_other_reading_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
