/* fuzz_targets.h - what is fuzzed; the same functions serve libFuzzer and the corpus replay. */
#ifndef WSDBG_TESTS_FUZZ_TARGETS_H
#define WSDBG_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

/* One input; must neither crash, leak nor hang. 0 = go on. */
int fuzz_one_input(const uint8_t *bytes, size_t count);

#endif
