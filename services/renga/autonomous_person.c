/* The decision of a person at the terminal, before the supervisor or the writer. */
#include "autonomous.h"

#include "prompt_line.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERSON_LINE_MAX ((size_t)32768) /* bytes, as HumanAdvice.text */
#define SOURCES_MOST    20              /* that are listed before a draft */

/* ---- the subject of a decision ----------------------------------------------------------------------------------- */

static void person_show_sources(const struct autonomous *autonomous)
{
    const Renga__V1__AutonomousResearchResult *result = autonomous->result;
    const struct orchestrator_client *client = &autonomous->research->client;
    printf("%s%s%s (%zu)\n", colour(client, BOLD), autonomous->words->sources, colour(client, PLAIN),
           result->n_sources);
    for (size_t i = 0; i < result->n_sources && i < SOURCES_MOST; i++) {
        printf("  %2zu. ", i + 1);
        show_text(*result->sources[i]->title ? result->sources[i]->title : result->sources[i]->url);
        printf(" %s", colour(client, DIM));
        show_text(result->sources[i]->url);
        printf("%s\n", colour(client, PLAIN));
    }
    if (result->n_sources > SOURCES_MOST)
        puts("  …");
}

static bool person_stands_before_writer(const struct autonomous *autonomous)
{
    return strcmp(autonomous->result->waiting->node, "writer") == 0;
}

static void person_show_wait(const struct autonomous *autonomous, const struct autonomous_plan *plan)
{
    const struct autonomous_words *words = autonomous->words;
    const Renga__V1__ResearchWaiting *waiting = autonomous->result->waiting;
    char until[32];
    putchar('\n');
    if (person_stands_before_writer(autonomous))
        person_show_sources(autonomous);
    else if (plan->query_count)
        autonomous_show_plan(stdout, autonomous, plan);
    if (waiting->until_ms)
        printf("(%s%s: %s)\n", words->until, time_text(waiting->until_ms, until),
               words->defaults[waiting->human_default < 3 ? waiting->human_default : 0]);
    printf("%s%s%s\n", colour(&autonomous->research->client, BOLD),
           words->before[person_stands_before_writer(autonomous) ? 1
                         : plan->query_count                     ? 0
                                                                 : 2],
           colour(&autonomous->research->client, PLAIN));
}

/* ---- decisions --------------------------------------------------------------------------------------------------- */

void autonomous_decision_fini(struct autonomous_decision *decision)
{
    autonomous_plan_fini(&decision->plan);
    free(decision->text);
    decision->text = NULL;
}

static char *person_keep(struct autonomous_decision *decision, const char *text)
{
    free(decision->text);
    decision->text = strdup(text);
    if (!decision->text)
        abort();
    return decision->text;
}

static void person_approve(struct autonomous_decision *decision)
{
    renga__v1__human_approval__init(&decision->form.approve);
    decision->decision.decision_case = RENGA__V1__HUMAN_DECISION__DECISION_APPROVE;
    decision->decision.approve = &decision->form.approve;
}

static void person_edit(struct autonomous_decision *decision)
{
    Renga__V1__HumanEdit *edit = decision->decision.edit = &decision->form.edit;
    renga__v1__human_edit__init(edit);
    decision->decision.decision_case = RENGA__V1__HUMAN_DECISION__DECISION_EDIT;
    edit->search_queries = decision->plan.queries;
    edit->n_search_queries = decision->plan.query_count;
    edit->investigation_points = decision->plan.points;
    edit->n_investigation_points = decision->plan.point_count;
}

static bool person_advise(struct autonomous_decision *decision, const char *text, struct status *st)
{
    if (!*text)
        return fail(st, INVALID_ARGUMENT, "a TEXT: the advice is missing");
    renga__v1__human_advice__init(&decision->form.advise);
    decision->decision.decision_case = RENGA__V1__HUMAN_DECISION__DECISION_ADVISE;
    decision->decision.advise = &decision->form.advise;
    decision->form.advise.text = person_keep(decision, text);
    return true;
}

