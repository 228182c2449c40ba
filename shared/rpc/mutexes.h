/* gRPC core's mutexes without their deadlock detector. Private to shared/rpc. */
#ifndef RENGA_RPC_MUTEXES_H
#define RENGA_RPC_MUTEXES_H

/* Debian builds Abseil with its debugging on: each lock that is taken looks for cycles in a graph of all locks, which
 * one spinlock guards for all threads. Before grpc_init. Where this Abseil has another name for it, nothing changes. */
void rpc_mutexes_relieve(void);

#endif
