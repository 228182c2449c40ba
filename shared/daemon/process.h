/* The inside of a process that hosts services, for the daemons and for the command line, which may use the services
 * without serving them. */
#ifndef RENGA_DAEMON_PROCESS_H
#define RENGA_DAEMON_PROCESS_H

#include "base/status.h"
#include "config/config.h"
#include "daemon/daemon.h"

#include <stdbool.h>

struct daemon_process;

/* Loops, gRPC, telemetry and the instances of every service. Both arguments are borrowed until process_stop. */
struct daemon_process *process_start(const struct daemon *daemon, const struct config *config, struct status *st);

/* Serves gRPC and, if configured, HTTP. */
bool process_serve(struct daemon_process *process, struct status *st);

/* Reads the file of keys again and tells every service that files may have changed. Not from a loop. */
void process_reload(struct daemon_process *process);

/* Drains the listeners of process_serve; `drained` runs once, on a loop. */
void process_drain(struct daemon_process *process, void (*drained)(void *data), void *data);

/* Ends the process's work. Not from a loop. False: a handler still runs, so its services, loops and the configuration
 * stay in memory; logs and traces are written, and the caller ends with _exit. */
bool process_stop(struct daemon_process **process);

/* A stub for callers outside of any service, and the loop to call from. NULL with FAILED_PRECONDITION as
 * service_peer. */
ProtobufCService *process_stub(struct daemon_process *process, const ProtobufCServiceDescriptor *descriptor,
                               struct status *st);
struct loop *process_loop(struct daemon_process *process);

#endif
