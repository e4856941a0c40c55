/* image_test.c - how big module images are, and how much of them is kept; linked directly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wsdbg/session.h"
#include "module_image.h"

#define IMAGE_BYTES (8u << 20) /* the largest that is kept */
#define PAGE_BYTES 4096
#define IMAGES 8 /* so many of those are */

static void image_sizes_come_from_their_headers(void **state)
{
    const void *start = NULL;
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t body_bytes;
    } fatbin = {0xba55ed50u, 1, 16, 4000};
    struct {
        uint32_t magic, version;
        const void *data, *more;
    } wrapper = {0x466243b1u, 1, &fatbin, NULL};
    static const char ptx[] = "// made by hand\n.version 8.0\n";
    static const char noise[16] = {1, 2, 3, 4, 5};
    (void)state;
    assert_true(image_bytes(&fatbin, &start) == 4016 && start == &fatbin);
    assert_true(image_bytes(&wrapper, &start) == 4016 && start == &fatbin);
    assert_true(image_bytes(ptx, &start) == sizeof ptx - 1 && start == ptx);
    assert_true(image_bytes(noise, &start) == 0);
}

struct fatbin {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t body_bytes;
};

static char spool[] = "/tmp/wsdbg-image-XXXXXX";

/* Bytes of the copy, removed; 0 = there is none. */
static uint64_t take_copy(uint32_t number)
{
    char path[128];
    struct stat status = {0};
    snprintf(path, sizeof path, "%s/%d-refused-%u.image", spool, (int)getpid(), number);
    if (stat(path, &status) == 0)
        unlink(path);
    return (uint64_t)status.st_size;
}

/* It may end where nothing is mapped, before what its first bytes promise. */
static void an_image_of_which_nothing_is_believed_is_read_where_something_is(void **state)
{
    (void)state;
    char *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    munmap(pages + PAGE_BYTES, PAGE_BYTES);
    for (size_t bytes = 1; bytes <= 64; bytes++) {
        char *image = pages + PAGE_BYTES - bytes;
        const uint32_t magic[] = {0x464c457fu, 0xba55ed50u, 0x466243b1u}; /* an ELF, a fatbin, the pointer to one */
        for (size_t i = 0; i < sizeof magic / sizeof *magic; i++) {
            memset(image, 0, bytes);
            memcpy(image, &magic[i], bytes < sizeof *magic ? bytes : sizeof *magic);
            assert_true(image_bytes_told(image) < 1 << 20);
        }
    }
    munmap(pages, PAGE_BYTES);
}

/* Images that the driver refused count as those that it took; what was not kept in the end counts for nothing. */
static void refused_images_are_kept_up_to_the_bound(void **state)
{
    (void)state;
    struct fatbin *large = calloc(1, IMAGE_BYTES);
    assert_non_null(large);
    *large = (struct fatbin){0xba55ed50u, 1, 16, IMAGE_BYTES - 16};
    char *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    munmap(pages + PAGE_BYTES, PAGE_BYTES);
    struct fatbin *cut = (void *)(pages + PAGE_BYTES - 64); /* says that it goes on for 4 MiB */
    *cut = (struct fatbin){0xba55ed50u, 1, 16, UINT64_C(1) << 22};
    for (uint32_t n = 0; n < 2 * IMAGES; n++) {
        assert_true(image_keep_refused("a short text", 100 + n));
        assert_int_equal(take_copy(100 + n), strlen("a short text"));
        assert_false(image_keep_refused(cut, 200 + n));
        assert_int_equal(take_copy(200 + n), 0);
    }
    for (uint32_t n = 0; n + 1 < IMAGES; n++) {
        assert_true(image_keep_refused(large, n));
        assert_int_equal(take_copy(n), IMAGE_BYTES);
    }
    assert_false(image_keep_refused(large, IMAGES)); /* the short texts left less than 8 MiB */
    assert_int_equal(take_copy(IMAGES), 0);
    free(large);
    munmap(pages, PAGE_BYTES);
}

int main(void)
{
    if (!mkdtemp(spool) || setenv(WSDBG_ENV_SPOOL, spool, 1) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_sizes_come_from_their_headers),
        cmocka_unit_test(an_image_of_which_nothing_is_believed_is_read_where_something_is),
        cmocka_unit_test(refused_images_are_kept_up_to_the_bound),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(spool);
    return failed;
}
