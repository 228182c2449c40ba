#include "playbook_check.h"

#include "run/request_check.h"

#include <stdio.h>
#include <string.h>

#define TIME_MAX_MS INT64_C(253402300799999) /* the end of the year 9999 */
#define COUNT_MAX   1000                     /* of an operation COUNT */

static bool check_length(const char *field, const char *text, size_t max, struct status *st)
{
    size_t length = strlen(text);
    return length <= max || fail_field(st, field, "has %zu bytes; at most %zu are allowed", length, max);
}

/* Text of several lines. */
static bool playbook_check_text(const char *field, const char *text, size_t max, struct status *st)
{
    if (!check_length(field, text, max, st))
        return false;
    for (const char *c = text; *c; c++)
        if (((unsigned char)*c < 0x20 && !strchr("\t\n\r", *c)) || *c == 0x7f)
            return fail_field(st, field,
                              "has the control character 0x%02x at byte %zu; of these only tabs and line breaks are "
                              "allowed",
                              (unsigned)(unsigned char)*c, (size_t)(c - text));
    return true;
}

static bool playbook_check_is_blank(const char *text)
{
    for (; *text; text++) {
        if (strncmp(text, "\u3000", 3) == 0 || strncmp(text, "\u00a0", 2) == 0)
            text += *text == (char)0xe3 ? 2 : 1;
        else if (!strchr(" \t\n\r\v\f", *text))
            return false;
    }
    return true;
}

static bool check_content(const char *of, const char *content, bool required, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    snprintf(field, sizeof field, "%s.content", of);
    if (required && playbook_check_is_blank(content))
        return fail_field(st, field, "is blank; say what was learnt");
    if (!required && *content)
        return fail_field(st, field, "must be empty with this kind of operation");
    return playbook_check_text(field, content, PLAYBOOK_CONTENT_MAX, st);
}

/* A line of text that is written as "## SECTION" and read again. */
static bool check_section(const char *of, const char *section, bool required, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    size_t length = strlen(section);
    snprintf(field, sizeof field, "%s.section", of);
    if (!request_check_name(field, section, PLAYBOOK_SECTION_MAX, required, st))
        return false;
    if (length && (strchr(" \t", section[0]) || strchr(" \t", section[length - 1])))
        return fail_field(st, field, "begins or ends with white space; leave that out");
    return true;
}

bool playbook_check_id(const char *field, const char *id, struct status *st)
{
    static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t good = strspn(id, legal);
    if (!request_check_name(field, id, PLAYBOOK_ID_MAX, true, st))
        return false;
    return !id[good] || fail_field(st, field, "has the byte 0x%02x at %zu; A-Z, a-z, 0-9, '_' and '-' are allowed",
                                   (unsigned)(unsigned char)id[good], good);
}

/* ---- bullets ----------------------------------------------------------------------------------------------------- */

static bool playbook_check_number(const char *of, const char *name, int64_t value, int64_t max, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    snprintf(field, sizeof field, "%s.%s", of, name);
    return (value >= 0 && value <= max) ||
           fail_field(st, field, "is %lld; it must be within 0 and %lld", (long long)value, (long long)max);
}

bool playbook_check_bullet(const char *field, const Renga__V1__Bullet *bullet, struct status *st)
{
    char name[STATUS_FIELD_MAX];
    snprintf(name, sizeof name, "%s.id", field);
    if (*bullet->id && !playbook_check_id(name, bullet->id, st))
        return false;
    snprintf(name, sizeof name, "%s.source", field);
    return check_section(field, bullet->section, false, st) && check_content(field, bullet->content, true, st) &&
           playbook_check_number(field, "helpful", bullet->helpful, PLAYBOOK_COUNT_MAX, st) &&
           playbook_check_number(field, "harmful", bullet->harmful, PLAYBOOK_COUNT_MAX, st) &&
           playbook_check_number(field, "created_ms", bullet->created_ms, TIME_MAX_MS, st) &&
           playbook_check_number(field, "updated_ms", bullet->updated_ms, TIME_MAX_MS, st) &&
           request_check_name(name, bullet->source, PLAYBOOK_SOURCE_MAX, false, st);
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* How many bullets each kind names, and which other fields it has. */
static const struct operation_rule {
    size_t ids_min, ids_max;
    bool has_content, needs_section;
} operation_rules[] = {
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_ADD] = {0, 0, true, true},
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_UPDATE] = {1, 1, true, false},
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_MERGE] = {2, PLAYBOOK_MERGE_MAX, true, false},
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_DELETE] = {1, 1, false, false},
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_COUNT] = {1, 1, false, false},
};
#define KIND_MAX RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_COUNT

static bool check_ids(const char *of, const Renga__V1__PlaybookOperation *operation, const struct operation_rule *rule,
                      struct status *st)
{
    char field[STATUS_FIELD_MAX];
    snprintf(field, sizeof field, "%s.ids", of);
    if (operation->n_ids < rule->ids_min || operation->n_ids > rule->ids_max)
        return fail_field(st, field, "has %zu entries; this kind of operation has %zu to %zu", operation->n_ids,
                          rule->ids_min, rule->ids_max);
    for (size_t i = 0; i < operation->n_ids; i++) {
        snprintf(field, sizeof field, "%s.ids[%zu]", of, i);
        if (!playbook_check_id(field, operation->ids[i], st))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(operation->ids[k], operation->ids[i]) == 0)
                return fail_field(st, field, "is that of ids[%zu] too; a bullet is named once", k);
    }
    return true;
}

