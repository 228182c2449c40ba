/* Requests of the services' methods, and answers of models to them, as callers and upstreams send them. Most of the
 * bounds of the contract are smaller than an attack may be: a refusal for the size alone is cheap. */
#include "calls.h"
#include "readers.h"

#define KIB ((size_t)1 << 10)

/* ---- the planner ------------------------------------------------------------------------------------------------- */

#define FORM_HEAD "{\"fields\":{\"form\":{\"fields\":[{\"id\":\"a\",\"field_id\":\"a\",\"label\":\"A\"}"
#define PLAN_FORM FORM_HEAD ",{\"id\":\"b\",\"field_id\":\"b\",\"label\":\"B\"}]}}}"
#define LETTERS   "pondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpond"

static const struct generator forms[] = {
    {"fields of a form", 0, .begin = FORM_HEAD,
     .unit = ",{\"id\":\"" LETTERS "\1\",\"field_id\":\"" LETTERS "\1\",\"label\":\"A\"}", .end = "]}}}"},
    {"facts of a form", 0,
     .begin = FORM_HEAD "],\"facts\":[{\"form_field_id\":\"a\",\"id\":\"a\",\"fact_key\":\"a\",\"fact\":\"a\"}",
     .unit = ",{\"form_field_id\":\"a\",\"id\":\"i\1\",\"fact_key\":\"k\1\",\"fact\":\"f\"}", .end = "]}}}"},
    {.name = NULL},
};

static const struct generator field_answers[] = {
    {"fields of an answer", 0, .begin = "{\"fields\":[{\"field_id\":\"a\"}",
     .unit = ",{\"field_id\":\"b\",\"intent\":\"c\"}", .end = "]}"},
    {"fields that no form has", 0, .begin = "{\"fields\":[{\"field_id\":\"a\"}", .unit = ",{\"field_id\":\"x\1\"}",
     .end = "]}"},
    {.name = NULL},
};

static const struct generator plans[] = {
    {"texts that differ", 0, .begin = "{\"subtasks\":[\"a\"", .unit = ",\"a\1\"",
     .end = "],\"queries\":[\"a\"],\"gaps\":[],\"reasoning\":\"\"}"},
    {"texts that are alike", 0, .begin = "{\"subtasks\":[\"a\"", .unit = ",\"a\"",
     .end = "],\"queries\":[\"a\"],\"gaps\":[],\"reasoning\":\"\"}"},
    {"texts that are blank", 0, .begin = "{\"subtasks\":[\"a\"", .unit = ",\" \"",
     .end = "],\"queries\":[\"a\"],\"gaps\":[],\"reasoning\":\"\"}"},
    {"a text with blanks around", 0, .begin = "{\"subtasks\":[\"", .unit = "　 ", .middle = "a", .close = "　 ",
     .end = "\"],\"queries\":[\"a\"],\"gaps\":[],\"reasoning\":\"\"}"},
    {.name = NULL},
};

#define PLAN_QUERIES                                                                                                   \
    "{\"queries\":{\"question\":\"Which port?\",\"findings\":[{\"query\":\"a\",\"summary_md\":\"b\"}]}}"

static const struct generator query_answers[] = {
    {"queries of an answer", 0, .begin = "{\"queries\":[\"a\"", .unit = ",\"q\1\"",
     .end = "],\"gaps\":[],\"reasoning\":\"\"}"},
    {"gaps of an answer", 0, .begin = "{\"queries\":[\"a\"],\"gaps\":[\"a\"", .unit = ",\"q\1\"",
     .end = "],\"reasoning\":\"\"}"},
    {.name = NULL},
};

#define PLAN_RESEARCH "{\"research\":{\"theme\":\"Which port?\"}}"

static const struct generator research_answers[] = {
    {"points of an answer", 0, .begin = "{\"theme\":\"a\",\"investigation_points\":[\"a\"", .unit = ",\"p\1\"",
     .end = "],\"search_queries\":[\"a\"],\"plan_text\":\"b\"}"},
    {.name = NULL},
};

#define IMPROVE "{\"base_queries\":[\"port\"],\"feedback\":\"recent\"}"

static const struct generator improvements[] = {
    {"a long query", 0, .begin = "{\"improved_queries\":[\"", .unit = "a ", .end = "\"]}"},
    {"queries too many", 0, .begin = "{\"improved_queries\":[\"a\"", .unit = ",\"a\1\"", .end = "]}"},
    {.name = NULL},
};

/* ---- the reviewer ------------------------------------------------------------------------------------------------ */

