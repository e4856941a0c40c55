/* tensor_map_test.c - which arguments of tensor maps are accepted, and what for each that is not is said. */
#include <stdlib.h>
#include <string.h>

#include "libcuda/api.h"

enum { UINT8, FLOAT16 = 6, FLOAT32 = 7, BFLOAT16 = 9, PACKED = 13 };
enum { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128, SWIZZLE_BLACKWELL };

/* A good map of a 2-D tensor, of which each test makes one thing bad. */
struct tiled {
    int type;
    uint32_t rank;
    uint64_t address, sizes[5], strides[4];
    uint32_t box[5], steps[5];
    int interleave, swizzle, promotion, fill;
};

static const struct tiled good = {.type = BFLOAT16,
                                  .rank = 2,
                                  .address = 0x10000,
                                  .sizes = {1024, 512},
                                  .strides = {2048},
                                  .box = {64, 128},
                                  .steps = {1, 1, 1, 1, 1},
                                  .swizzle = SWIZZLE_128};

static CUresult encode(const struct tiled *t)
{
    struct cu_tensor_map map;
    return cu.cuTensorMapEncodeTiled(&map, t->type, t->rank, (void *)t->address, t->sizes, t->strides, t->box, t->steps,
                                     t->interleave, t->swizzle, t->promotion, t->fill);
}

static void good_maps(void **state)
{
    struct tiled t = good;
    (void)state;
    OK(encode(&t));
    t.fill = 1;
    OK(encode(&t));
    t = good;
    t.rank = 1;
    OK(encode(&t));
    t = good;
    t.steps[0] = 0; /* without interleaving the first step is not looked at */
    OK(encode(&t));
    t = good;
    t.box[0] = 256;
    t.swizzle = SWIZZLE_NONE;
    OK(encode(&t));
    t = good;
    t.sizes[1] = UINT64_C(1) << 32;
    OK(encode(&t));
}

#define REFUSED(change)                                    \
    do {                                                   \
        struct tiled t = good;                             \
        change;                                            \
        assert_cuda(CUDA_ERROR_INVALID_VALUE, encode(&t)); \
    } while (0)

static void bad_maps(void **state)
{
    (void)state;
    REFUSED(t.type = PACKED);
    REFUSED(t.type = -1);
    REFUSED(t.rank = 0);
    REFUSED(t.rank = 6);
    REFUSED(t.address = 0);
    REFUSED(t.address += 8);
    REFUSED(t.sizes[0] = 0);
    REFUSED(t.sizes[1] = (UINT64_C(1) << 32) + 1);
    REFUSED(t.strides[0] = 2056);
    REFUSED(t.strides[0] = UINT64_C(1) << 40);
    REFUSED(t.box[1] = 0);
    REFUSED(t.box[1] = 257);
    REFUSED(t.box[0] = 60);  /* 120 bytes */
    REFUSED(t.box[0] = 128); /* 256 bytes, wider than the swizzle */
    REFUSED((t.swizzle = SWIZZLE_64));
    REFUSED(t.steps[1] = 0);
    REFUSED(t.steps[1] = 9);
    REFUSED(t.swizzle = SWIZZLE_BLACKWELL);
    REFUSED(t.interleave = 1); /* with two dimensions */
    REFUSED(t.promotion = 4);
    REFUSED(t.fill = 2);
    REFUSED((t.type = UINT8, t.fill = 1)); /* no NaN among integers */
}

static void a_map_must_be_aligned(void **state)
{
    _Alignas(64) unsigned char room[192];
    (void)state;
    OK(cu.cuTensorMapEncodeTiled(room, good.type, 2, (void *)good.address, good.sizes, good.strides, good.box,
                                 good.steps, 0, SWIZZLE_128, 0, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE,
                cu.cuTensorMapEncodeTiled(room + 32, good.type, 2, (void *)good.address, good.sizes, good.strides,
                                          good.box, good.steps, 0, SWIZZLE_128, 0, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE,
                cu.cuTensorMapEncodeTiled(room, good.type, 2, (void *)good.address, NULL, good.strides, good.box,
                                          good.steps, 0, SWIZZLE_128, 0, 0));
}

static CUresult encode_im2col(uint32_t rank, int lower, int upper, uint32_t channels, uint32_t pixels)
{
    static const uint64_t sizes[] = {64, 32, 16, 8, 4}, strides[] = {128, 4096, 65536, 524288};
    static const uint32_t steps[] = {1, 1, 1, 1, 1};
    const int lowers[] = {lower, lower, lower}, uppers[] = {upper, upper, upper};
    struct cu_tensor_map map;
    return cu.cuTensorMapEncodeIm2col(&map, FLOAT16, rank, (void *)0x10000, sizes, strides, lowers, uppers, channels,
                                      pixels, steps, 0, SWIZZLE_128, 0, 0);
}

static void image_to_column_maps(void **state)
{
    (void)state;
    OK(encode_im2col(4, -1, 1, 64, 128));
    OK(encode_im2col(3, -32768, 32767, 64, 1024));
    OK(encode_im2col(5, -16, 15, 8, 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, encode_im2col(2, 0, 0, 64, 128));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, encode_im2col(4, -129, 0, 64, 128));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, encode_im2col(5, 0, 16, 64, 128));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, encode_im2col(4, 0, -16, 64, 128)); /* empty: 16 rows less 16 */
    assert_cuda(CUDA_ERROR_INVALID_VALUE, encode_im2col(4, 0, 0, 0, 128));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, encode_im2col(4, 0, 0, 65, 128));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, encode_im2col(4, 0, 0, 64, 1025));
}

static void say_what_is_wrong(void)
{
    struct tiled t = good;
    t.box[0] = 128;
    cu.cuInit(0);
    exit(encode(&t) == CUDA_ERROR_INVALID_VALUE ? 0 : 1);
}

static void the_reason_is_said(void **state)
{
    char said[512];
    (void)state;
    assert_int_equal(in_child(say_what_is_wrong, 10, said, sizeof said), 0);
    assert_string_equal(said,
                        "wsdbg simulator: cuTensorMapEncodeTiled: the inner dimension of the box is wider than the "
                        "swizzle\n");
}

static int open_only(void **state)
{
    (void)state;
    api_open();
    return 0;
}

int main(void)
{
    const struct CMUnitTest before[] = {cmocka_unit_test(the_reason_is_said)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_maps),
        cmocka_unit_test(bad_maps),
        cmocka_unit_test(a_map_must_be_aligned),
        cmocka_unit_test(image_to_column_maps),
    };
    return cmocka_run_group_tests(before, open_only, NULL) + cmocka_run_group_tests(tests, api_begin, api_end);
}
