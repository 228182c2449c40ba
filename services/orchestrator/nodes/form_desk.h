/* What the nodes that fill a form have in common: the form, how each of its fields stands, and in which language,
 * country and time zone a person's words are read. All of it stands in the state, in fields that the document names.
 *
 * `fields` is an object by field_id that merges. An entry has the form of FieldStatus (interview.proto), and beside it
 *     "typed":  the value with its type, for conditions
 *     "known_facts": ["fact_key: what the person said"], "asked_fact": the fact_key that was asked for last
 * A field without an entry is pending. "Now" is when the run was asked for, so that a step that is repeated gives the
 * same days. These nodes alone write entries, so that what they promise holds whatever a
 * model says: a value passed a review, and is the person's own words or a form of them that code has checked. */
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
/* What a kind does once the desk is open: writes its update. NULL with `st` filled: it failed. Else the outcome. What
 * it allocates outside of the arena it frees, too. */
typedef const char *desk_work(struct desk *desk, struct update *update, struct status *st);

struct desk {
    struct service_call base; /* first: the inputs; no service is called */
    struct job job;
    struct update update;
    struct status status;
    desk_work *work;
    const char *outcome;
    struct arena *arena;
    const struct kept_form *kept; /* while `work` runs: nothing of the form is used behind it */
    const struct form *form;
    struct form_context context;
    cJSON *fields;                 /* a copy, to be written */
    bool changed[FORM_FIELDS_MAX]; /* entries that are to be written */
};

/* Reads the inputs, works, and ends the task; long inputs in a worker thread, as a form has up to 1 MiB, and words are
 * read for every field. */
void desk_start(struct desk *desk, struct task *task, desk_work *work);
/* The `cancel` of these kinds. */
void desk_cancel(struct task *task);

/* The entry of a field, made where there is none; it is written at the end. */
cJSON *desk_entry(struct desk *desk, size_t field);
/* The same to be read; NULL: pending. */
const cJSON *desk_look(const struct desk *desk, size_t field);
Renga__V1__FieldState desk_state(const struct desk *desk, size_t field);
void desk_set_state(struct desk *desk, size_t field, Renga__V1__FieldState state);
bool desk_is_settled(Renga__V1__FieldState state); /* done, left open, or not applicable */

/* The values of what is done, typed, by field_id: for conditions. To be deleted. */
cJSON *desk_values(const struct desk *desk);
/* The field that a row's string names; -1: none. */
int desk_field(const struct desk *desk, size_t row);

/* Members of an entry or an item: "" and NULL where they are not there. */
const char *desk_text(const cJSON *object, const char *name);
void desk_put(cJSON *object, const char *name, const char *text);
void desk_put_number(cJSON *object, const char *name, double number);
void desk_put_item(cJSON *object, const char *name, cJSON *item);

/* Adds the entries that changed to an update. */
void desk_write(struct desk *desk, struct update *update);

#endif