#define FIELD  "\"field\":{\"id\":\"a\",\"field_id\":\"a\",\"label\":\"A\"}"
#define FACT   "{\"form_field_id\":\"a\",\"id\":\"a\",\"fact_key\":\"a\",\"fact\":\"The port is open.\"}"
#define REVIEW "{" FIELD ",\"facts\":[" FACT "],\"conversation_summary\":"

static const struct generator facts[] = {
    {"facts of a field", 0, .begin = "{" FIELD ",\"conversation_summary\":\"a\",\"facts\":[" FACT,
     .unit = ",{\"form_field_id\":\"a\",\"id\":\"i\1\",\"fact_key\":\"" LETTERS "\1\",\"fact\":\"f\"}", .end = "]}"},
    {"facts that are known", 0, .begin = REVIEW "\"a\",\"known_facts\":[\"a: b\"", .unit = ",\"a:a:a:a:a: b\1\"",
     .end = "]}"},
    {.name = NULL},
};

static const struct generator judgements[] = {
    {"facts of an answer", 0,
     .begin = "{\"passed\":true,\"feedback\":\"\",\"missing_facts\":[],\"extracted_facts\":[\"a: b\"",
     .unit = ",\"a: b\1\"", .end = "],\"field_value\":\"c\"}"},
    {"facts that are missed", 0,
     .begin = "{\"passed\":true,\"feedback\":\"\",\"extracted_facts\":[],\"missing_facts\":[\"a\"", .unit = ",\"a\1\"",
     .end = "],\"field_value\":\"c\"}"},
    {"a fact with many colons", 0,
     .begin = "{\"passed\":true,\"feedback\":\"\",\"missing_facts\":[],\"extracted_facts\":[\"",
     .unit = "a:", .end = "\"],\"field_value\":\"c\"}"},
    {.name = NULL},
};

static const struct generator sources[] = {
    {"sources of a draft", 0,
     .begin = "{\"draft\":\"The port is open. [1]\",\"sources\":[{\"title\":\"a\",\"url\":\"http://a/\"}",
     .unit = ",{\"title\":\"a\1\",\"url\":\"http://a/\1\",\"summary\":\"The port \1 is open.\"}", .end = "]}"},
    {"citations of a draft", 0,
     .begin = "{\"draft\":\"The port is open. "
              "[1]\",\"sources\":[{\"title\":\"a\",\"url\":\"http://a/\"}],\"citations\":[{\"uri\":\"http://a/\"}",
     .unit = ",{\"uri\":\"http://a/\1\",\"quote\":\"open\"}", .end = "]}"},
    {"notes of a draft", 0, .begin = "{\"sources\":[{\"title\":\"a\",\"url\":\"http://a/\"}],\"draft\":\"a",
     .unit = "The port \1 is open [^\1]. \\n[^\1]: http://a/\1\\n", .end = "\"}"},
    {.name = NULL},
};

#define DRAFT                                                                                                          \
    "{\"draft\":\"The port is open. "                                                                                  \
    "[1]\",\"sources\":[{\"title\":\"a\",\"url\":\"http://a/\",\"summary\":\"Port.\"}]}"

static const struct generator reviews[] = {
    {"issues of a draft", 0,
     .begin = "{\"scores\":{\"fact_check\":0.5,\"completeness\":0.5,\"logic\":0.5,\"format\":0.5},\"feedback\":\"\","
              "\"suggested_action\":\"end\",\"issues\":[{\"type\":\"logic\",\"severity\":\"low\",\"description\":\"a\","
              "\"location\":\"\"}",
     .unit = ",{\"type\":\"logic\",\"severity\":\"low\",\"description\":\"d\1\",\"location\":\"\"}", .end = "]}"},
    {.name = NULL},
};

#define REFLECT "{\"question\":\"Which port?\",\"subtask\":\"Which port?\",\"answer\":\"The port is open.\""

static const struct generator results[] = {
    {"results of tools", 0, .begin = REFLECT ",\"tool_results\":[{\"name\":\"a\",\"text\":\"b\"}",
     .unit = ",{\"name\":\"a\",\"text\":\"The port \1 is open.\",\"message\":\"c\",\"status_code\":3}", .end = "]}"},
    {"hits of a tool", 0, .begin = REFLECT ",\"tool_results\":[{\"name\":\"a\",\"hits\":[{\"uri\":\"a\"}",
     .unit = ",{\"uri\":\"a\1\",\"title\":\"b\",\"heading_path\":[\"c\",\"d\"],\"snippet\":\"The port \1 is open.\"}",
     .end = "]}]}"},
    {.name = NULL},
};

/* ---- the tool-runner --------------------------------------------------------------------------------------------- */

#define RUN                                                                                                            \
    "{\"idempotency_key\":\"#\",\"calls\":[{\"call\":{\"id\":\"1\",\"name\":\"calculate\",\"arguments\":{"             \
    "\"expression\":"

