/* operators.c - the table of operators.h, in the order in which an instruction's mutants are listed. */
#include "operators.h"

const struct operator operators[] = {
    {"init-count", 3, operator_init_count, word_of_count},
    {"init-missing", 1, operator_init_missing, NULL},
    {"init-late", 1, operator_init_late, NULL},
    {"arrive-missing", WHEN_COUNT, operator_arrive_missing, word_of_when},
    {"arrive-twice", WHEN_COUNT, operator_arrive_twice, word_of_when},
    {"remote-self", 1, operator_remote_self, NULL},
    {"expect-bytes", 2, operator_bytes, word_of_bytes},
    {"expect-missing", WHEN_COUNT, operator_expect_missing, word_of_when},
    {"copy-missing", WHEN_COUNT, operator_copy_missing, word_of_when},
    {"mask-self", 1, operator_mask_self, NULL},
    {"parity", 4, operator_parity, word_of_parity},
    {"phase-stuck", WHEN_COUNT, operator_phase_stuck, word_of_when},
    {"trip-count", 2, operator_trip_count, word_of_sign},
    {"named-count", 2, operator_named_count, word_of_sign},
    {"named-id", 1, operator_named_id, NULL},
    {"named-missing", WHEN_COUNT, operator_named_missing, word_of_when},
    {"block-sync", 1, operator_block_sync, NULL},
    {"early-return", 5, operator_early_return, word_of_exit},
    {"registers", 2, operator_registers, word_of_sign},
    {"registers-missing", WHEN_COUNT, operator_registers_missing, word_of_when},
    {"cluster-missing", WHEN_COUNT, operator_cluster_missing, word_of_when},
    {"flag-missing", WHEN_COUNT, operator_flag_missing, word_of_when},
    {"flag-value", 1, operator_flag_value, NULL},
    {"dependents-missing", 1, operator_dependents_missing, NULL},
    {"delay", 1, operator_delay, NULL},
};
const size_t operator_count = sizeof operators / sizeof *operators;

const char *word_of_when(unsigned variant)
{
    return when_word[variant];
}
