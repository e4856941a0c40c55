/* ptx_test.c - the PTX of a module's image: which of several, how it is unpacked, and why there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/cubin.h"
#include "sass/images.h"
#include "sass/ptx.h"

#define MOST ((size_t)4 << 20)

/* Where fields lie: in the fatbin's header, and in an entry's. */
enum { HEADER_BYTES = 6, ENTRIES_BYTES = 8, FIRST_ENTRY = 16 };
enum { ENTRY_HEADER = 4, STORED = 8, PACKED = 16, ARCHITECTURE = 28, FLAGS = 40, PLAIN = 56 };
enum { OLD_PACKING = 0x1000, ARCHITECTURE_ONLY = 0x100000 };

/* Works on a copy of just these bytes: a sanitizer sees one read too many. */
static struct wsdbg_error *ptx_of(const void *bytes, size_t count, size_t most, char **out)
{
    unsigned char *copy = malloc(count ? count : 1);
    memcpy(copy, bytes, count);
    struct wsdbg_error *error = wsdbg_ptx_of_image(&(struct wsdbg_image){copy, count}, most, out);
    free(copy);
    return error;
}

static void assert_ptx(const struct bytes *image, const char *expected)
{
    char *text = NULL;
    struct wsdbg_error *error = ptx_of(image->at, image->count, MOST, &text);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    if (!strstr(text, expected))
        fail_msg("no \"%s\" in: %s", expected, text);
    free(text);
}

static void assert_refused(const void *bytes, size_t count, size_t most, const char *expected)
{
    char *text = NULL;
    struct wsdbg_error *error = ptx_of(bytes, count, most, &text);
    assert_null(text);
    assert_non_null(error);
    if (!strstr(wsdbg_error_message(error), expected) || strchr(wsdbg_error_message(error), '\n'))
        fail_msg("\"%s\" is not one line with \"%s\"", wsdbg_error_message(error), expected);
    wsdbg_error_destroy(error);
}

static void set_u32(struct bytes *image, size_t offset, uint32_t value)
{
    memcpy(image->at + offset, &value, sizeof value);
}

static void set_u64(struct bytes *image, size_t offset, uint64_t value)
{
    memcpy(image->at + offset, &value, sizeof value);
}

/* Where entry `number` of an undamaged fatbin begins. */
static size_t entry(const struct bytes *image, int number)
{
    size_t at = FIRST_ENTRY;
    for (; number > 0; number--) {
        uint32_t header;
        uint64_t stored;
        memcpy(&header, image->at + at + ENTRY_HEADER, sizeof header);
        memcpy(&stored, image->at + at + STORED, sizeof stored);
        at += header + stored;
    }
    return at;
}

static void each_way_of_packing_gives_the_text(void **state)
{
    static const char *const names[] = {"default", "none", "speed"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bytes image = read_image(names[i]);
        assert_ptx(&image, ".visible .entry _Z1kPi(");
        assert_ptx(&image, ".file\t1 \"/kernels/add.cu\"\n");
        free(image.at);
    }
}

static void the_newest_architecture_up_to_90a_is_taken(void **state)
{
    (void)state;
    struct bytes image = read_image("none");
    assert_ptx(&image, ".target sm_90a\n");
    set_u32(&image, entry(&image, 0) + ARCHITECTURE, 120);
    assert_ptx(&image, ".target sm_80\n");
    set_u32(&image, entry(&image, 0) + ARCHITECTURE, 70);
    assert_ptx(&image, ".target sm_80\n");
    free(image.at);
}

static void of_90_and_90a_the_latter_is_taken_in_any_order(void **state)
{
    (void)state;
    struct bytes image = read_image("none");
    set_u32(&image, entry(&image, 1) + ARCHITECTURE, 90);
    assert_ptx(&image, ".target sm_90a\n");
    set_u32(&image, entry(&image, 0) + FLAGS, 0x11);
    set_u32(&image, entry(&image, 1) + FLAGS, 0x11 | ARCHITECTURE_ONLY);
    assert_ptx(&image, ".target sm_80\n"); /* the text of the second, which now says that it is for 90a */
    free(image.at);
}

static void plain_text_is_its_own_ptx(void **state)
{
    static const char text[] = "\n.version 9.0\n.target sm_90a\n\0rest";
    char *out = NULL;
    (void)state;
    assert_null(ptx_of(text, sizeof text, MOST, &out));
    assert_string_equal(out, "\n.version 9.0\n.target sm_90a\n");
    free(out);
}

static void an_image_without_ptx_says_so(void **state)
{
    (void)state;
    struct bytes image = read_image("machine_code");
    assert_refused(image.at, image.count, MOST, "the module holds no PTX for sm_90 or older");
    free(image.at);
    assert_refused("\177ELF\2\1\1", 8, MOST, "the module is a cubin, which holds no PTX");
    assert_refused("\1\2\3\4", 4, MOST, "neither PTX nor a fatbin nor a cubin");
    assert_refused("", 0, MOST, "neither PTX nor a fatbin nor a cubin");
    assert_refused("\xb1\x43\x62\x46\1\0\0\0", 8, MOST, "only the wrapper of a fatbin");
}

static void the_old_packing_is_refused_in_words(void **state)
{
    (void)state;
    struct bytes image = read_image("speed");
    set_u32(&image, FIRST_ENTRY + FLAGS, 0x100011 | OLD_PACKING);
    assert_refused(image.at, image.count, MOST, "packed the old way, which wsdbg cannot unpack");
    free(image.at);
}