#define CALCULATE RUN "\"1\"}}}"

static const struct generator calls[] = {
    {"calls of tools", 0, .begin = CALCULATE, .unit = ",{\"call\":{\"id\":\"c\1\",\"name\":\"none\1\"}}", .end = "]}"},
    {"tools that are allowed", 0, .begin = CALCULATE "],\"allowed_tools\":[\"calculate\"", .unit = ",\"t\1\"",
     .end = "]}"},
    {.name = NULL},
};

static const struct generator collections[] = {
    {"collections of a search", 0, .begin = "{\"query\":\"port\",\"collections\":[\"red\"", .unit = ",\"c\1\"",
     .end = "]}"},
    {.name = NULL},
};

static const struct generator documents[] = {
    {"documents", 0, .begin = "{\"collection\":\"red\",\"documents\":{\"documents\":[{\"path\":\"a.md\"}",
     .unit = ",{\"path\":\"a\1.md\"}", .end = "]}}"},
    {.name = NULL},
};

static const struct generator deletions[] = {
    {"paths to delete", 0, .begin = "{\"collection\":\"red\",\"paths\":[\"a.md\"", .unit = ",\"a\1.md\"", .end = "]}"},
    {.name = NULL},
};

/* ---- the orchestrator -------------------------------------------------------------------------------------------- */

static const struct generator starts[] = {
    {"nodes to stop at", 0, .begin = "{\"agent\":\"plain\",\"input\":{},\"interrupt_before\":[\"*\"",
     .unit = ",\"n\1\"", .end = "]}"},
    {"a long input", 0, .begin = "{\"agent\":\"plain\",\"wait\":true,\"input\":{\"x\":\"", .unit = "a", .end = "\"}}"},
    {"a configuration", 0,
     .begin = "{\"agent\":\"plain\",\"wait\":true,\"input\":{\"x\":\"a\"},\"configuration\":{\"a\":0",
     .unit = ",\"a\1\":1", .end = "}}"},
    {.name = NULL},
};

static const struct generator answers[] = {
    {"answers to a run", 0, .begin = "{\"run_id\":\"r\",\"answers\":[{\"interrupt_id\":\"i\",\"answer\":1}",
     .unit = ",{\"interrupt_id\":\"i\1\",\"answer\":1}", .end = "]}"},
    {.name = NULL},
};

static const struct generator state_updates[] = {
    {"fields that are cleared", 0, .begin = "{\"thread_id\":\"t\",\"as_node\":\"n\",\"clear_fields\":[\"a\"",
     .unit = ",\"f\1\"", .end = "]}"},
    {.name = NULL},
};

#define TEXT .sets = HOSTILE_TEXT, .accepts = true

