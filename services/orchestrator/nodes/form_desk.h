/* The common part of the nodes that fill a form: the form, the state of each field, and the person's language, country
 * and time zone, by which words are read. All of it stands in the state, in fields that the document names.
 *
 * `fields` is an object by field_id that merges. An entry has the form of FieldStatus (interview.proto), and beside it
 *     "typed":  the value with its type, for conditions
 *     "known_facts": ["fact_key: the person's words"], "asked_fact": the fact_key that was asked for last
 * A field without an entry is pending. "Now" is the time at which the run was asked for, so that a repeated step gives
 * the same days. Only these nodes write entries, so a model cannot break their promise. A value passed a review, and is
 * the person's own words or a form of them that code has checked. */
#ifndef RENGA_ORCHESTRATOR_FORM_DESK_H
#define RENGA_ORCHESTRATOR_FORM_DESK_H

#include "form_cache.h"
#include "service_call.h"

#include "loop/jobs.h"

#include "renga/v1/interview.pb-c.h"

/* The rows that each of these kinds has, from 0 on. */
enum { DESK_FORM, DESK_FIELDS, DESK_LANGUAGE, DESK_COUNTRY, DESK_TIMEZONE, DESK_ROWS };
#define DESK_PARAMETERS                                                                                                \
    [DESK_FORM] = {.name = "form", .type = PARAMETER_FIELD, .required = true, .help = "The form, an object."},         \
    [DESK_FIELDS] = {.name = "fields",                                                                                 \
                     .type = PARAMETER_FIELD,                                                                          \
                     .required = true,                                                                                 \
                     .help = "How each field stands, an object by field_id that merges (FieldStatus)."},               \
    [DESK_LANGUAGE] = {.name = "language", .type = PARAMETER_FIELD, .help = "The person's language, a string."},       \
    [DESK_COUNTRY] = {.name = "country", .type = PARAMETER_FIELD, .help = "Where the person lives, a string."},        \
    [DESK_TIMEZONE] = {.name = "timezone", .type = PARAMETER_FIELD, .help = "The person's time zone, a string."}
bool desk_check(const struct node *node, struct status *st);

struct desk;
/* The work of a kind after the desk is opened: it writes the update and returns the outcome. NULL with `st` filled: it
 * failed. It also frees its own allocations outside of the arena. */
typedef const char *desk_work(struct desk *desk, struct update *update, struct status *st);

struct desk {
    struct service_call base; /* first: the inputs; no service is called */
    struct job job;
    struct update update;
    struct status status;
    desk_work *work;
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
void desk_start(struct desk *desk, struct task *task, desk_work *work);
/* The `cancel` of these kinds. */
void desk_cancel(struct task *task);

/* The entry of a field, made if it is missing; it is written at the end. */
cJSON *desk_entry(struct desk *desk, size_t field);
/* The same to be read; NULL: pending. */
const cJSON *desk_look(const struct desk *desk, size_t field);
Renga__V1__FieldState desk_state(const struct desk *desk, size_t field);
void desk_set_state(struct desk *desk, size_t field, Renga__V1__FieldState state);
bool desk_is_settled(Renga__V1__FieldState state); /* done, left open, or not applicable */

/* The typed values of the done fields, by field_id: for conditions. The caller deletes the object. */
cJSON *desk_values(const struct desk *desk);
/* The field that a row's string names; -1: no field. */
int desk_field(const struct desk *desk, size_t row);

/* Members of an entry or an item. desk_text gives "" for a missing member; "" and NULL remove a member. */
const char *desk_text(const cJSON *object, const char *name);
void desk_put(cJSON *object, const char *name, const char *text);
void desk_put_number(cJSON *object, const char *name, double number);
void desk_put_item(cJSON *object, const char *name, cJSON *item);

/* Adds the entries that changed to an update. */
void desk_write(struct desk *desk, struct update *update);

#endif
