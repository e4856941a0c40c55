/* im2col_test.c - columns of pixels: which elements a copy with .im2col takes, against loops that walk over the image
 * pixel by pixel; the instructions that copy so.
 *
 * machine->in holds the map, and from IMAGE on a tensor of 16-bit elements; results go to machine->out.
 */
#include <stdlib.h>
#include <string.h>

#include "hopper/box.h"
#include "hopper/kernel.h"

enum { IMAGE = 4096, CHANNELS = 24, WIDTH = 5, HEIGHT = 4, DEPTH = 3, IMAGES = 2, ELEMENT_BYTES = 2, TAKEN = 8 };

/* What is copied of a tensor of `rank` dimensions: channels, width, (height, (depth,)) images. */
struct column {
    uint8_t rank;
    int16_t lower[3], upper[3];
    uint8_t steps[3];
    uint16_t pixels;
    int32_t at[5];
    uint16_t offsets[3];
};

static const uint32_t sizes_of[][5] = {[3] = {CHANNELS, WIDTH, IMAGES},
                                       [4] = {CHANNELS, WIDTH, HEIGHT, IMAGES},
                                       [5] = {CHANNELS, WIDTH, HEIGHT, DEPTH, IMAGES}};

static struct wsdbg_tensor_map map_of(const struct column *column, uint64_t address)
{
    struct wsdbg_tensor_map map = {.magic = WSDBG_TENSOR_MAGIC,
                                   .data_type = 1 /* UINT16 */,
                                   .rank = column->rank,
                                   .is_im2col = 1,
                                   .element_bytes = ELEMENT_BYTES,
                                   .address = address,
                                   .channels_per_pixel = TAKEN,
                                   .pixels_per_column = column->pixels};
    uint64_t stride = ELEMENT_BYTES;
    for (unsigned i = 0; i < column->rank; i++) {
        map.sizes_and_strides[i] = sizes_of[column->rank][i];
        stride *= sizes_of[column->rank][i];
        map.element_strides[i] = 1;
        if (i + 1u < column->rank)
            map.strides_bytes[i] = stride;
    }
    memcpy(map.lower_corner, column->lower, sizeof map.lower_corner);
    memcpy(map.upper_corner, column->upper, sizeof map.upper_corner);
    memcpy(map.element_strides + 1, column->steps, column->rank - 2u);
    return map;
}

/* An element of the image is its number, from 1; outside of it there are zeros. */
static uint16_t element_at(const struct column *column, const int64_t *place)
{
    int64_t number = 0;
    for (unsigned i = column->rank; i-- > 0;) {
        if (place[i] < 0 || place[i] >= sizes_of[column->rank][i])
            return 0;
        number = number * sizes_of[column->rank][i] + place[i];
    }
    return (uint16_t)(number + 1);
}

/* The next pixel: the width runs first; behind the bounding box's edge a dimension begins anew and the next one steps.
 */
static void next_pixel(const struct column *column, int64_t *pixel)
{
    const unsigned images = column->rank - 1u;
    for (unsigned i = 1; i < images; i++) {
        pixel[i] += column->steps[i - 1];
        if (pixel[i] < (int64_t)sizes_of[column->rank][i] + column->upper[i - 1])
            return;
        pixel[i] = column->lower[i - 1];
    }
    pixel[images]++;
}

static void expect(const struct column *column, uint16_t *out)
{
    int64_t pixel[5];
    for (unsigned i = 0; i < column->rank; i++)
        pixel[i] = column->at[i];
    for (unsigned number = 0; number < column->pixels; number++, next_pixel(column, pixel)) {
        int64_t place[5];
        memcpy(place, pixel, sizeof place);
        for (unsigned i = 1; i + 1u < column->rank; i++)
            place[i] += column->offsets[i - 1];
        for (place[0] = pixel[0]; place[0] < pixel[0] + TAKEN; place[0]++)
            *out++ = element_at(column, place);
    }
}

static uint16_t *image_of(unsigned rank)
{
    size_t count = 1;
    for (unsigned i = 0; i < rank; i++)
        count *= sizes_of[rank][i];
    uint16_t *const image = malloc(count * sizeof *image);
    assert_non_null(image);
    for (size_t i = 0; i < count; i++)
        image[i] = (uint16_t)(i + 1);
    return image;
}

/* ---- boxes ---- */

static bool load(void *context, const struct hopper_run *run)
{
    unsigned char *const to = (unsigned char *)context + run->offset;
    if (run->is_inside)
        memcpy(to, (const void *)(uintptr_t)run->address, run->byte_count);
    else
        memset(to, 0, run->byte_count);
    return true;
}

