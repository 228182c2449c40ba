/* Private to the orchestrator: interrupts of nodes that wait for an answer, and pauses before or after a node. An
 * interrupt belongs to its activation. From inside the loop of the shard, but for the schemas: any thread. */
#ifndef RENGA_ORCHESTRATOR_INTERRUPT_H
#define RENGA_ORCHESTRATOR_INTERRUPT_H

#include "frame.h"
#include "log/ids.h"

#include "renga/v1/node.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct node;
struct run;
struct status;
struct thread;

struct interrupt {
    char id[ID_MAX];
    const Renga__V1__NodeInterrupt *asked;
    const char *answer; /* NULL: open */
    int64_t asked_ms;
    struct interrupt *next;
};

bool interrupts_add(struct activation *activation, const Response *response, int64_t now_ms);
bool interrupts_are_answered(const struct activation *activation,
                             const Response *response); /* all of them have their answer */
size_t interrupts_open_count(const struct activation *activation);
/* As a frame of this seed gives it. */
void interrupt_make_id(char id[ID_MAX], uint64_t seed, int64_t step, uint32_t node, uint32_t branch, const char *key);
/* Every interrupt that is open in the thread: that of a node that asks, or a pause at a node (then `interrupt` is
 * NULL). */
struct interrupt_visit {
    void (*came)(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                 const struct activation *activation, struct interrupt *interrupt, Renga__V1__InterruptKind kind);
    void *data;
};
void interrupts_each(struct frame *frame, struct interrupt_visit *visit);
Renga__V1__Interrupt *interrupt_message(struct arena *arena, const struct frame *frame, const struct node *node,
                                        const struct activation *activation, const struct interrupt *interrupt,
                                        Renga__V1__InterruptKind kind);

struct interrupt *interrupt_find(struct thread *thread, const char *id);
bool run_has_answer(const struct run *run, const char *interrupt_id); /* it was asked, and answered */
void run_note_answered(struct run *run, uint64_t hash);

/* Whether the text is a JSON Schema that answers can be held to. */
bool interrupt_schema_is_good(const char *schema, struct status *st);
/* Whether answers are JSON and fit the schemas of their interrupts. Any thread. A schema that follows an equal schema
 * is not compiled again; a check takes the answer's size times json_schema_factor. */
struct given_answer {
    const char *schema; /* "": any value is an answer */
    const char *answer;
};
bool interrupt_answers_fit(const struct given_answer *given, size_t count, struct status *st);

#endif
