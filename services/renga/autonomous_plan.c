/* A plan as a person changes it: its lists, and its text in an editor. */
#include "autonomous.h"

#include "base/text.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENTRY_MAX ((size_t)1024)  /* bytes of a point or a query, as in HumanEdit */
#define TEXT_MAX  ((size_t)65536) /* bytes of the plan in an editor */

extern char **environ;

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static char *plan_text(const char *text, size_t length)
{
    char *copy = strndup(text, length);
    if (!copy)
        abort();
    return copy;
}

void autonomous_plan_copy(struct autonomous_plan *plan, const Renga__V1__ResearchPlan *from)
{
    *plan = (struct autonomous_plan){0};
    for (size_t i = 0; from && i < from->n_investigation_points && i < AUTONOMOUS_POINTS_MAX; i++)
        plan->points[plan->point_count++] =
            plan_text(from->investigation_points[i], strlen(from->investigation_points[i]));
    for (size_t i = 0; from && i < from->n_search_queries && i < AUTONOMOUS_QUERIES_MAX; i++)
        plan->queries[plan->query_count++] = plan_text(from->search_queries[i], strlen(from->search_queries[i]));
}

void autonomous_plan_fini(struct autonomous_plan *plan)
{
    while (plan->point_count)
        free(plan->points[--plan->point_count]);
    while (plan->query_count)
        free(plan->queries[--plan->query_count]);
}

bool autonomous_plan_add(struct autonomous_plan *plan, const char *query, struct status *st)
{
    if (plan->query_count == AUTONOMOUS_QUERIES_MAX)
        return fail(st, INVALID_ARGUMENT, "a plan has at most %d queries", AUTONOMOUS_QUERIES_MAX);
    if (!*query || strlen(query) > ENTRY_MAX)
        return fail(st, INVALID_ARGUMENT, "a query has 1 to %zu bytes", ENTRY_MAX);
    plan->queries[plan->query_count++] = plan_text(query, strlen(query));
    return true;
}

static bool plan_has_query(const struct autonomous_plan *plan, size_t number, struct status *st)
{
    return (number >= 1 && number <= plan->query_count) ||
           fail(st, INVALID_ARGUMENT, "there is no query %zu; the plan has %zu", number, plan->query_count);
}

bool autonomous_plan_drop(struct autonomous_plan *plan, size_t number, struct status *st)
{
    if (!plan_has_query(plan, number, st))
        return false;
    if (plan->query_count == 1)
        return fail(st, INVALID_ARGUMENT, "a plan has at least one query");
    free(plan->queries[number - 1]);
    memmove(&plan->queries[number - 1], &plan->queries[number], (plan->query_count-- - number) * sizeof *plan->queries);
    return true;
}

bool autonomous_plan_move(struct autonomous_plan *plan, size_t number, size_t to, struct status *st)
{
    if (!plan_has_query(plan, number, st) || !plan_has_query(plan, to, st))
        return false;
    char *query = plan->queries[number - 1];
    memmove(&plan->queries[number - 1], &plan->queries[number], (plan->query_count - number) * sizeof *plan->queries);
    memmove(&plan->queries[to], &plan->queries[to - 1], (plan->query_count - to) * sizeof *plan->queries);
    plan->queries[to - 1] = query;
    return true;
}

/* ---- its text ---------------------------------------------------------------------------------------------------- */

static void autonomous_plan_write(struct buffer *out, const struct autonomous_plan *plan)
{
    buffer_print(out, "# A line each. The order counts. Lines that begin with # are left out.\n[points]\n");
    for (size_t i = 0; i < plan->point_count; i++)
        buffer_printf(out, "%s\n", plan->points[i]);
    buffer_print(out, "\n[queries]\n");
    for (size_t i = 0; i < plan->query_count; i++)
        buffer_printf(out, "%s\n", plan->queries[i]);
}