static void check(const struct column *column)
{
    uint16_t got[1024], expected[1024];
    uint16_t *const image = image_of(column->rank);
    const struct wsdbg_tensor_map map = map_of(column, (uint64_t)(uintptr_t)image);
    struct hopper_box box;
    assert_null(hopper_box_of_pixels(&map, column->rank, column->at, column->offsets, &box));
    assert_int_equal(hopper_box_rows(&box), column->pixels);
    assert_int_equal(hopper_box_bytes(&box), column->pixels * TAKEN * ELEMENT_BYTES);
    /* In pieces, the last one first. */
    hopper_box_walk(&box, 0, column->pixels / 2u, column->pixels, load, got);
    hopper_box_walk(&box, 0, 0, column->pixels / 2u, load, got);
    expect(column, expected);
    for (unsigned i = 0; i < column->pixels * TAKEN; i++)
        if (got[i] != expected[i])
            fail_msg("rank %u: channel %u of pixel %u is %u, not %u", column->rank, i % TAKEN, i / TAKEN, got[i],
                     expected[i]);
    free(image);
}

static void a_filter_of_three_with_padding(void **state)
{
    (void)state;
    /* Every place of a filter that begins one pixel outside: as many columns as the image has. */
    for (uint16_t w = 0; w < 3; w++)
        for (uint16_t h = 0; h < 3; h++)
            check(&(struct column){.rank = 4,
                                   .lower = {-1, -1},
                                   .upper = {-1, -1},
                                   .steps = {1, 1},
                                   .pixels = 48, /* of the last 8 there is no image */
                                   .at = {8, -1, -1, 0},
                                   .offsets = {w, h}});
}

static void begins_anywhere_in_the_bounding_box(void **state)
{
    (void)state;
    for (int32_t w = -2; w < 4; w++)
        for (int32_t h = -1; h < 3; h++)
            check(&(struct column){.rank = 4,
                                   .lower = {-2, -1},
                                   .upper = {-1, -1},
                                   .steps = {1, 1},
                                   .pixels = 29,
                                   .at = {0, w, h, 0},
                                   .offsets = {2, 1}});
}

static void steps_wider_than_one(void **state)
{
    (void)state;
    for (int32_t w = -1; w < 4; w++)
        check(&(struct column){.rank = 4,
                               .lower = {-1, -2},
                               .upper = {0, -1},
                               .steps = {2, 3},
                               .pixels = 13,
                               .at = {16, w, -2, 0},
                               .offsets = {1, 1}});
}

static void one_and_three_dimensions_of_pixels(void **state)
{
    (void)state;
    check(&(struct column){
        .rank = 3, .lower = {-1}, .upper = {1}, .steps = {1}, .pixels = 16, .at = {0, 2, 0}, .offsets = {1}});
    check(&(struct column){.rank = 5,
                           .lower = {-1, 0, -1},
                           .upper = {-1, -2, 0},
                           .steps = {1, 1, 2},
                           .pixels = 60,
                           .at = {4, 0, 1, -1, 0},
                           .offsets = {1, 2, 1}});
}

static void channels_outside_are_zeros(void **state)
{
    (void)state;
    for (int32_t channel = -6; channel <= CHANNELS; channel += 6)
        check(&(struct column){.rank = 3, .steps = {1}, .pixels = 7, .at = {channel, 1, 0}});
}

static void maps_of_an_enemy_are_refused(void **state)
{
    (void)state;
    static const int32_t at[5] = {0};
    const struct column column = {.rank = 4, .steps = {1, 1}, .pixels = 4};
    struct hopper_box box;
    struct wsdbg_tensor_map map = map_of(&column, 4096);
    assert_null(hopper_box_of_pixels(&map, 4, at, NULL, &box));
    assert_non_null(hopper_box_of_pixels(&map, 3, at, NULL, &box));
    assert_non_null(hopper_box_of_map(&map, 4, at, &box)); /* a copy of tiles */
    map.upper_corner[1] = -HEIGHT;
    assert_non_null(hopper_box_of_pixels(&map, 4, at, NULL, &box)); /* an empty bounding box */
    map.upper_corner[1] = 0;
    map.sizes_and_strides[1] = UINT64_MAX;
    assert_null(hopper_box_of_pixels(&map, 4, at, NULL, &box));
    map.pixels_per_column = map.channels_per_pixel = UINT16_MAX; /* larger than shared memory */
    assert_non_null(hopper_box_of_pixels(&map, 4, at, NULL, &box));
    map = map_of(&column, 4096);
    map.is_im2col = 0;
    assert_non_null(hopper_box_of_pixels(&map, 4, at, NULL, &box));
    map.is_im2col = 1;
    map.rank = 2;
    assert_non_null(hopper_box_of_pixels(&map, 2, at, NULL, &box));
}

/* ---- instructions ---- */

static const struct column copied = {.rank = 4,
                                     .lower = {-1, -1},
                                     .upper = {-1, -1},
                                     .steps = {1, 1},
                                     .pixels = 32,
                                     .at = {8, 3, 1, 0},
                                     .offsets = {1, 2}};
enum { COPIED_BYTES = 32 * TAKEN * ELEMENT_BYTES };

