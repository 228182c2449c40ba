/* Gives memory back to the system after a load, or an attack, is over. Private to shared/rpc. */
#ifndef RENGA_RPC_TRIM_H
#define RENGA_RPC_TRIM_H

#include "loop/loop.h"

/* Looks every two seconds, in `loop`, how much glibc keeps that nobody uses: its arenas, one for each thread of gRPC's,
 * give back only what lies at their end, and hundreds of megabytes stayed. Not from inside a loop. */
void rpc_trim_start(struct loop *loop);
void rpc_trim_stop(void);

#endif
