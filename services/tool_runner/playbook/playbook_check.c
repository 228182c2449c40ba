/* The rules that relate several fields; the contract's options have the bounds of each field. */
#include "playbook_check.h"

#include "base/text.h"

#include "proto/contract_check.h"

#include <stdio.h>
#include <string.h>

#define MERGE_MAX 16 /* bullets */

/* Is written as "## SECTION" and read again. */
static bool check_section(const char *list, size_t index, const char *section, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    size_t length = strlen(section);
    if (!length || (!strchr(" \t", section[0]) && !strchr(" \t", section[length - 1])))
        return true;
    snprintf(field, sizeof field, "%s[%zu].section", list, index);
    return fail_field(st, field, "begins or ends with white space; leave that out");
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* How many bullets each kind names, and which other fields it has. */
static const struct operation_rule {
    size_t ids_min, ids_max;
    bool has_content, needs_section, counts;
} operation_rules[] = {
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_ADD] = {0, 0, true, true, false},
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_UPDATE] = {1, 1, true, false, false},
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_MERGE] = {2, MERGE_MAX, true, false, false},
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_DELETE] = {1, 1, false, false, false},
    [RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_COUNT] = {1, 1, false, false, true},
};

static bool check_ids(const char *field, const Renga__V1__PlaybookOperation *operation,
                      const struct operation_rule *rule, struct status *st)
{
    char name[STATUS_FIELD_MAX];
    if (operation->n_ids < rule->ids_min || operation->n_ids > rule->ids_max)
        return fail_field(st, field, "has %zu entries; this kind of operation has %zu to %zu", operation->n_ids,
                          rule->ids_min, rule->ids_max);
    for (size_t i = 0; i < operation->n_ids; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(operation->ids[k], operation->ids[i]) == 0) {
                snprintf(name, sizeof name, "%.64s[%zu]", field, i);
                return fail_field(st, name, "is that of ids[%zu] too; a bullet is named once", k);
            }
    return true;
}

static bool check_operation(size_t i, const Renga__V1__PlaybookOperation *operation, struct status *st)
{
    static const char empty[] = "must be empty with this kind of operation";
    char ids[STATUS_FIELD_MAX], section[STATUS_FIELD_MAX], content[STATUS_FIELD_MAX], count[STATUS_FIELD_MAX];
    const struct operation_rule *rule = &operation_rules[operation->kind]; /* a known kind */
    snprintf(ids, sizeof ids, "operations[%zu].ids", i);
    snprintf(section, sizeof section, "operations[%zu].section", i);
    snprintf(content, sizeof content, "operations[%zu].content", i);
    snprintf(count, sizeof count, "operations[%zu].%s", i, operation->helpful ? "helpful" : "harmful");
    if (!rule->has_content && *operation->section)
        return fail_field(st, section, "%s", empty);
    if (!check_ids(ids, operation, rule, st))
        return false;
    if (rule->needs_section && !*operation->section)
        return fail_field(st, section, "is empty; it is required");
    if (!check_section("operations", i, operation->section, st))
        return false;
    if (rule->has_content && text_is_blank(operation->content))
        return fail_field(st, content, "is blank; say what was learnt");
    if (!rule->has_content && *operation->content)
        return fail_field(st, content, "%s", empty);
    return rule->counts || (!operation->helpful && !operation->harmful) ||
           fail_field(st, count, "must be 0 with this kind of operation");
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

bool playbook_check_put(const Renga__V1__PutPlaybookRequest *request, struct status *st)
{
    if (!contract_check(&request->base, st) || !playbook_check_dataset("dataset", request->dataset, st))
        return false;
    for (size_t i = 0; i < request->n_bullets; i++)
        if (!check_section("bullets", i, request->bullets[i]->section, st))
            return false;
    for (size_t i = 0; i < request->n_operations; i++)
        if (!check_operation(i, request->operations[i], st))
            return false;
    return true;
}

bool playbook_check_restore(const Renga__V1__RestorePlaybookRequest *request, struct status *st)
{
    return contract_check(&request->base, st) && playbook_check_dataset("dataset", request->dataset, st);
}
