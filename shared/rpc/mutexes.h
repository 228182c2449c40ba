/* gRPC core's mutexes without their deadlock detector. Private to shared/rpc. */
#ifndef RENGA_RPC_MUTEXES_H
#define RENGA_RPC_MUTEXES_H

/* Debian builds Abseil with lock debugging: each acquired lock searches a graph of all locks for cycles, under one
 * spinlock for all threads. This turns it off. Call it before grpc_init. No effect if this Abseil has another name for
 * it. */
void rpc_mutexes_relieve(void);

#endif
