/* Gives memory back to the system after a load, or an attack, is over. Private to shared/rpc. */
#ifndef RENGA_RPC_TRIM_H
#define RENGA_RPC_TRIM_H

#include "loop/loop.h"

/* Checks every two seconds, in `loop`, how much unused memory glibc keeps. Its arenas, one for each thread of gRPC,
 * return only memory at their end; without trimming, hundreds of megabytes stayed. Not from inside a loop. */
void rpc_trim_start(struct loop *loop);
void rpc_trim_stop(void);

#endif
