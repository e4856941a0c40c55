/* network_cards.h - whether others could write the memory of the GPU. */
#ifndef WSDBG_SHIM_NETWORK_CARDS_H
#define WSDBG_SHIM_NETWORK_CARDS_H

#include "wsdbg/session.h"

enum wsdbg_network_cards network_cards_look(void);

#endif
