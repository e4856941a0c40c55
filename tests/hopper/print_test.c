/* print_test.c - printf in kernels: the text that comes of a format and of arguments as nvcc lays them out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/kernel.h"

static char printed[8192];

static void keep(const char *text, size_t length)
{
    const size_t before = strlen(printed);
    assert_true(before + length < sizeof printed);
    memcpy(printed + before, text, length);
    printed[before + length] = '\0';
}

/* `stores` fills the 64 bytes of arguments behind %SP. */
static void text_of(const char *format, const char *stores, const char *expected, uint32_t expected_count,
                    uint32_t threads)
{
    char bytes[2048] = "", text[8192];
    for (size_t i = 0; i <= strlen(format); i++)
        snprintf(bytes + strlen(bytes), sizeof bytes - strlen(bytes), "%s%u", i ? ", " : "", (unsigned char)format[i]);
    snprintf(text, sizeof text,
             PTX_HEAD
             ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n"
             ".global .align 1 .b8 form[%zu] = {%s};\n.global .align 1 .b8 word[6] = {104, 101, 108, 108, 111, 0};\n"
             ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n.local .align 8 .b8 depot[64];\n"
             ".reg .b32 %%r<8>;\n.reg .b64 %%d<8>;\n.reg .f64 %%e<4>;\n.reg .pred %%p<4>;\n"
             "mov.u64 %%d0, depot;\ncvta.local.u64 %%d1, %%d0;\nmov.u32 %%r0, %%tid.x;\n%s"
             "mov.u64 %%d2, form;\ncvta.global.u64 %%d2, %%d2;\n{\n"
             ".param .b64 a;\nst.param.b64 [a], %%d2;\n.param .b64 b;\nst.param.b64 [b], %%d1;\n"
             ".param .b32 c;\ncall.uni (c), vprintf, (a, b);\nld.param.b32 %%r7, [c];\n}\n"
             "ld.param.u64 %%d5, [out];\nst.global.u32 [%%d5], %%r7;\nret;\n}\n",
             strlen(format) + 1, bytes, stores);
    struct machine machine;
    const struct wsdbg_gpu_options options = {.multiprocessors = MACHINE_SMS, .print = keep};
    *printed = '\0';
    machine_create(&machine, text, &options);
    machine_launch(&machine, 1, threads);
    machine_finish(&machine);
    assert_string_equal(printed, expected);
    assert_int_equal(machine_word(&machine, 0), expected_count);
    machine_destroy(&machine);
}

#define WHOLE(at, value) "mov.u32 %r1, " #value ";\nst.local.u32 [%d0+" #at "], %r1;\n"
#define LONG(at, value) "mov.u64 %d3, " #value ";\nst.local.u64 [%d0+" #at "], %d3;\n"
#define DOUBLE(at, value) "mov.f64 %e1, " #value ";\nst.local.f64 [%d0+" #at "], %e1;\n"

static void text_without_arguments(void **state)
{
    (void)state;
    text_of("", "", "", 0, 1);
    text_of("a\n", "", "a\n", 0, 1);
    text_of("100%% %", "", "100% %", 0, 1);
    text_of("%y", "", "%y", 0, 1);
}

static void conversions(void **state)
{
    (void)state;
    text_of("%d %u %x|%X %o %i", WHOLE(0, -7) WHOLE(4, -1) WHOLE(8, 255) WHOLE(12, 255) WHOLE(16, 8) WHOLE(20, 3),
            "-7 4294967295 ff|FF 10 3", 6, 1);
    text_of("%ld %lu %llx", LONG(0, -5) LONG(8, 0x100000000) LONG(16, 0x123456789ab), "-5 4294967296 123456789ab", 3,
            1);
    text_of("%c%c", WHOLE(0, 111) WHOLE(4, 107), "ok", 2, 1);
    text_of("%f %e %g", DOUBLE(0, 0d3ff8000000000000) DOUBLE(8, 0d40c3880000000000) DOUBLE(16, 0d3fb0000000000000),
            "1.500000 1.000000e+04 0.0625", 3, 1);
    text_of("<%s> %p", "mov.u64 %d3, word;\ncvta.global.u64 %d3, %d3;\nst.local.u64 [%d0], %d3;\n" LONG(8, 0x10),
            "<hello> 0x10", 2, 1);
    text_of("%s", LONG(0, 5), "?", 1, 1); /* no memory there */
}

static void widths_and_alignment(void **state)
{
    (void)state;
    /* A double behind an int begins at 8. */
    text_of("%d %.2f", WHOLE(0, 1) DOUBLE(8, 0d4000000000000000), "1 2.00", 2, 1);
    text_of("[%5d][%-5d][%05d][%+d][%#x]", WHOLE(0, 42) WHOLE(4, 42) WHOLE(8, 42) WHOLE(12, 42) WHOLE(16, 42),
            "[   42][42   ][00042][+42][0x2a]", 5, 1);
    text_of("[%*d][%.*f]", WHOLE(0, 4) WHOLE(4, 7) WHOLE(8, 1) DOUBLE(16, 0d3ff4000000000000), "[   7][1.2]", 4, 1);
    text_of("%hd %hhd", WHOLE(0, 3) WHOLE(4, 4), "3 4", 2, 1);
}

static void threads_in_their_order(void **state)
{
    (void)state;
    text_of("%d,", "st.local.u32 [%d0], %r0;\n", "0,1,2,3,4,", 1, 5);
}

/* Whatever a format asks for: as much as fits, and no more arguments than the thread has memory. */
static void formats_of_an_enemy(void **state)
{
    (void)state;
    char expected[1000] = "";
    memset(expected, ' ', 998);
    expected[998] = '7';
    text_of("%999d", WHOLE(0, 7), expected, 1, 1);
    text_of("%n", "", "%n", 0, 1);
    text_of("%-+ #0-+ #0-+ #0d", WHOLE(0, 1), "+1", 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_without_arguments), cmocka_unit_test(conversions),
        cmocka_unit_test(widths_and_alignment),   cmocka_unit_test(threads_in_their_order),
        cmocka_unit_test(formats_of_an_enemy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