static void a_text_beyond_the_limit_is_not_unpacked(void **state)
{
    (void)state;
    struct bytes image = read_image("default");
    assert_refused(image.at, image.count, 423, "424 bytes, at most 423 are read");
    set_u64(&image, FIRST_ENTRY + PLAIN, UINT64_MAX);
    assert_refused(image.at, image.count, SIZE_MAX, "18446744073709551615 bytes, at most");
    free(image.at);
    assert_refused(".version 9.0", 12, 11, "12 bytes, at most 11 are read");
}

static void lengths_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        size_t offset;
        uint64_t value;
        size_t bytes;
        const char *reason;
    } damages[] = {
        {HEADER_BYTES, 15, 2, "a header longer than the fatbin"},
        {HEADER_BYTES, 0xffff, 2, "a header longer than the fatbin"},
        {ENTRIES_BYTES, UINT64_MAX, 8, "entries longer than the fatbin"},
        {ENTRIES_BYTES, 63, 8, "cut within the header of an entry"},
        {FIRST_ENTRY + ENTRY_HEADER, 0, 4, "an entry whose header is longer than what is left"},
        {FIRST_ENTRY + ENTRY_HEADER, UINT32_MAX, 4, "an entry whose header is longer than what is left"},
        {FIRST_ENTRY + STORED, UINT64_MAX, 8, "an entry longer than what is left"},
        {FIRST_ENTRY + PACKED, UINT32_MAX, 4, "an entry that packs more bytes than it holds"},
        {FIRST_ENTRY + PACKED, 100, 4, "does not unpack to the 424 bytes it promises"},
        {FIRST_ENTRY + PLAIN, 425, 8, "does not unpack to the 425 bytes it promises"},
        {FIRST_ENTRY + PLAIN, 423, 8, "does not unpack to the 423 bytes it promises"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct bytes image = read_image(i % 2 ? "default" : "speed");
        memcpy(image.at + damages[i].offset, &damages[i].value, damages[i].bytes);
        assert_refused(image.at, image.count, MOST, damages[i].reason);
        free(image.at);
    }
}

/* Down to the four bytes that make it a fatbin. */
static void every_cut_of_an_image_is_refused(void **state)
{
    (void)state;
    struct bytes image = read_image("default");
    for (size_t count = 4; count < image.count; count++)
        assert_refused(image.at, count, MOST, "");
    free(image.at);
}

/* What comes out does not matter: a sanitizer watches. */
static void no_changed_byte_leads_out_of_the_image(void **state)
{
    static const char *const names[] = {"default", "none", "speed", "machine_code"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bytes image = read_image(names[i]);
        for (size_t at = 0; at < image.count; at++) {
            char *text = NULL;
            image.at[at] ^= 0xff;
            struct wsdbg_error *error = ptx_of(image.at, image.count, MOST, &text);
            assert_true((error != NULL) == (text == NULL));
            wsdbg_error_destroy(error);
            free(text);
            image.at[at] ^= 0xff;
        }
        free(image.at);
    }
}

/* -lineinfo: the text is in the cubin, on the lines it had. */
static void a_cubin_with_lines_keeps_its_ptx(void **state)
{
    (void)state;
    struct bytes image = read_image("lines");
    char *bytes, *text;
    size_t count, length;
    struct wsdbg_cubin *cubin;
    assert_null(wsdbg_cubin_of_image(&(struct wsdbg_image){image.at, image.count}, MOST, &bytes, &count));
    assert_null(wsdbg_cubin_open(&(struct wsdbg_image){(unsigned char *)bytes, count}, &cubin));
    assert_null(wsdbg_cubin_ptx(cubin, MOST, &text, &length));
    assert_int_equal(strlen(text), length);
    assert_non_null(strstr(text, "\n.target sm_90"));
    assert_non_null(strstr(text, "\nret;\n"));
    free(text);
    struct wsdbg_error *error = wsdbg_cubin_ptx(cubin, length - 1, &text, &length);
    assert_non_null(strstr(wsdbg_error_message(error), "at most"));
    wsdbg_error_destroy(error);
    wsdbg_cubin_close(cubin);
    free(bytes);
    free(image.at);
}

static void one_without_has_none(void **state)
{
    (void)state;
    struct bytes image = read_image("functions");
    char *bytes, *text = NULL;
    size_t count, length;
    struct wsdbg_cubin *cubin;
    assert_null(wsdbg_cubin_of_image(&(struct wsdbg_image){image.at, image.count}, MOST, &bytes, &count));
    assert_null(wsdbg_cubin_open(&(struct wsdbg_image){(unsigned char *)bytes, count}, &cubin));
    struct wsdbg_error *error = wsdbg_cubin_ptx(cubin, MOST, &text, &length);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_NOT_FOUND);
    assert_null(text);
    wsdbg_error_destroy(error);
    wsdbg_cubin_close(cubin);
    free(bytes);
    free(image.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_of_packing_gives_the_text),
        cmocka_unit_test(a_cubin_with_lines_keeps_its_ptx),
        cmocka_unit_test(one_without_has_none),
        cmocka_unit_test(the_newest_architecture_up_to_90a_is_taken),
        cmocka_unit_test(of_90_and_90a_the_latter_is_taken_in_any_order),
        cmocka_unit_test(plain_text_is_its_own_ptx),
        cmocka_unit_test(an_image_without_ptx_says_so),
        cmocka_unit_test(the_old_packing_is_refused_in_words),
        cmocka_unit_test(a_text_beyond_the_limit_is_not_unpacked),
        cmocka_unit_test(lengths_that_do_not_fit_are_refused),
        cmocka_unit_test(every_cut_of_an_image_is_refused),
        cmocka_unit_test(no_changed_byte_leads_out_of_the_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
