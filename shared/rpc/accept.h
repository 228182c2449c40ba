/* Accepting connections for gRPC core, which never accepts again after a single failure of accept4 that is neither
 * EAGAIN nor EINTR (1.51, tcp_server_posix.cc): without a free file descriptor a server would be deaf until its
 * restart, and look alive on the connections that it has. The program's own accept4, which stands before libc's,
 * therefore tells core of no failure at the ports named here: connections without a descriptor are closed at once, and
 * those that the network has broken are passed over. At other sockets it is libc's accept4. Any thread. */
#ifndef RENGA_RPC_ACCEPT_H
#define RENGA_RPC_ACCEPT_H

#define RPC_ACCEPT_PORTS_MAX 64 /* servers at a time in a process; further ones are not guarded */

/* Of a server that listens, and of one that does no more. */
void rpc_accept_guard(int port);
void rpc_accept_release(int port);

#endif
