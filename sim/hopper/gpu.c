/* gpu.c - see gpu.h. */
#include "hopper/gpu.h"
