/* Values on their way into a form: each waits in the queue until it is reviewed. An item of the queue:
 *
 *     {"field_id": "email", "said": "the e-mail is b@example.com", "text": "b@example.com", "typed": "b@example.com",
 *      "quote": "b@example.com", "message": 4, "origin": "VALUE_ORIGIN_SAID"}
 *
 * `said` is the whole message, against which a model's value is proved. Without "text" the words have no value that
 * code alone can read, or "problem" says in words why not. */
#ifndef RENGA_ORCHESTRATOR_FORM_QUEUE_H
#define RENGA_ORCHESTRATOR_FORM_QUEUE_H

#include "form_fill.h"

struct form_queue {
    cJSON *items; /* NULL: empty */
};

/* The words as the answer to this field. A value that is wrong is an item with its problem. */
bool queue_read(struct form_queue *queue, struct form_fill *fill, size_t field, const char *words,
                Renga__V1__ValueOrigin origin, struct status *st);
/* A value that was read; `words` are the whole message, the `message`th of the conversation. NULL: memory is out. */
cJSON *queue_add(struct form_queue *queue, struct form_fill *fill, size_t field, const char *words, int message,
                 const struct form_value *value, Renga__V1__ValueOrigin origin);
/* As a list of the state. Frees the queue. */
void queue_write(struct form_queue *queue, struct update *update, const char *name);
void queue_free(struct form_queue *queue);

/* Writes `fact`, "fact_key: words", to the field's entry, in place of an earlier fact with this key. */
void queue_keep_fact(struct form_fill *fill, size_t field, const char *fact);

#endif
