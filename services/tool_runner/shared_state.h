/* The life of the state that the instances of a process share (instance/tool_runner_instance.h), and the options that
 * it is made from. */
#ifndef RENGA_TOOL_RUNNER_SHARED_STATE_H
#define RENGA_TOOL_RUNNER_SHARED_STATE_H

#include "base/status.h"
#include "config/config.h"

struct service_context;
struct tool_runner;
struct tool_shared;

/* No instance has joined yet. */
struct tool_shared *tool_shared_create(const struct service_context *context, struct status *st);

/* Called in each loop at the beginning and end of its instance. The last leave destroys the shared state. */
void tool_shared_join(struct tool_shared *shared, struct tool_runner *runner);
void tool_shared_leave(struct tool_shared **shared, struct tool_runner *runner);

extern const struct option tool_runner_options[];

#endif
