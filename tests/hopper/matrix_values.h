/* matrix_values.h - small numbers that every format of matrices holds exactly. */
#ifndef WSDBG_TESTS_HOPPER_MATRIX_VALUES_H
#define WSDBG_TESTS_HOPPER_MATRIX_VALUES_H

/* An element of one of the matrices that tests multiply. */
float matrix_value(unsigned matrix, unsigned row, unsigned k);
/* Encodes a small number as bf16, f16, tf32, s8, u8, e4m3 or e5m2; how many bytes. */
unsigned matrix_encode(const char *type, float value, unsigned char out[4]);

#endif
