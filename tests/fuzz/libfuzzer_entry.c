/* libfuzzer_entry.c - the name libFuzzer calls. */
#include "fuzz/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    return fuzz_one_input(bytes, count);
}
