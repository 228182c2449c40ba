/* Compares an answer with the right one, by code: no model is asked (words/answers.h). */
#include "input_job.h"

#include "words/answers.h"

#include <string.h>

enum { GRADE_ANSWER, GRADE_TRUTH, GRADE_MATCH };

static const struct node_parameter parameters[] = {
    [GRADE_ANSWER] = {"answer", READS_STRING, REQUIRED, "The answer, a string."},
    [GRADE_TRUTH] = {"truth", READS_STRING, REQUIRED,
                     "The right answer, a string. Without one the outcome is \"unknown\"."},
    [GRADE_MATCH] = {"match", READS_STRING, OPTIONAL,
                     "How they are compared, a string: \"contains\" (the truth stands in the answer as whole words; so "
                     "without this field), \"exact\", \"number\" (the last number of both) or \"pattern\" (the truth "
                     "is a regular expression)."},
    {.name = NULL},
};
enum { GRADED_RIGHT, GRADED_WRONG, GRADED_UNKNOWN };
static const char *const outcomes[] = {"right", "wrong", "unknown", NULL};

struct grading {
    struct input_job base; /* first */
    int outcome;
};

static bool grade_match(const struct input_job *job, enum answer_match *match, struct status *st)
{
    const char *word = service_call_text(&job->base, GRADE_MATCH);
    for (int i = 0; answer_match_words[i]; i++)
        if (strcmp(word, answer_match_words[i]) == 0) {
            *match = (enum answer_match)i;
            return true;
        }
    *match = ANSWER_CONTAINS;
    return !*word || fail(st, INVALID_ARGUMENT, "'%s' is '%.64s'; it must be contains, exact, number or pattern",
                          node_argument(task_node(job->base.task), GRADE_MATCH)->field->name, word);
}

static bool grade_run(struct input_job *job, struct status *st)
{
    struct grading *grading = CONTAINER_OF(job, struct grading, base);
    const char *answer = service_call_text(&job->base, GRADE_ANSWER);
    const char *truth = service_call_text(&job->base, GRADE_TRUTH);
    struct status why = {0};
    enum answer_match match;
    grading->outcome = GRADED_UNKNOWN;
    if (!*truth)
        return true;
    if (!grade_match(job, &match, st))
        return false;
    if (!answer_truth_check(match, truth, &why))
        return fail(st, why.code, "the ground truth %s", why.text);
    grading->outcome = answer_is_right(match, answer, truth) ? GRADED_RIGHT : GRADED_WRONG;
    return true;
}

static const char *grade_finish(struct input_job *job, struct update *update)
{
    (void)update;
    return outcomes[CONTAINER_OF(job, struct grading, base)->outcome];
}

static void grade_start(struct task *task)
{
    struct grading *grading = task_data(task);
    input_job_start(&grading->base, task, grade_run, grade_finish);
}

extern const struct node_kind grade_kind;
const struct node_kind grade_kind = {
    .name = "grade",
    .help = "Compares an answer with the right one.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct grading),
    .start = grade_start,
    .cancel = input_job_cancel,
};
