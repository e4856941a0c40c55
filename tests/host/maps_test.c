/* maps_test.c - which file an address is taken to be of: where the program's code was replaced by a copy that is of no
 * file, and where the process has mapped the file once more to read it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/native_unwind.h"

/* ---- text ---- */

static const struct wsdbg_host_mapping *find(struct wsdbg_host_maps *maps, const char *text, uint64_t address)
{
    FILE *lines = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(lines);
    assert_null(wsdbg_host_maps_parse(lines, maps));
    fclose(lines);
    return wsdbg_host_mapping_at(maps, address);
}

static void code_between_two_mappings_of_a_file_is_the_file_s(void **state)
{
    static const char text[] = "1000-2000 r--p 00000000 08:01 7 /a/app\n"
                               "2000-4000 r-xp 00000000 00:00 0 \n"
                               "4000-5000 r--p 00003000 08:01 7 /a/app\n";
    struct wsdbg_host_maps maps;
    (void)state;
    const struct wsdbg_host_mapping *mapping = find(&maps, text, 0x3000);
    assert_non_null(mapping);
    assert_string_equal(maps.files[mapping->file].path, "/a/app");
    assert_true(mapping->is_copy && mapping->is_code);
    assert_int_equal(mapping->offset, 0x1000);
    assert_false(wsdbg_host_mapping_at(&maps, 0x4000)->is_copy);
    wsdbg_host_maps_free(&maps);
}

static void other_memory_is_no_file_s(void **state)
{
    static const char *const texts[] = {
        "2000-4000 r-xp 00000000 00:00 0 \n4000-5000 r--p 00003000 08:01 7 /a/app\n",
        "1000-2000 r--p 00000000 08:01 7 /a/app\n2000-4000 r-xp 00000000 00:00 0 \n",
        "1000-2000 r--p 00000000 08:01 7 /a/app\n2000-4000 rw-p 00000000 00:00 0 \n4000-5000 r--p 3000 08:01 7 "
        "/a/app\n",
        "1000-2000 r--p 00000000 08:01 7 /a/app\n2000-4000 r-xp 00000000 00:00 0 [vdso]\n"
        "4000-5000 r--p 3000 08:01 7 /a/app\n",
        "1000-2000 r--p 00000000 08:01 7 /a/app\n2000-4000 r-xp 00000000 00:00 0 \n4000-5000 r--p 0 08:01 8 /a/other\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct wsdbg_host_maps maps;
        assert_null(find(&maps, texts[i], 0x3000));
        wsdbg_host_maps_free(&maps);
    }
}

/* ---- this process ---- */

/* The innermost frame of a stack that begins at `pc`. */
static struct wsdbg_native_frame frame_at(uint64_t pc, const char **path, uint64_t *bias)
{
    static struct wsdbg_native_stack stack;
    static struct wsdbg_host_maps maps;
    struct wsdbg_host_memory *memory = NULL;
    struct wsdbg_host_modules *modules = NULL;
    wsdbg_host_maps_free(&maps);
    assert_null(wsdbg_host_maps_read(getpid(), &maps));
    assert_null(wsdbg_host_memory_open(getpid(), UINT64_MAX, &memory));
    assert_null(wsdbg_host_modules_create(getpid(), &maps, memory, &modules));
    const struct wsdbg_native_start start = {.pc = pc, .sp = (uint64_t)(uintptr_t)&start};
    wsdbg_native_unwind(modules, memory, &start, &stack);
    const struct wsdbg_native_frame frame = stack.frames[0];
    *path = frame.file < maps.file_count ? maps.files[frame.file].path : "";
    *bias = frame.file < maps.file_count ? wsdbg_host_module_bias(wsdbg_host_modules_get(modules, frame.file)) : 0;
    wsdbg_host_modules_destroy(modules);
    wsdbg_host_memory_close(memory);
    return frame;
}

static struct wsdbg_host_mapping own_code(void)
{
    struct wsdbg_host_maps maps;
    assert_null(wsdbg_host_maps_read(getpid(), &maps));
    const struct wsdbg_host_mapping own = *wsdbg_host_mapping_at(&maps, (uint64_t)(uintptr_t)&own_code);
    wsdbg_host_maps_free(&maps);
    return own;
}

static void replace(const struct wsdbg_host_mapping *own)
{
    const size_t bytes = own->end - own->start;
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(copy, MAP_FAILED);
    memcpy(copy, (const void *)(uintptr_t)own->start, bytes);
    assert_int_equal(mprotect(copy, bytes, PROT_READ | PROT_EXEC), 0);
    assert_ptr_not_equal(mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)own->start),
                         MAP_FAILED);
}

static void assert_is_own(uint64_t pc, uint64_t bias)
{
    char program[4096] = "";
    const char *path;
    uint64_t found;
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    const struct wsdbg_native_frame frame = frame_at(pc, &path, &found);
    assert_string_equal(path, program);
    assert_int_equal(found, bias);
    assert_int_equal(frame.address, pc - bias);
}

/* Twice the same answer: before and after. */
static void replaced_code_is_still_the_program_s(void **state)
{
    const uint64_t pc = (uint64_t)(uintptr_t)&assert_is_own;
    const struct wsdbg_host_mapping own = own_code();
    const char *path;
    uint64_t bias;
    (void)state;
    frame_at(pc, &path, &bias);
    replace(&own);
    assert_is_own(pc, bias);
}

static void a_file_that_is_also_read_keeps_its_place(void **state)
{
    const uint64_t pc = (uint64_t)(uintptr_t)&assert_is_own;
    const char *path;
    uint64_t bias;
    (void)state;
    frame_at(pc, &path, &bias);
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const off_t bytes = lseek(fd, 0, SEEK_END);
    void *before = mmap((void *)0x10000000, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0); /* only a wish */
    close(fd);
    assert_ptr_not_equal(before, MAP_FAILED);
    assert_is_own(pc, bias);
    const struct wsdbg_native_frame frame = frame_at((uint64_t)(uintptr_t)before + 64, &path, &bias);
    assert_int_equal(frame.file, UINT32_MAX); /* no code, and not an offset far beyond the file's end */
    munmap(before, (size_t)bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_between_two_mappings_of_a_file_is_the_file_s),
        cmocka_unit_test(other_memory_is_no_file_s),
        cmocka_unit_test(a_file_that_is_also_read_keeps_its_place),
        cmocka_unit_test(replaced_code_is_still_the_program_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
