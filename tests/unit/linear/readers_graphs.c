/* Reading the state of a run: each kind of node, on inputs of a caller and answers of a model. */
#include "calls.h"
#include "readers.h"

#define OBJECTS    "{\"type\":\"object[]\"}"
#define STRINGS    "{\"type\":\"string[]\"}"
#define STRING     "{\"type\":\"string\"}"
#define ENDS(a)    "\"on\":{\"" a "\":\"end\"}"
#define BOTH(a, b) "\"on\":{\"" a "\":\"end\",\"" b "\":\"end\"}"

static const struct generator flags[] = {
    {"items of a list", 0, .begin = "{\"l\":[{\"ok\":true}", .unit = ",{\"ok\":false}", .end = "]}"},
    {"members of an item", 0, .begin = "{\"l\":[{\"ok\":true", .unit = ",\"k\1\":1", .end = "}]}"},
    {.name = NULL},
};

static const struct generator sayings[] = {
    {"a long text", 0, .begin = "{\"t\":\"", .unit = "a", .end = "\"}"},
    {"braces of a text", 0, .begin = "{\"t\":\"", .unit = "{t}", .end = "\"}"},
    {"ends of a fence", 0, .begin = "{\"t\":\"", .unit = "</t>", .end = "\"}"},
    {.name = NULL},
};

#define RESULT "{\"tool_name\":\"search_documents\",\"text\":\"The port is open.\"}"

static const struct generator cited[] = {
    {"sentences of an answer", 0, .begin = "{\"r\":[" RESULT "],\"a\":\"", .unit = "Port \1 is open. ", .end = "\"}"},
    {"bullets of an answer", 0, .begin = "{\"r\":[" RESULT "],\"a\":\"", .unit = "• ", .end = "\"}"},
    {"results with hits", 0, .begin = "{\"a\":\"The port is open.\",\"r\":[" RESULT,
     .unit = ",{\"tool_name\":\"a\",\"hits\":[{\"uri\":\"u\1\",\"snippet\":\"The port \1 is open.\"}]}", .end = "]}"},
    {"results that are alike", 0, .begin = "{\"a\":\"The port is open.\",\"r\":[" RESULT, .unit = "," RESULT,
     .end = "]}"},
    {"results within results", 0, .begin = "{\"a\":\"The port is open.\",\"r\":[" RESULT,
     .unit = ",{\"tool_results\":[{\"text\":\"The port \1 is open.\"}]}", .end = "]}"},
    {.name = NULL},
};

#define CHOICE "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\",\"name\":\"calculate\",\"arguments_json\":\"{}\"}"

static const struct generator histories[] = {
    {"turns of a conversation", 0, .begin = "{\"m\":[{\"role\":\"user\",\"content\":\"Which port?\"}",
     .unit = ",{\"role\":\"user\",\"content\":\"The port is open.\"}", .end = "]}"},
    {"turns with calls", 0, .begin = "{\"m\":[{\"role\":\"user\",\"content\":\"Which port?\"}",
     .unit = "," CHOICE "]},{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"b\"}", .end = "]}"},
    {"a long turn", 0, .begin = "{\"m\":[{\"role\":\"user\",\"content\":\"", .unit = "port ", .end = "\"}]}"},
    {.name = NULL},
};

static const struct generator rounds[] = {
    {"calls of a turn", 0, .begin = "{\"m\":[" CHOICE,
     .unit = ",{\"id\":\"c\1\",\"name\":\"none\",\"arguments_json\":\"{}\"}", .end = "]}]}"},
    {"turns before the calls", 0, .begin = "{\"m\":[{\"role\":\"user\",\"content\":\"a\"}",
     .unit = ",{\"role\":\"user\",\"content\":\"a\"}", .end = "," CHOICE "]}]}"},
    {.name = NULL},
};

