/* print.c - printf of one lane: its format and arguments, as vprintf gets them, become text for the host.
 *
 * Arguments lie one behind the other, each aligned to its size: floats as doubles, whole numbers of 4 bytes, or of 8
 * with a size of `l` or `ll`.  A conversion that is none is text.
 * Reads: the lane's memory.  Writes: nothing but what the gpu's owner makes of the text.
 */
#include "hopper/print.h"

#include <stdio.h>
#include <string.h>

#include "hopper/device.h"

enum { TEXT_MOST = 4096, STRING_MOST = 1024, DIGITS_MOST = 3 };

struct printing {
    const struct hopper_step *step;
    unsigned lane;
    const char *at, *end; /* what is left of the format */
    uint64_t arguments;   /* address of the next one */
    int count;            /* of arguments */
    char text[TEXT_MOST];
    size_t length;
};

/* What is between `%` and the letter. */
struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    bool is_long;
    char letter;
};

/* The next argument's bits, 4 or 8 of them; false after a fault. */
static bool next_argument(struct printing *printing, uint32_t byte_count, uint64_t *bits)
{
    const uint64_t address = (printing->arguments + byte_count - 1) / byte_count * byte_count;
    const void *const memory =
        hopper_memory(printing->step, WSDBG_PTX_GENERIC, address, byte_count, byte_count, printing->lane, false);
    *bits = 0;
    if (!memory)
        return false;
    memcpy(bits, memory, byte_count);
    printing->arguments = address + byte_count;
    printing->count++;
    return true;
}

static void add_text(struct printing *printing, const char *text, size_t length)
{
    const size_t room = TEXT_MOST - printing->length;
    length = length < room ? length : room;
    memcpy(printing->text + printing->length, text, length);
    printing->length += length;
}

/* What snprintf made in TEXT_MOST bytes. */
static void add_converted(struct printing *printing, const char *text, int length)
{
    if (length > 0)
        add_text(printing, text, length < TEXT_MOST ? (size_t)length : TEXT_MOST - 1);
}

/* ---- the format ---- */

static bool takes(struct printing *printing, const char *letters, char *out)
{
    if (printing->at == printing->end || !strchr(letters, *printing->at))
        return false;
    *out = *printing->at++;
    return true;
}

/* Digits, or `*`: an argument; -1 when there is neither.  False after a fault. */
static bool read_number(struct printing *printing, int *out)
{
    char letter;
    uint64_t bits;
    *out = -1;
    if (takes(printing, "*", &letter)) {
        if (!next_argument(printing, sizeof(int), &bits))
            return false;
        const int value = (int)bits;
        *out = value < 0 ? 0 : value < TEXT_MOST ? value : TEXT_MOST - 1;
        return true;
    }
    for (unsigned digits = 0; takes(printing, "0123456789", &letter); digits++)
        if (digits < DIGITS_MOST)
            *out = (*out < 0 ? 0 : *out) * 10 + (letter - '0');
    return true;
}

static bool read_conversion(struct printing *printing, struct conversion *out)
{
    char letter;
    *out = (struct conversion){.precision = -1};
    for (size_t count = 0; takes(printing, "-+ #0", &letter);)
        if (count + 1 < sizeof out->flags && !strchr(out->flags, letter))
            out->flags[count++] = letter;
    if (!read_number(printing, &out->width))
        return false;
    if (takes(printing, ".", &letter)) {
        if (!read_number(printing, &out->precision))
            return false;
        out->precision = out->precision < 0 ? 0 : out->precision;
    }
    while (takes(printing, "hl", &letter))
        out->is_long = out->is_long || letter == 'l';
    out->letter = printing->at < printing->end ? *printing->at++ : '\0';
    return true;
}

/* ---- conversions ---- */