const struct reader readers_methods[] = {
    {"question of a plan", call_method, TEXT, .most = 32 * KIB,
     .with = METHOD("Planner.Plan", "{\"subtasks\":{\"question\":\"@\"}}")},
    {"theme of a research", call_method, .sets = HOSTILE_FIELD, .accepts = true, .most = 32 * KIB,
     .with = METHOD("Planner.Plan", "{\"research\":{\"theme\":\"@\"}}")},
    {"form of a plan", call_method, .own = forms, .accepts = true, .most = 32 * KIB,
     .with = METHOD("Planner.Plan", NULL)},
    {"subtasks of a model", call_method, .own = plans, .accepts = true,
     .with = ANSWER("Planner.Plan", "{\"subtasks\":{\"question\":\"Which port?\"}}")},
    {"queries of a model", call_method, .own = query_answers, .accepts = true,
     .with = ANSWER("Planner.Plan", PLAN_QUERIES)},
    {"fields of a model", call_method, .own = field_answers, .accepts = true,
     .with = ANSWER("Planner.Plan", PLAN_FORM)},
    {"research of a model", call_method, .own = research_answers, .accepts = true,
     .with = ANSWER("Planner.Plan", PLAN_RESEARCH)},
    {"better queries of a model", call_method, .own = improvements, .accepts = true,
     .with = ANSWER("Planner.ImproveQueries", IMPROVE)},
    {"feedback on queries", call_method, TEXT, .most = 64 * KIB,
     .with = METHOD("Planner.ImproveQueries", "{\"base_queries\":[\"port\"],\"feedback\":\"@\"}")},
    {"draft", call_method, TEXT, .most = 512 * KIB,
     .with =
         METHOD("Reviewer.ReviewDraft",
                "{\"draft\":\"@\",\"sources\":[{\"title\":\"a\",\"url\":\"http://a/\",\"summary\":\"The port.\"}]}")},
    {"sources of a draft", call_method, .own = sources, .accepts = true, .most = 64 * KIB,
     .with = METHOD("Reviewer.ReviewDraft", NULL)},
    {"review of a model", call_method, .own = reviews, .accepts = true, .with = ANSWER("Reviewer.ReviewDraft", DRAFT)},
    {"answer of a person", call_method, TEXT, .most = 64 * KIB,
     .with = METHOD("Reviewer.ReviewAnswer", REVIEW "\"@\"}")},
    {"facts of a field", call_method, .own = facts, .accepts = true, .most = 32 * KIB,
     .with = METHOD("Reviewer.ReviewAnswer", NULL)},
    {"facts of a model", call_method, .own = judgements, .accepts = true,
     .with = ANSWER("Reviewer.ReviewAnswer", REVIEW "\"a\"}")},
    {"answer to a subtask", call_method, TEXT, .most = 64 * KIB,
     .with = METHOD("Reviewer.Reflect",
                    "{\"question\":\"Which port?\",\"subtask\":\"Which "
                    "port?\",\"answer\":\"@\",\"tool_results\":[{\"name\":\"a\",\"text\":\"The port is open.\"}]}")},
    {"results of a subtask", call_method, .own = results, .accepts = true, .most = 16 * KIB,
     .with = METHOD("Reviewer.Reflect", NULL)},
    {"expression of a call", call_method, .sets = HOSTILE_EXPRESSION, .accepts = true, .most = 64 * KIB,
     .with = METHOD("ToolRunner.RunTools", RUN "\"@\"}}}]}")},
    {"calls of tools", call_method, .own = calls, .accepts = true, .most = 16 * KIB,
     .with = METHOD("ToolRunner.RunTools", NULL)},
    {"documents to index", call_method, .own = documents, .accepts = true, .most = 4 * KIB,
     .with = METHOD("ToolRunner.IndexDocuments", NULL)},
    {"document to index", call_method, .sets = HOSTILE_TABLE, .accepts = true, .most = 1024 * KIB,
     .with = METHOD("ToolRunner.IndexDocuments",
                    "{\"collection\":\"#\",\"documents\":{\"documents\":[{\"path\":\"a.md\"}]}}")},
    {"query of a search", call_method, TEXT, .most = 32 * KIB,
     .with = METHOD("ToolRunner.Search", "{\"query\":\"@\"}")},
    {"collections of a search", call_method, .own = collections, .most = 128 * KIB,
     .with = METHOD("ToolRunner.Search", NULL)},
    {"documents to delete", call_method, .own = deletions, .accepts = true, .most = 8 * KIB,
     .with = METHOD("ToolRunner.DeleteDocuments", NULL)},
    {"note", call_method, .sets = HOSTILE_FIELD, .accepts = true, .most = 16 * KIB,
     .with = METHOD(
         "ToolRunner.SaveNote",
         "{\"thread_id\":\"t\",\"note\":{\"run_id\":\"r\",\"step_no\":1,\"query\":\"q\",\"summary_md\":\"@\"}}")},
    {"question to the help desk", call_method, .sets = HOSTILE_FIELD, .accepts = true, .most = 16 * KIB,
     .with = METHOD("Helpdesk.Ask", "{\"question\":\"@\"}")},
    {"start of a run", call_method, .own = starts, .accepts = true, .most = 256 * KIB,
     .with = METHOD("Orchestrator.StartRun", NULL)},
    {"answers to a run", call_method, .own = answers, .with = METHOD("Orchestrator.ResumeRun", NULL)},
    {"update of a thread", call_method, .own = state_updates, .with = METHOD("Orchestrator.UpdateState", NULL)},
    {"page of runs", call_method, .sets = HOSTILE_FIELD,
     .with = METHOD("Orchestrator.ListRuns", "{\"page_token\":\"@\"}")},
    {"page of notes", call_method, .sets = HOSTILE_FIELD,
     .with = METHOD("ToolRunner.ListNotes", "{\"thread_id\":\"t\",\"page_token\":\"@\"}")},
    {"chat with extractive", call_method, .sets = HOSTILE_FIELD, .accepts = true,
     .with = METHOD("LlmGateway.Chat",
                    "{\"model\":\"default\",\"messages\":[{\"role\":\"CHAT_ROLE_USER\",\"content\":\"@\"}]}"),
     .most = 256 * KIB},
    {"stream of extractive", call_method, .sets = HOSTILE_FIELD, .accepts = true,
     .with = METHOD("LlmGateway.ChatStream",
                    "{\"model\":\"default\",\"messages\":[{\"role\":\"CHAT_ROLE_USER\",\"content\":\"@\"}]}"),
     .most = 256 * KIB},
    {.name = NULL},
};