static const struct generator notes[] = {
    {"notes", 0, .begin = "{\"l\":[{\"query\":\"q\",\"summary_md\":\"s\"}",
     .unit = ",{\"query\":\"q\1\",\"summary_md\":\"s\"}", .end = "]}"},
    {.name = NULL},
};

static const struct generator items[] = {
    {"branches", 0, .begin = "{\"s\":[\"a\"", .unit = ",\"b\1\"", .end = "]}"},
    {"one long branch", 0, .begin = "{\"s\":[\"", .unit = "a", .end = "\"]}"},
    {.name = NULL},
};

static const struct generator reflections[] = {
    {"an answer and its results", 0, .begin = "{\"q\":\"Which port?\",\"r\":[" RESULT, .unit = "," RESULT,
     .middle = "],\"a\":\"", .close = "The port is open. ", .end = "\"}"},
    {.name = NULL},
};

static const struct generator reviews[] = {
    {"a draft and its sources", 0, .begin = "{\"l\":[{\"url\":\"http://a/\",\"title\":\"a\"}",
     .unit = ",{\"url\":\"http://a/\1\",\"title\":\"a\",\"summary\":\"The port is open.\"}", .middle = "],\"a\":\"",
     .close = "The port \1 is open. ", .end = "\"}"},
    {.name = NULL},
};

static const struct generator merged[] = {
    {"addresses of their own", 0, .begin = "{\"l\":[{\"url\":\"http://a/\",\"t\":\"a\"}",
     .unit = ",{\"url\":\"http://a/\1?b=\1\",\"t\":\"The port is open.\"}", .end = "]}"},
    {"one address", 0, .begin = "{\"l\":[{\"url\":\"http://a/\",\"t\":\"a\"}",
     .unit = ",{\"url\":\"http://a/\",\"t\":\"Port \1 is open.\"}", .end = "]}"},
    {"one long text", 0, .begin = "{\"l\":[{\"url\":\"http://a/\",\"t\":\"a\"},{\"url\":\"http://a/\",\"t\":\"",
     .unit = "The port \1 is open. ", .end = "\"}]}"},
    {.name = NULL},
};

static const struct generator walked[] = {
    {"items before the next one", 0, .begin = "{\"n\":1000000,\"l\":[{\"a\":\"]\\\"\"}",
     .unit = ",{\"a\":{\"b\":\"\\\"],\"}}", .end = "]}"},
    {"a long item", 0, .begin = "{\"l\":[{\"a\":\"", .unit = "\\\\", .end = "\"}]}"},
    {.name = NULL},
};

static const struct generator graded[] = {
    {"a long answer", 0, .begin = "{\"t\":\"aaaaaaaaaaaaaaaaaaaaab\",\"a\":\"", .unit = "a", .end = "\"}"},
    {"numbers of an answer", 0, .begin = "{\"t\":\"1\",\"a\":\"", .unit = "1,000.", .end = "\"}"},
    {.name = NULL},
};

static const struct generator measured[] = {
    {"searches", 0, .begin = "{\"s\":[\"q\"],\"l\":[{\"query\":\"q\"}",
     .unit = ",{\"query\":\"q\1\",\"base\":\"q\",\"result_count\":1,\"relevance_score\":0.5}", .end = "]}"},
    {.name = NULL},
};

static const struct generator inputs[] = {
    {"a field that is not known", 0, .begin = "{\"x\":[0", .unit = ",1", .end = "]}"},
    {"members of an input", 0, .begin = "{\"x\":{\"a\":0", .unit = ",\"a\1\":0", .end = "}}"},
    {.name = NULL},
};

#define KIB ((size_t)1 << 10)

