/* An answer of a service that many nodes ask for again and again (the list of tools, the list of models), kept for two
 * seconds. The process has a single copy of each, made and destroyed with the orchestrator. Any thread. */
#ifndef RENGA_ORCHESTRATOR_KEPT_ANSWER_H
#define RENGA_ORCHESTRATOR_KEPT_ANSWER_H

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>

struct kept_answer;
struct kept_answer *kept_answer_create(const ProtobufCMessageDescriptor *type);
void kept_answer_destroy(struct kept_answer **kept);

/* In the arena; NULL: it is not there, too old, or the arena is out: ask. */
void *kept_answer_recall(struct kept_answer *kept, struct arena *arena);

/* Copied. */
void kept_answer_keep(struct kept_answer *kept, const ProtobufCMessage *answer);

#endif
