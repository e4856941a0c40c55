/* matrix_values.c - see matrix_values.h. */
#include "hopper/matrix_values.h"

#include <string.h>

#include "hopper/kernel.h"
#include "hopper/number.h"

float matrix_value(unsigned matrix, unsigned row, unsigned k)
{
    return (float)((int)((row * 7 + k * 5 + matrix * 3) % 9) - 4) / 2;
}

unsigned matrix_encode(const char *type, float value, unsigned char out[4])
{
    if (strcmp(type, "bf16") == 0) {
        const uint16_t bits = hopper_float_to_bf16(value);
        memcpy(out, &bits, 2);
        return 2;
    }
    if (strcmp(type, "f16") == 0) {
        const uint16_t bits = hopper_float_to_f16(value);
        memcpy(out, &bits, 2);
        return 2;
    }
    if (strcmp(type, "tf32") == 0) {
        memcpy(out, &value, 4);
        return 4;
    }
    if (strcmp(type, "s8") == 0 || strcmp(type, "u8") == 0) {
        out[0] = (unsigned char)(int)value;
        return 1;
    }
    for (unsigned bits = 0; bits < 256; bits++) {
        const bool is_e4m3 = strcmp(type, "e4m3") == 0;
        if ((is_e4m3 ? hopper_e4m3_to_float((uint8_t)bits) : hopper_e5m2_to_float((uint8_t)bits)) == value) {
            out[0] = (unsigned char)bits;
            return 1;
        }
    }
    fail_msg("%s has no %g", type, (double)value);
    return 0;
}