/* "%-8.3llx": the letter, with a size that fits the value handed to it. */
static const char *spec_of(const struct conversion *conversion, const char *size, char *out, size_t room)
{
    char width[16] = "", precision[16] = "";
    if (conversion->width >= 0)
        snprintf(width, sizeof width, "%d", conversion->width);
    if (conversion->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", conversion->precision);
    snprintf(out, room, "%%%s%s%s%s%c", conversion->flags, width, precision, size, conversion->letter);
    return out;
}

static uint64_t extended(const struct conversion *conversion, uint64_t bits)
{
    const bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
    if (conversion->is_long || !is_signed)
        return bits;
    return (uint64_t)(int64_t)(int32_t)bits;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static bool print_whole(struct printing *printing, const struct conversion *conversion)
{
    char spec[48], text[TEXT_MOST];
    uint64_t bits;
    if (!next_argument(printing, conversion->is_long ? sizeof(int64_t) : sizeof(int32_t), &bits))
        return false;
    const int length = conversion->letter == 'c'
                           ? snprintf(text, sizeof text, spec_of(conversion, "", spec, sizeof spec), (int)bits)
                           : snprintf(text, sizeof text, spec_of(conversion, "ll", spec, sizeof spec),
                                      (unsigned long long)extended(conversion, bits));
    add_converted(printing, text, length);
    return true;
}

static bool print_double(struct printing *printing, const struct conversion *conversion)
{
    char spec[48], text[TEXT_MOST];
    uint64_t bits;
    double value;
    if (!next_argument(printing, sizeof value, &bits))
        return false;
    memcpy(&value, &bits, sizeof value);
    const int length = snprintf(text, sizeof text, spec_of(conversion, "", spec, sizeof spec), value);
    add_converted(printing, text, length);
    return true;
}

/* A string of the device, or a pointer. */
static bool print_pointer(struct printing *printing, const struct conversion *conversion)
{
    char spec[48], text[TEXT_MOST], string[STRING_MOST];
    uint64_t bits;
    if (!next_argument(printing, sizeof bits, &bits))
        return false;
    if (conversion->letter == 's')
        hopper_read_text(printing->step->gpu, bits, string, sizeof string);
    const int length =
        conversion->letter == 's'
            ? snprintf(text, sizeof text, spec_of(conversion, "", spec, sizeof spec), string)
            : snprintf(text, sizeof text, spec_of(conversion, "", spec, sizeof spec), (void *)(uintptr_t)bits);
    add_converted(printing, text, length);
    return true;
}

#pragma GCC diagnostic pop

/* Behind `%`; false after a fault. */
static bool print_conversion(struct printing *printing)
{
    const char *const begin = printing->at;
    struct conversion conversion;
    if (!read_conversion(printing, &conversion))
        return false;
    if (conversion.letter == '%') {
        add_text(printing, "%", 1);
        return true;
    }
    if (conversion.letter && strchr("diouxXc", conversion.letter))
        return print_whole(printing, &conversion);
    if (conversion.letter && strchr("eEfFgGaA", conversion.letter))
        return print_double(printing, &conversion);
    if (conversion.letter && strchr("ps", conversion.letter))
        return print_pointer(printing, &conversion);
    add_text(printing, "%", 1);
    add_text(printing, begin, (size_t)(printing->at - begin));
    return true;
}

void hopper_read_text(struct wsdbg_gpu *gpu, uint64_t address, char *out, size_t room)
{
    const struct hopper_range *const range = hopper_find_range(gpu, address, 1);
    const uint64_t most = range ? range->end - address : 0;
    const size_t length = range ? strnlen((const char *)(uintptr_t)address, most < room - 1 ? most : room - 1) : 0;
    memcpy(out, range ? (const char *)(uintptr_t)address : "?", range ? length : 1);
    out[range ? length : 1] = '\0';
}

bool hopper_print(const struct hopper_step *step, unsigned lane, uint64_t format, uint64_t arguments, int *count)
{
    char text[TEXT_MOST];
    hopper_read_text(step->gpu, format, text, sizeof text);
    struct printing printing = {
        .step = step, .lane = lane, .at = text, .end = text + strlen(text), .arguments = arguments};
    while (printing.at < printing.end) {
        const char *const next = memchr(printing.at, '%', (size_t)(printing.end - printing.at));
        add_text(&printing, printing.at, (size_t)((next ? next : printing.end) - printing.at));
        printing.at = next ? next + 1 : printing.end;
        if (next && !print_conversion(&printing))
            return false;
    }
    if (step->gpu->options.print)
        step->gpu->options.print(printing.text, printing.length);
    *count = printing.count;
    return true;
}
