/* later_ctas.h - whether CTAs of a grid that are not seen were not launched yet, rather than over. */
#ifndef WSDBG_DIAGNOSE_LATER_CTAS_H
#define WSDBG_DIAGNOSE_LATER_CTAS_H

#include "diagnose/case.h"

/* The CTAs of the grid that are seen are its first ones, none has left, and as far as is known there is no room for
 * another one. */
bool wsdbg_later_ctas_wait(const struct wsdbg_case *c);

#endif
