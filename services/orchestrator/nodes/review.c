/* Has the reviewer judge an answer to a field of a form, or the draft of a report. */
#include "service_call.h"

#include "rpc/message_json.h"

#include "renga/v1/reviewer.pb-c.h"

enum {
    REVIEW_STYLE,
    REVIEW_TEXT,
    REVIEW_INTO,
    REVIEW_FIELD,
    REVIEW_FACTS,
    REVIEW_KNOWN,
    REVIEW_SOURCES,
    REVIEW_PLAN,
    REVIEW_CITATIONS,
    REVIEW_FEEDBACK,
    REVIEW_PASSAGES,
    REVIEW_PROMPTING
};

static const struct node_parameter parameters[] = {
    [REVIEW_STYLE] = {"style", PARAMETER_TEXT, REQUIRED, "\"answer\" to a field of a form, or \"draft\" of a report."},
    [REVIEW_TEXT] = {"text", READS_STRING, REQUIRED,
                     "What is judged, a string: the conversation about the field, or the draft in Markdown."},
    [REVIEW_INTO] = {"into", WRITES_OBJECT, REQUIRED, "The judgement, an object: ReviewResult, or DraftReview."},
    [REVIEW_FIELD] = {"field", READS_OBJECT, OPTIONAL, "With answer: the field, an object (FormField)."},
    [REVIEW_FACTS] = {"facts", READS_OBJECTS, OPTIONAL,
                      "With answer: the facts it has to contain, an object[] (FactDefinition)."},
    [REVIEW_KNOWN] = {"known", READS_STRINGS, OPTIONAL, "With answer: facts known before, a string[]."},
    [REVIEW_SOURCES] = {"sources", READS_OBJECTS, OPTIONAL,
                        "With draft: all that it may use, an object[] (SearchResult)."},
    [REVIEW_PLAN] = {"plan", READS_OBJECT, OPTIONAL, "With draft: what it has to cover, an object (ResearchPlan)."},
    [REVIEW_CITATIONS] = {"citations", READS_OBJECTS, OPTIONAL,
                          "With draft: where its sentences are supported, as cite writes it, an object[]."},
    [REVIEW_FEEDBACK] = {"feedback", READS_STRING, OPTIONAL, "With draft: what was said of the one before, a string."},
    [REVIEW_PASSAGES] =
        {"passages", READS_OBJECTS, OPTIONAL,
         "With draft: what sources say beyond their summaries, as report writes it, an object[] (SourcePassage)."},
    PROMPTING_ROWS(REVIEW_PROMPTING),
    {.name = NULL},
};
static const char *const outcomes[] = {"passed", "failed", NULL};

struct review {
    struct service_call base; /* first */
    union {
        Renga__V1__ReviewAnswerRequest answer;
        Renga__V1__ReviewDraftRequest draft;
    } request;
};

static void review_finish(struct review *review, const ProtobufCMessage *judgement, bool passed,
                          Renga__V1__Usage *usage, Renga__V1__Degradation **degradations, size_t count)
{
    struct task *task = review->base.task;
    struct status st = {0};
    struct update update;
    if (!judgement) {
        fail(&st, DATA_LOSS, "the reviewer gave no judgement");
        task_fail(task, &st);
        return;
    }
    update_begin(&update);
    message_write_json(&update.out, update_field(task, REVIEW_INTO), judgement);
    update.response.usage = usage;
    update.response.degradations = degradations;
    update.response.n_degradations = count;
    update_finish(&update, task, outcomes[passed ? 0 : 1]);
}

/* ---- the answer to a field --------------------------------------------------------------------------------------- */

static void answer_reviewed(const Renga__V1__ReviewAnswerResponse *answer, void *data)
{
    struct review *review = ((struct rpc_client_call *)data)->owner;
    if (!answer)
        service_call_failed(&review->base);
    else
        review_finish(review, answer->review ? &answer->review->base : NULL, answer->review && answer->review->passed,
                      answer->usage, answer->degradations, answer->n_degradations);
}