const struct reader readers_graphs[] = {
    {"survey", call_graph, .own = flags, .accepts = true,
     .with = GRAPH("\"l\":" OBJECTS,
                   "\"kind\":\"survey\",\"inputs\":[\"l\"],\"of\":\"l\",\"flag\":\"ok\",\"on\":{\"all\":\"end\","
                   "\"some\":\"end\",\"none\":\"end\"}",
                   NULL)},
    {"text that is said", call_graph, .own = sayings, .accepts = true,
     .with = GRAPH("\"t\":" STRING ",\"a\":" STRING,
                   "\"kind\":\"say\",\"inputs\":[\"t\"],\"prompt\":\"p\",\"into\":\"a\"," ENDS("said"), NULL)},
    {"text that is shown", call_graph, .own = sayings, .accepts = true, .most = 512 * KIB,
     .with = GRAPH("\"t\":" STRING, "\"kind\":\"progress\",\"inputs\":[\"t\"],\"prompt\":\"p\"," ENDS("shown"), NULL)},
    {"citations", call_graph, .own = cited, .accepts = true, .most = 512 * KIB,
     .with = GRAPH("\"a\":" STRING ",\"r\":" OBJECTS ",\"c\":" OBJECTS,
                   "\"kind\":\"cite\",\"inputs\":[\"a\",\"r\"],\"answer\":\"a\",\"results\":\"r\",\"into\":\"c\"," BOTH(
                       "cited", "unsupported"),
                   NULL)},
    {"conversation", call_graph, .own = histories, .accepts = true, .most = 256 * KIB,
     .with =
         GRAPH("\"m\":{\"type\":\"object[]\",\"reduce\":\"append\"},\"a\":" STRING,
               "\"kind\":\"chat\",\"inputs\":[\"m\"],\"history\":\"m\",\"into\":\"a\",\"turns\":\"m\"," ENDS("replied"),
               NULL)},
    {"conversation of a loop", call_graph, .own = histories, .most = 256 * KIB,
     .with = GRAPH("\"m\":{\"type\":\"object[]\",\"reduce\":\"append\"},\"a\":" STRING,
                   "\"kind\":\"agent_loop\",\"inputs\":[\"m\"],\"turns\":\"m\",\"into\":\"a\",\"on\":{\"again\":\"n\","
                   "\"replied\":\"end\"},\"visits\":{\"max\":3,\"then\":\"end\"}",
                   NULL)},
    {"calls of a conversation", call_graph, .own = rounds, .most = 128 * KIB,
     .with = GRAPH(
         "\"m\":{\"type\":\"object[]\",\"reduce\":\"append\"},\"r\":{\"type\":\"object[]\",\"reduce\":\"append\"}",
         "\"kind\":\"run_tools\",\"inputs\":[\"m\"],\"turns\":\"m\",\"into\":\"r\"," ENDS("ran"), NULL)},
    {"choice of tools", call_graph, .own = histories, .accepts = true, .most = 128 * KIB,
     .with = GRAPH(
         "\"m\":{\"type\":\"object[]\",\"reduce\":\"append\"},\"t\":{\"type\":\"string\",\"initial\":\"Which port?\"}",
         "\"kind\":\"select_tools\",\"inputs\":[\"t\",\"m\"],\"prompt\":\"p\",\"turns\":\"m\"," BOTH("chosen", "none"),
         NULL)},
    {"notes of a run", call_graph, .own = notes, .accepts = true, .most = 8 * KIB,
     .with = GRAPH("\"l\":" OBJECTS, "\"kind\":\"note\",\"inputs\":[\"l\"],\"of\":\"l\"," ENDS("noted"), NULL)},
    {"question of a run", call_graph, .sets = HOSTILE_FIELD, .accepts = true, .most = 32 * KIB,
     .with = GRAPH("\"t\":" STRING ",\"s\":" STRINGS,
                   "\"kind\":\"plan\",\"inputs\":[\"t\"],\"style\":\"subtasks\",\"about\":\"t\",\"into\":\"s\"," BOTH(
                       "planned", "empty"),
                   "{\"t\":\"@\"}")},
    {"search of a run", call_graph, .own = sayings, .accepts = true, .most = 32 * KIB,
     .with = GRAPH("\"t\":" STRING ",\"l\":" OBJECTS,
                   "\"kind\":\"search\",\"inputs\":[\"t\"],\"query\":\"t\",\"into\":\"l\"," BOTH("found", "nothing"),
                   NULL)},
    {"reflection of a run", call_graph, .own = reflections, .accepts = true, .most = 16 * KIB,
     .with = GRAPH("\"q\":" STRING ",\"a\":" STRING ",\"r\":" OBJECTS ",\"o\":" OBJECTS,
                   "\"kind\":\"reflect\",\"inputs\":[\"q\",\"a\",\"r\"],\"question\":\"q\",\"subtask\":\"q\","
                   "\"answer\":\"a\",\"results\":\"r\",\"into\":\"o\"," BOTH("completed", "again"),
                   NULL)},
    {"review of a run", call_graph, .own = reviews, .accepts = true, .most = 64 * KIB,
     .with = GRAPH("\"a\":" STRING ",\"l\":" OBJECTS ",\"o\":{\"type\":\"object\"}",
                   "\"kind\":\"review\",\"inputs\":[\"a\",\"l\"],\"style\":\"draft\",\"text\":\"a\",\"sources\":\"l\","
                   "\"into\":\"o\"," BOTH("passed", "failed"),
                   NULL)},
    {"lists that are unified", call_graph, .own = merged, .accepts = true, .most = 512 * KIB,
     .with =
         GRAPH("\"l\":" OBJECTS ",\"k\":" OBJECTS,
               "\"kind\":\"merge\",\"inputs\":[\"l\",\"k\"],\"of\":\"k\",\"with\":\"l\",\"into\":\"k\",\"key\":\"url\","
               "\"addresses\":true,\"extend\":\"t\",\"most\":100000," BOTH("merged", "nothing"),
               NULL)},
    {"progress that is measured", call_graph, .own = measured, .accepts = true, .most = 512 * KIB,
     .with = GRAPH("\"l\":" OBJECTS ",\"s\":" STRINGS ",\"o\":{\"type\":\"object\"}",
                   "\"kind\":\"measure\",\"inputs\":[\"l\",\"s\"],\"of\":\"l\",\"wanted\":\"s\",\"searches\":\"l\","
                   "\"improved\":\"l\",\"into\":\"o\"," ENDS("measured"),
                   NULL)},
    {"item that is taken", call_graph, .own = walked, .accepts = true, .most = 512 * KIB,
     .with = GRAPH("\"l\":" OBJECTS ",\"n\":{\"type\":\"integer\",\"initial\":0},\"o\":{\"type\":\"object\"}",
                   "\"kind\":\"take\",\"of\":\"l\",\"at\":\"n\",\"into\":\"o\"," BOTH("taken", "empty"), NULL)},
    {"answer that is graded", call_graph, .own = graded, .accepts = true, .most = 512 * KIB,
     .with = GRAPH("\"a\":" STRING ",\"t\":" STRING,
                   "\"kind\":\"grade\",\"answer\":\"a\",\"truth\":\"t\",\"on\":{\"right\":\"end\",\"wrong\":\"end\","
                   "\"unknown\":\"end\"}",
                   NULL)},
    {"branches of a run", call_graph, .own = items, .accepts = true, .most = 64 * KIB,
     .with = GRAPH("\"s\":" STRINGS ",\"o\":" OBJECTS,
                   "\"kind\":\"each\",\"of\":\"s\",\"as\":\"i\",\"graph\":\"g\",\"into\":\"o\"," ENDS(
                       "done") "}},\"graphs\":{\"g\":{\"state\":{\"i\":" STRING
                               "},\"start\":\"n\",\"nodes\":{\"n\":{\"kind\":\"noop\"," ENDS("done") "}}",
                   NULL)},
    {"input of a run", call_graph, .own = inputs, .accepts = true,
     .with = GRAPH("\"x\":{\"type\":\"any\"}", "\"kind\":\"noop\"," ENDS("done"), NULL)},
    {.name = NULL},
};