static void run(struct machine *machine, const char *body, struct kernel_launch launch)
{
    kernel_create(machine, body, NULL);
    unsigned char *const in = (unsigned char *)(uintptr_t)machine->in;
    const struct wsdbg_tensor_map map = map_of(&copied, machine->in + IMAGE);
    memcpy(in, &map, sizeof map);
    uint16_t *const image = image_of(4);
    memcpy(in + IMAGE, image, CHANNELS * WIDTH * HEIGHT * IMAGES * ELEMENT_BYTES);
    free(image);
    const enum wsdbg_gpu_outcome outcome = kernel_launch(machine, launch);
    if (outcome != WSDBG_GPU_IDLE)
        fail_msg("outcome %d: %s", outcome, wsdbg_gpu_fault(machine->run) ? wsdbg_gpu_fault(machine->run)->text : "");
}

#define SHARED ".shared .align 128 .b8 data[512];\n.shared .align 8 .b64 bar;\nmov.u32 %r1, data;\nmov.u32 %r2, bar;\n"
#define THREAD_0 "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n"
#define EXPECT "mbarrier.init.shared::cta.b64 [%r2], 1;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;\n"
#define AWAIT "wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;\n@!%p1 bra wait;\n"
/* Each lane stores 16 bytes of shared memory at %rd1. */
#define DUMP                                                                                  \
    "mad.lo.u32 %r3, %r0, 16, %r1;\nmul.wide.u32 %rd2, %r0, 16;\nadd.u64 %rd2, %rd1, %rd2;\n" \
    "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];\nst.global.v4.b32 [%rd2], {%r4, %r5, %r6, %r7};\n"

static void check_copied(const struct machine *machine, uint32_t offset)
{
    uint16_t expected[COPIED_BYTES / ELEMENT_BYTES];
    expect(&copied, expected);
    assert_memory_equal((const unsigned char *)(uintptr_t)machine->out + offset, expected, COPIED_BYTES);
}

static void loads(void **state)
{
    (void)state;
    struct machine machine;
    run(&machine,
        SHARED THREAD_0 "@%p0 bra begun;\n" EXPECT "mov.u16 %h1, 1;\nmov.u16 %h2, 2;\n"
                        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
                        "[%rd0, {8, 3, 1, 0}], [%r2], {%h1, %h2};\nbegun:\nbar.sync 0;\n" AWAIT DUMP,
        (struct kernel_launch){0});
    check_copied(&machine, 0);
    machine_destroy(&machine);
}

/* The mask stands behind the offsets: rank 1 of 4 sends to ranks 0 and 2. */
static void loads_for_several_ctas(void **state)
{
    (void)state;
    struct machine machine;
    run(&machine,
        SHARED THREAD_0 "mov.u32 %r10, %cluster_ctarank;\n@%p0 bra ready;\n" EXPECT
                        "ready:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nsetp.ne.u32 %p2, %r10, 1;\n"
                        "or.pred %p2, %p2, %p0;\n@%p2 bra receiver;\n"
                        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes."
                        "multicast::cluster [%r1], [%rd0, {8, 3, 1, 0}], [%r2], {1, 2}, 5;\nreceiver:\n"
                        "and.b32 %r11, %r10, 1;\nsetp.eq.u32 %p3, %r11, 1;\n@%p3 bra done;\n" AWAIT
                        "mul.wide.u32 %rd5, %r10, 512;\nadd.u64 %rd1, %rd1, %rd5;\n" DUMP
                        "done:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n",
        (struct kernel_launch){.grid = 4, .cluster = 4});
    check_copied(&machine, 0);
    check_copied(&machine, 2 * COPIED_BYTES);
    assert_int_equal(machine_word(&machine, COPIED_BYTES / 4), 0);
    machine_destroy(&machine);
}

/* Stores have no offsets; pixels outside of the image are left out. */
static void stores_leave_out_what_is_outside(void **state)
{
    (void)state;
    struct machine machine;
    run(&machine,
        SHARED THREAD_0 "mad.lo.u32 %r3, %r0, 16, %r1;\nmov.b32 %r4, 0x00070007;\n"
                        "st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
                        "@%p0 bra done;\n"
                        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rd0, {8, 3, 1, 0}], "
                        "[%r1];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\ndone:\n",
        (struct kernel_launch){0});
    struct column stored = copied;
    memset(stored.offsets, 0, sizeof stored.offsets);
    uint16_t expected[COPIED_BYTES / ELEMENT_BYTES];
    expect(&stored, expected);
    const uint16_t *const image = (const uint16_t *)(uintptr_t)(machine.in + IMAGE);
    for (uint32_t number = 1; number <= CHANNELS * WIDTH * HEIGHT * IMAGES; number++) {
        uint16_t value = (uint16_t)number;
        for (unsigned i = 0; i < COPIED_BYTES / ELEMENT_BYTES; i++)
            value = expected[i] == number ? 7 : value;
        assert_int_equal(image[number - 1], value);
    }
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_of_three_with_padding),
        cmocka_unit_test(begins_anywhere_in_the_bounding_box),
        cmocka_unit_test(steps_wider_than_one),
        cmocka_unit_test(one_and_three_dimensions_of_pixels),
        cmocka_unit_test(channels_outside_are_zeros),
        cmocka_unit_test(maps_of_an_enemy_are_refused),
        cmocka_unit_test(loads),
        cmocka_unit_test(loads_for_several_ctas),
        cmocka_unit_test(stores_leave_out_what_is_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