static bool ask_answer(struct review *review, struct status *st)
{
    struct service_call *base = &review->base;
    Renga__V1__ReviewAnswerRequest *request = &review->request.answer;
    renga__v1__review_answer_request__init(request);
    request->conversation_summary = service_call_text(base, REVIEW_TEXT);
    request->prompting = &base->prompting;
    request->origin = &base->origin;
    return service_call_message(base, REVIEW_FIELD, &renga__v1__form_field__descriptor, &request->field, st) &&
           service_call_messages(base, REVIEW_FACTS, &renga__v1__fact_definition__descriptor, &request->facts,
                                 &request->n_facts, st) &&
           service_call_texts(base, REVIEW_KNOWN, &request->known_facts, &request->n_known_facts, st);
}

static void call_answer(struct review *review)
{
    renga__v1__reviewer__review_answer(review->base.peer, &review->request.answer, answer_reviewed, &review->base.call);
}

/* ---- the draft --------------------------------------------------------------------------------------------------- */

static void draft_reviewed(const Renga__V1__ReviewDraftResponse *answer, void *data)
{
    struct review *review = ((struct rpc_client_call *)data)->owner;
    if (!answer)
        service_call_failed(&review->base);
    else
        review_finish(review, answer->review ? &answer->review->base : NULL, answer->review && answer->review->approved,
                      answer->usage, answer->degradations, answer->n_degradations);
}

static bool ask_draft(struct review *review, struct status *st)
{
    struct service_call *base = &review->base;
    Renga__V1__ReviewDraftRequest *request = &review->request.draft;
    renga__v1__review_draft_request__init(request);
    request->draft = service_call_text(base, REVIEW_TEXT);
    request->earlier_feedback = service_call_text(base, REVIEW_FEEDBACK);
    request->prompting = &base->prompting;
    request->origin = &base->origin;
    return service_call_messages(base, REVIEW_SOURCES, &renga__v1__search_result__descriptor, &request->sources,
                                 &request->n_sources, st) &&
           service_call_message(base, REVIEW_PLAN, &renga__v1__research_plan__descriptor, &request->plan, st) &&
           service_call_messages(base, REVIEW_CITATIONS, &renga__v1__citation__descriptor, &request->citations,
                                 &request->n_citations, st) &&
           service_call_messages(base, REVIEW_PASSAGES, &renga__v1__source_passage__descriptor, &request->passages,
                                 &request->n_passages, st);
}

static void call_draft(struct review *review)
{
    renga__v1__reviewer__review_draft(review->base.peer, &review->request.draft, draft_reviewed, &review->base.call);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static const char *const style_words[] = {"answer", "draft", NULL};
static const struct style {
    bool (*ask)(struct review *review, struct status *st);
    void (*call)(struct review *review);
} styles[] = {{ask_answer, call_answer}, {ask_draft, call_draft}};

static bool review_check(const struct node *node, struct status *st)
{
    int style = word_check(node, REVIEW_STYLE, style_words, st);
    if (style < 0)
        return false;
    if (style == 0 && !node_argument(node, REVIEW_FIELD)->field)
        return fail_field(st, "field", "is not there; an answer is judged by its field");
    return true;
}

static void review_start(struct task *task)
{
    struct review *review = task_data(task);
    struct status st = {0};
    const struct style *style = &styles[word_check(task_node(task), REVIEW_STYLE, style_words, &st)];
    bool good = service_call_open(&review->base, task, PEER_REVIEWER, &st);
    if (good)
        service_call_prompt(&review->base, REVIEW_PROMPTING);
    good = good && style->ask(review, &st);
    service_call_close(&review->base);
    if (good)
        style->call(review);
    else
        task_fail(task, &st);
}

extern const struct node_kind review_kind;
const struct node_kind review_kind = {
    .name = "review",
    .help = "Has the reviewer judge an answer or a draft.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = review_check,
    .size = sizeof(struct review),
    .start = review_start,
    .cancel = service_call_cancel,
    .travels = true,
    .asks_models = true,
    .has_fallback = true,
};