static bool person_reject(struct autonomous_decision *decision, const char *text, struct status *st)
{
    if (!*text)
        return fail(st, INVALID_ARGUMENT, "r REASON: the reason is missing");
    renga__v1__human_rejection__init(&decision->form.reject);
    decision->decision.decision_case = RENGA__V1__HUMAN_DECISION__DECISION_REJECT;
    decision->decision.reject = &decision->form.reject;
    decision->form.reject.reason = person_keep(decision, text);
    return true;
}

static void person_stop(struct autonomous_decision *decision, const char *text)
{
    renga__v1__human_stop__init(&decision->form.stop);
    decision->decision.decision_case = RENGA__V1__HUMAN_DECISION__DECISION_STOP;
    decision->decision.stop = &decision->form.stop;
    decision->form.stop.reason = person_keep(decision, text);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

enum person_line { PERSON_LINE_DECIDES, PERSON_LINE_CHANGED, PERSON_LINE_READ };

/* "2 > 1" */
static bool person_move(struct autonomous_plan *plan, const char *line, struct status *st)
{
    char *rest;
    size_t number = strtoul(line, &rest, 10);
    while (*rest == ' ')
        rest++;
    if (*rest != '>')
        return fail(st, INVALID_ARGUMENT, "N > M moves query N to place M");
    size_t to = strtoul(rest + 1, &rest, 10);
    return autonomous_plan_move(plan, number, to, st);
}

/* `line` is trimmed. */
static bool person_obey(struct autonomous_decision *decision, const char *line, bool changed, enum person_line *what,
                        struct status *st)
{
    const char *rest = *line ? line + 1 : line;
    rest += strspn(rest, " ");
    *what = PERSON_LINE_CHANGED;
    if (*line == '+')
        return autonomous_plan_add(&decision->plan, rest, st);
    if (*line == '-')
        return autonomous_plan_drop(&decision->plan, strtoul(rest, NULL, 10), st);
    if (isdigit((unsigned char)*line))
        return person_move(&decision->plan, line, st);
    if (strcmp(line, "e") == 0)
        return autonomous_edit_plan(&decision->plan) || fail(st, INVALID_ARGUMENT, "the plan is as it was");
    *what = PERSON_LINE_DECIDES;
    if (!*line)
        return (changed ? person_edit : person_approve)(decision), true;
    bool single = !line[1] || line[1] == ' ';
    if (single && *line == 'a')
        return person_advise(decision, rest, st);
    if (single && *line == 'r')
        return person_reject(decision, rest, st);
    if (single && *line == 's')
        return person_stop(decision, rest), true;
    *what = PERSON_LINE_READ;
    return strcmp(line, "?") == 0 || fail(st, INVALID_ARGUMENT, "'%s' is no command; ? lists them", line);
}

static char *person_trim(struct buffer *line)
{
    while (line->length && isspace((unsigned char)line->data[line->length - 1]))
        line->length--;
    const char *text = buffer_text(line);
    return command_text(text + strspn(text, " \t"));
}

enum person_end autonomous_ask_person(struct autonomous *autonomous)
{
    struct autonomous_decision *decision = &autonomous->decision;
    struct buffer line;
    bool decided = false, changed = false;
    autonomous_decision_fini(decision);
    renga__v1__human_decision__init(&decision->decision);
    autonomous_plan_copy(&decision->plan, autonomous->result->plan);
    person_show_wait(autonomous, &decision->plan);
    buffer_init(&line, PERSON_LINE_MAX + 1);
    while (!decided) {
        struct status st = {0};
        enum person_line what = PERSON_LINE_READ;
        enum prompt_line read = prompt_line_read(autonomous->words->prompt, &line, PERSON_LINE_MAX);
        if (read == PROMPT_ENDED || read == PROMPT_INTERRUPTED)
            break;
        if (read == PROMPT_REFUSED)
            continue;
        if (!person_obey(decision, person_trim(&line), changed, &what, &st))
            fprintf(stderr, RESEARCH ": %s\n", st.text);
        else if (what == PERSON_LINE_CHANGED)
            changed = true, autonomous_show_plan(stdout, autonomous, &decision->plan);
        else if (what == PERSON_LINE_READ)
            fputs(autonomous->words->help, stdout);
        else
            decided = true;
    }
    buffer_fini(&line);
    if (!decided)
        putchar('\n');
    return decided ? PERSON_DECIDED : PERSON_LEFT;
}