static bool plan_read_line(struct autonomous_plan *plan, int *section, const char *line, size_t length, size_t number,
                           struct status *st)
{
    if (!length || *line == '#')
        return true;
    if (*line == '[') {
        *section = length == 8 && memcmp(line, "[points]", 8) == 0    ? 1
                   : length == 9 && memcmp(line, "[queries]", 9) == 0 ? 2
                                                                      : 0;
        return *section || fail(st, INVALID_ARGUMENT, "line %zu: the sections are [points] and [queries]", number);
    }
    if (!*section)
        return fail(st, INVALID_ARGUMENT, "line %zu stands before [points] and [queries]", number);
    if (length > ENTRY_MAX || !text_is_clean(line, length))
        return fail(st, INVALID_ARGUMENT, "line %zu is not UTF-8 of at most %zu bytes", number, ENTRY_MAX);
    size_t *count = *section == 1 ? &plan->point_count : &plan->query_count;
    size_t most = *section == 1 ? AUTONOMOUS_POINTS_MAX : AUTONOMOUS_QUERIES_MAX;
    if (*count == most)
        return fail(st, INVALID_ARGUMENT, "line %zu: at most %zu %s are allowed", number, most,
                    *section == 1 ? "points" : "queries");
    (*section == 1 ? plan->points : plan->queries)[(*count)++] = plan_text(line, length);
    return true;
}

bool autonomous_read_plan(const char *text, struct autonomous_plan *plan, struct status *st)
{
    int section = 0;
    size_t number = 0;
    *plan = (struct autonomous_plan){0};
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n"), head = strspn(at, " \t\r");
        const char *next = at + length + (at[length] == '\n');
        head = head < length ? head : length;
        while (length > head && strchr(" \t\r", at[length - 1]))
            length--;
        if (!plan_read_line(plan, &section, at + head, length - head, ++number, st))
            return autonomous_plan_fini(plan), false;
        at = next;
    }
    if (!plan->query_count) {
        autonomous_plan_fini(plan);
        return fail(st, INVALID_ARGUMENT, "there is no query below [queries]; a plan has at least one");
    }
    return true;
}

/* ---- the editor -------------------------------------------------------------------------------------------------- */

static bool plan_run_editor(const char *path, struct status *st)
{
    const char *editor = getenv("VISUAL");
    if (!editor || !*editor)
        editor = getenv("EDITOR");
    if (!editor || !*editor)
        editor = "vi";
    char script[512];
    if ((size_t)snprintf(script, sizeof script, "%s \"$1\"", editor) >= sizeof script)
        return fail(st, INVALID_ARGUMENT, "EDITOR is longer than %zu bytes", sizeof script);
    char *arguments[] = {command_text("sh"), command_text("-c"), script, command_text("sh"), command_text(path), NULL};
    pid_t child;
    int state = 0;
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) != 0 || waitpid(child, &state, 0) < 0)
        return fail(st, UNAVAILABLE, "the editor '%s' cannot be run: %s", editor, strerror(errno));
    return (WIFEXITED(state) && WEXITSTATUS(state) == 0) ||
           fail(st, UNAVAILABLE, "the editor '%s' has ended with an error", editor);
}

static bool plan_exchange(const char *path, int file, struct buffer *text, struct status *st)
{
    bool written = write(file, text->data, text->length) == (ssize_t)text->length;
    if (close(file) < 0 || !written)
        return fail(st, UNAVAILABLE, "%s cannot be written: %s", path, strerror(errno));
    if (!plan_run_editor(path, st))
        return false;
    FILE *edited = fopen(path, "r"); /* an editor may have put another file in its place */
    if (!edited)
        return fail(st, UNAVAILABLE, "%s cannot be read: %s", path, strerror(errno));
    buffer_clear(text);
    for (int c; (c = getc(edited)) != EOF && !text->failed;)
        buffer_put(text, (char)c);
    fclose(edited);
    return !text->failed || fail(st, INVALID_ARGUMENT, "the plan is longer than %zu bytes", TEXT_MAX);
}

bool autonomous_edit_plan(struct autonomous_plan *plan)
{
    struct status st = {0};
    struct buffer text;
    struct autonomous_plan edited;
    const char *folder = getenv("XDG_RUNTIME_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/renga-plan-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(path); /* of this user alone */
    buffer_init(&text, TEXT_MAX);
    autonomous_plan_write(&text, plan);
    bool good = file >= 0 ? plan_exchange(path, file, &text, &st)
                          : fail(&st, UNAVAILABLE, "%s cannot be made: %s", path, strerror(errno));
    good = good && autonomous_read_plan(buffer_text(&text), &edited, &st);
    if (file >= 0)
        unlink(path);
    buffer_fini(&text);
    if (!good) {
        fprintf(stderr, RESEARCH ": %s\n", st.text);
        return false;
    }
    autonomous_plan_fini(plan);
    *plan = edited;
    return true;
}
