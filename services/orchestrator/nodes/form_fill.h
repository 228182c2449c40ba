/* The common part of the nodes that fill a form: the form, the state of each field, and the person's language, country
 * and time zone, by which words are read. All of it stands in the state, in fields that the document names.
 *
 * `fields` is an object by field_id that merges. An entry has the form of FieldStatus (interview.proto), and beside it
 *     "typed":  the value with its type, for conditions
 *     "known_facts": ["fact_key: the person's words"], "asked_fact": the fact_key that was asked for last
 * A field without an entry is pending. "Now" is the time at which the run was asked for, so that a repeated step gives
 * the same days. Only these nodes write entries, so a model cannot break their promise. A value passed a review, and is
 * the person's own words or a form of them that code has checked. */
#ifndef RENGA_ORCHESTRATOR_FORM_FILL_H
#define RENGA_ORCHESTRATOR_FORM_FILL_H

#include "form_cache.h"
#include "service_call.h"

#include "loop/jobs.h"

#include "renga/v1/interview.pb-c.h"

/* The rows that each of these kinds has, from 0 on. */
enum { FORM_FILL_FORM, FORM_FILL_FIELDS, FORM_FILL_LANGUAGE, FORM_FILL_COUNTRY, FORM_FILL_TIMEZONE, FORM_FILL_ROWS };
#define FORM_FILL_PARAMETERS                                                                                           \
    [FORM_FILL_FORM] = {"form", READS_OBJECT, REQUIRED, "The form, an object."},                                       \
    [FORM_FILL_FIELDS] = {"fields", READS_OBJECT, REQUIRED,                                                            \
                          "How each field stands, an object by field_id that merges (FieldStatus)."},                  \
    [FORM_FILL_LANGUAGE] = {"language", READS_STRING, OPTIONAL, "The person's language, a string."},                   \
    [FORM_FILL_COUNTRY] = {"country", READS_STRING, OPTIONAL, "Where the person lives, a string."},                    \
    [FORM_FILL_TIMEZONE] = {"timezone", READS_STRING, OPTIONAL, "The person's time zone, a string."}

struct form_fill;
/* The work of a kind after the form is opened: it writes the update and returns the outcome. NULL with `st` filled: it
 * failed. It also frees its own allocations outside of the arena. */
typedef const char *form_fill_work(struct form_fill *fill, struct update *update, struct status *st);

struct form_fill {
    struct service_call base; /* first: the inputs; no service is called */
    struct job job;
    struct update update;
    struct status status;
    form_fill_work *work;
    const char *outcome;
    struct arena *arena;
    const struct kept_form *kept; /* while `work` runs: the form is not used after it */
    const struct form *form;
    struct form_context context;
    cJSON *fields;                 /* a copy, to be written */
    bool changed[FORM_FIELDS_MAX]; /* entries that are to be written */
};

/* Reads the inputs, runs `work`, and ends the task. Long inputs run in a worker thread: a form has up to 1 MiB, and
 * words are read for every field. */
void form_fill_start(struct form_fill *fill, struct task *task, form_fill_work *work);
/* The `cancel` of these kinds. */
void form_fill_cancel(struct task *task);

/* The entry of a field, made if it is missing; it is written at the end. */
cJSON *form_fill_entry(struct form_fill *fill, size_t field);
/* The same to be read; NULL: pending. */
const cJSON *form_fill_find(const struct form_fill *fill, size_t field);
Renga__V1__FieldState form_fill_state(const struct form_fill *fill, size_t field);
void form_fill_set_state(struct form_fill *fill, size_t field, Renga__V1__FieldState state);
bool form_fill_is_settled(Renga__V1__FieldState state); /* done, left open, or not applicable */

/* The typed values of the done fields, by field_id: for conditions. The caller deletes the object. */
cJSON *form_fill_values(const struct form_fill *fill);
/* The field that a row's string names; -1: no field. */
int form_fill_field(const struct form_fill *fill, size_t row);

/* Members of an entry or an item. form_fill_text gives "" for a missing member; "" and NULL remove a member. */
const char *form_fill_text(const cJSON *object, const char *name);
void form_fill_put(cJSON *object, const char *name, const char *text);
void form_fill_put_number(cJSON *object, const char *name, double number);
void form_fill_put_item(cJSON *object, const char *name, cJSON *item);

/* Adds the entries that changed to an update. */
void form_fill_write(struct form_fill *fill, struct update *update);

#endif