static bool check_operation(size_t i, const Renga__V1__PlaybookOperation *operation, struct status *st)
{
    char of[STATUS_FIELD_MAX - 32], field[STATUS_FIELD_MAX];
    int kind = (int)operation->kind;
    snprintf(of, sizeof of, "operations[%zu]", i);
    snprintf(field, sizeof field, "%s.kind", of);
    if (kind < 1 || kind > (int)KIND_MAX)
        return fail_field(st, field, "is %d; it must be ADD, UPDATE, MERGE, DELETE or COUNT", kind);
    const struct operation_rule *rule = &operation_rules[kind];
    int64_t count_max = kind == (int)KIND_MAX ? COUNT_MAX : 0;
    snprintf(field, sizeof field, "%s.section", of);
    if (!rule->has_content && *operation->section)
        return fail_field(st, field, "must be empty with this kind of operation");
    snprintf(field, sizeof field, "%s.reason", of);
    return check_ids(of, operation, rule, st) && check_section(of, operation->section, rule->needs_section, st) &&
           check_content(of, operation->content, rule->has_content, st) &&
           playbook_check_number(of, "helpful", operation->helpful, count_max, st) &&
           playbook_check_number(of, "harmful", operation->harmful, count_max, st) &&
           playbook_check_text(field, operation->reason, PLAYBOOK_WHY_MAX, st);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static bool check_entries(const char *field, size_t count, size_t max, struct status *st)
{
    return count <= max || fail_field(st, field, "has %zu entries; at most %zu are allowed", count, max);
}

static bool check_id_list(const char *name, char *const *ids, size_t count, size_t max, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    if (!check_entries(name, count, max, st))
        return false;
    for (size_t i = 0; i < count; i++) {
        snprintf(field, sizeof field, "%s[%zu]", name, i);
        if (!playbook_check_id(field, ids[i], st))
            return false;
    }
    return true;
}

static bool check_bullets(const Renga__V1__PutPlaybookRequest *request, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    if (!check_entries("bullets", request->n_bullets, PLAYBOOK_BULLETS_MAX, st))
        return false;
    for (size_t i = 0; i < request->n_bullets; i++) {
        snprintf(field, sizeof field, "bullets[%zu]", i);
        if (!playbook_check_bullet(field, request->bullets[i], st))
            return false;
    }
    return true;
}

static bool check_operations(const Renga__V1__PutPlaybookRequest *request, struct status *st)
{
    if (!check_entries("operations", request->n_operations, PLAYBOOK_OPERATIONS_MAX, st))
        return false;
    for (size_t i = 0; i < request->n_operations; i++)
        if (!check_operation(i, request->operations[i], st))
            return false;
    return true;
}

static bool playbook_check_budget(int64_t budget, struct status *st)
{
    return budget == 0 || (budget >= PLAYBOOK_BUDGET_MIN && budget <= PLAYBOOK_BUDGET_MAX) ||
           fail_field(st, "token_budget", "is %lld; it must be 0 (no limit) or within %d and %d", (long long)budget,
                      PLAYBOOK_BUDGET_MIN, PLAYBOOK_BUDGET_MAX);
}

static bool playbook_check_format(const Renga__V1__PutPlaybookRequest *request, struct status *st)
{
    int format = (int)request->format;
    if (format < 0 || format > (int)RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON)
        return fail_field(st, "format", "is %d; it must be TEXT or JSON", format);
    return check_length("text", request->text, PLAYBOOK_TEXT_MAX, st);
}

bool playbook_check_put(const Renga__V1__PutPlaybookRequest *request, struct status *st)
{
    if (request->expected_revision < -1)
        return fail_field(st, "expected_revision", "is %lld; it must be a revision, 0 (any) or -1 (no playbook yet)",
                          (long long)request->expected_revision);
    return playbook_check_dataset("dataset", request->dataset, st) &&
           check_id_list("remove_ids", request->remove_ids, request->n_remove_ids, PLAYBOOK_BULLETS_MAX, st) &&
           check_bullets(request, st) && playbook_check_format(request, st) && check_operations(request, st) &&
           check_id_list("accept_proposals", request->accept_proposals, request->n_accept_proposals,
                         PLAYBOOK_ACCEPT_MAX, st) &&
           check_id_list("reject_proposals", request->reject_proposals, request->n_reject_proposals,
                         PLAYBOOK_ACCEPT_MAX, st) &&
           playbook_check_budget(request->token_budget, st) &&
           request_check_name("request_id", request->request_id, PLAYBOOK_REQUEST_ID_MAX, false, st) &&
           playbook_check_text("reason", request->reason, PLAYBOOK_WHY_MAX, st) &&
           request_check_name("source", request->source, PLAYBOOK_SOURCE_MAX, false, st);
}

bool playbook_check_restore(const Renga__V1__RestorePlaybookRequest *request, struct status *st)
{
    if (request->revision < 0)
        return fail_field(st, "revision", "is %lld; it must be a revision, or 0 (an empty playbook)",
                          (long long)request->revision);
    if (request->expected_revision < 0)
        return fail_field(st, "expected_revision", "is %lld; it must be a revision, or 0 (any)",
                          (long long)request->expected_revision);
    return playbook_check_dataset("dataset", request->dataset, st) &&
           request_check_name("request_id", request->request_id, PLAYBOOK_REQUEST_ID_MAX, false, st) &&
           playbook_check_text("reason", request->reason, PLAYBOOK_WHY_MAX, st);
}
