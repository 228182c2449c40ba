/* Documents that cannot be: each is refused with its line and column, and what would be right. */
#include "unit.h"

#include "agent_fixture.h"

/* Parts of a document of which one line is wrong. */
#define HEAD        "{\"agent\": \"a\",\n"
#define STATE(text) HEAD "\"state\": {" text "},\n\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}"
#define FIELD(text) STATE("\n\"f\": " text)
#define FIELDS                                                                                                         \
    "\"state\": {\"s\": {\"type\": \"string\"}, \"l\": {\"type\": \"string[]\"}, \"o\": {\"type\": \"object[]\"}, "    \
    "\"i\": {\"type\": \"integer\"}},\n"
#define TOP(text)     HEAD FIELDS "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}},\n" text "}"
#define NODES(text)   HEAD FIELDS "\"start\": \"n\", \"nodes\": {\n" text "}}"
#define NODE(text)    NODES("\"n\": {" text "}")
#define NOOP(text)    NODE("\"kind\": \"noop\", " text)
#define SET(text)     NODE("\"kind\": \"set\", \"values\": " text)
#define ASK(text)     NODE("\"kind\": \"ask\", \"into\": \"s\"" text)
#define REMOTE(text)  NODE("\"kind\": \"remote\", \"address\": \"h:1\", " text)
#define ADDRESS(text) NODE("\"kind\": \"remote\", \"address\": " text)
#define SUB(node, graph)                                                                                               \
    HEAD FIELDS "\"start\": \"n\", \"nodes\": {\n\"n\": {" node "}},\n\"graphs\": {\"g\": {\n" graph "}}}"
#define INNER                                                                                                          \
    "\"state\": {\"x\": {\"type\": \"string\"}, \"y\": {\"type\": \"integer\"}}, \"input\": [\"x\"], \"start\": "      \
    "\"m\", \"nodes\": {\"m\": {\"kind\": \"noop\"}}"
#define EACH(of, as, graph, into)                                                                                      \
    "\"kind\": \"each\", \"of\": \"" of "\", \"as\": \"" as "\", \"graph\": \"" graph "\", \"into\": \"" into "\""
#define SHORTEN(of, into, more)                                                                                        \
    NODE("\"kind\": \"shorten\", \"of\": \"" of "\", \"into\": \"" into "\", \"bytes\": 9" more)
#define RUNS(graph) "\"kind\": \"graph\", \"graph\": \"" graph "\""

struct wrong {
    const char *document;
    int line, column;
    const char *text;
};

static const struct wrong texts[] = {
    {"", 1, 1, ""},
    {"{\"agent\": \"a\",\n \"start\": x}", 2, 11, "expected"},
    {"{\"agent\": \"a\",\n /* never", 2, 2, "the comment does not end"},
    {"{\"agent\": \"a\",\n \"agent\": \"a\"}", 2, 2, "agent"},
    {"{\"agent\": \"\xff\"}", 1, 12, "UTF-8"},
    {"[]", 1, 1, "must be an object"},
    {"\xEF\xBB\xBF{\"agent\": \"a\"}", 1, 1, "begins with a byte order mark; save it as UTF-8 without one"},
    {"{\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}", 1, 1, "\"agent\" is missing"},
    {"{\"agent\": \"a\",\n\"start\": \"n\"}", 1, 1, "\"nodes\" is missing"},
    {"{\"agent\": \"a\",\n\"nodes\": {\"n\": {\"kind\": \"noop\"}}}", 1, 1, "\"start\" is missing"},
    {"{\"agent\": \"b\", \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}", 1, 2,
     "the agent is 'b', but its folder 'a'"},
    {"{\"agent\": 7, \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}", 1, 2, "agent must be a string"},
    {"{\"agent\": \"a\", \"start\": \"n\", \"nodes\": {}}", 1, 30,
     "\"nodes\" must be an object of 1 to 1000 nodes, not 0"},
    {"{\"agent\": \"a\", \"start\": \"n\", \"nodes\": [1]}", 1, 30, "\"nodes\" must be an object"},
};

static const struct wrong tops[] = {
    {TOP("\"ndoes\": 1"), 4, 1, "unknown key 'ndoes'; did you mean 'nodes'?"},
    {TOP("\"zzzzzz\": 1"), 4, 1, "unknown key 'zzzzzz'; there are agent, description, state"},
    {TOP("\"mode\": \"dataflw\""), 4, 1, "mode is 'dataflw'; did you mean 'dataflow'?"},
    {TOP("\"mode\": 7"), 4, 1, "mode must be one of supersteps|dataflow"},
    {TOP("\"recursion_limit\": 0"), 4, 1, "recursion_limit is '0', must be within 1 and 1000000"},
    {TOP("\"recursion_limit\": \"9\""), 4, 1, "must be a whole number"},
    {TOP("\"max_concurrency\": 1.5"), 4, 1, "must be a whole number"},
    {TOP("\"timeout\": 5"), 4, 1, "with its unit: \"3s\""},
    {TOP("\"idle_timeout\": \"40d\""), 4, 1, "must be within 1ms and 30d"},
    {TOP("\"fail_fast\": \"yes\""), 4, 1, "must be true or false"},
    {TOP("\"description\": []"), 4, 1, "description must be a string"},
    {TOP("\"budget\": {\"tokesn\": 1}"), 4, 12, "unknown key 'tokesn'; did you mean 'tokens'?"},
    {TOP("\"budget\": {\"tokens\": -1}"), 4, 12, "tokens is '-1', must be within 0"},
    {TOP("\"budget\": {\"usd\": -1}"), 4, 12, "usd must be a number of USD"},
    {TOP("\"budget\": 3"), 4, 1, "budget: must be an object"},
    {TOP("\"error_node\": \"m\""), 4, 1, "there is no node 'm'"},
    {TOP("\"error_node\": \"end\""), 4, 1, "error_node must be the name of a node"},
    {TOP("\"error_into\": \"x\""), 4, 1, "error_into is for graphs with an error_node"},
    {TOP("\"error_node\": \"n\", \"error_into\": \"nothing\""), 4, 20, "error_into: there is no field 'nothing'"},
    {TOP("\"error_node\": \"n\", \"error_into\": \"s\""), 4, 20, "error_into: 's' is of another type"},
    {TOP("\"error_codes\": [\"UNAVAILABLE\"]"), 4, 1, "error_codes is for graphs with an error_node"},
    {TOP("\"error_node\": \"n\", \"error_codes\": \"UNAVAILABLE\""), 4, 20, "error_codes must be a list of status"},
    {TOP("\"error_node\": \"n\", \"error_codes\": []"), 4, 20, "error_codes is empty, so error_node would never run"},
    {TOP("\"error_node\": \"n\", \"error_codes\": [\"AWAY\"]"), 4, 36, "error_codes: 'AWAY' is no status code"},
    {TOP("\"error_node\": \"n\", \"error_codes\": [\"CANCELLED\"]"), 4, 36,
     "a node that ends CANCELLED has not failed"},
    {TOP("\"interrupt_before\": [\"n\",\n\"m\"]"), 5, 1, "there is no node 'm'"},
    {TOP("\"interrupt_after\": \"n\""), 4, 1, "interrupt_after must be a list of names of nodes"},
    {TOP("\"interrupt_after\": [\"n\", \"n\"]"), 4, 26, "'n' stands in the list twice"},
    {TOP("\"memory\": \"thread\""), 4, 1, "\"memory\" is for sub-graphs"},
    {TOP("\"input\": [\"s\", \"q\"]"), 4, 16, "input: there is no field 'q'"},
    {TOP("\"output\": [\"s\", \"s\"]"), 4, 17, "output has 's' twice"},
    {TOP("\"output\": \"s\""), 4, 1, "output must be a list"},
    {TOP("\"graphs\": []"), 4, 1, "graphs: must be an object"},
    {TOP("\"graphs\": {\"g\": 1}"), 4, 12, "g: must be an object"},
    {TOP("\"graphs\": {\"a\": {}}"), 4, 12, "'a' is the agent itself"},
    {TOP("\"graphs\": {\"g\": {\"start\": \"m\", \"nodes\": {\"m\": {\"kind\": \"noop\"}}}}"), 4, 12,
     "no node runs the graph 'g'"},
    {TOP("\"graphs\": {\"g h\": {}}"), 4, 12, "'g h' is no name for a graph"},
};

static const struct wrong fields[] = {
    {HEAD "\"state\": [],\n\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}", 2, 1,
     "state: must be an object of fields"},
    {FIELD("1"), 3, 1, "f: must be an object"},
    {FIELD("{}"), 3, 1, "f: \"type\" is missing"},
    {FIELD("{\"type\": \"string[]\", \"keep\": 3}"), 3, 27, "keep: 'f' does not append"},
    {FIELD("{\"type\": \"string[]\", \"reduce\": \"append\", \"keep\": 0}"), 3, 47,
     "keep is '0', must be within 1 and 10000"},
    {FIELD("{\"type\": \"string[]\", \"reduce\": \"append\", \"keep\": 1, \"initial\": [\"a\", \"b\"]}"), 3, 58,
     "the initial value of 'f' has 2 items, and \"keep\" allows 1"},
    {FIELD("{\"type\": \"int\"}"), 3, 7, "type is 'int', which is 'integer' here; there are string|"},
    {FIELD("{\"type\": \"Float[]\"}"), 3, 7, "which is 'number[]' here"},
    {FIELD("{\"type\": \"bool\"}"), 3, 7, "which is 'boolean' here"},
    {FIELD("{\"type\": \"str\"}"), 3, 7, "which is 'string' here"},
    {FIELD("{\"type\": \"list\"}"), 3, 7, "which is 'any[]' here"},
    {FIELD("{\"type\": \"dict[]\"}"), 3, 7, "which is 'object[]' here"},
    {FIELD("{\"type\": \"list[int]\"}"), 3, 7, "type is 'list[int]', which is 'integer[]' here; there are string|"},
    {FIELD("{\"type\": \"List[string]\"}"), 3, 7, "which is 'string[]' here"},
    {FIELD("{\"type\": \"array<Float>\"}"), 3, 7, "which is 'number[]' here"},
    {FIELD("{\"type\": \"[]bool\"}"), 3, 7, "which is 'boolean[]' here"},
    {FIELD("{\"type\": \"list of strings\"}"), 3, 7, "which is 'string[]' here"},
    {FIELD("{\"type\": \"list[moon]\"}"), 3, 7, "type is 'list[moon]'; must be one of string|"},
    {FIELD("{\"type\": \"string[]\", \"reduce\": \"add\"}"), 3, 27, "which is 'append' here"},
    {FIELD("{\"type\": \"strng\"}"), 3, 7, "type is 'strng'; did you mean 'string'?"},
    {FIELD("{\"type\": \"string\", \"reducer\": \"append\"}"), 3, 25, "unknown key 'reducer'; did you mean 'reduce'?"},
    {FIELD("{\"type\": \"string[]\", \"reduce\": \"apend\"}"), 3, 27, "reduce is 'apend'; did you mean 'append'?"},
    {FIELD("{\"type\": \"string\", \"reduce\": \"append\"}"), 3, 25, "append needs a list, 'f' is a string"},
    {FIELD("{\"type\": \"string\", \"reduce\": \"sum\"}"), 3, 25, "sum needs a number, 'f' is a string"},
    {FIELD("{\"type\": \"integer[]\", \"reduce\": \"max\"}"), 3, 28,
     "max needs a number, 'f' is a list of whole numbers"},
    {FIELD("{\"type\": \"any\", \"reduce\": \"merge\"}"), 3, 22, "merge needs an object, 'f' is any value"},
    {FIELD("{\"type\": \"object\", \"reduce\": \"messages\"}"), 3, 25, "messages needs the type object[]"},
    {FIELD("{\"type\": \"integer\", \"initial\": 1.5}"), 3, 26,
     "the initial value of 'f' must be a whole number, not one with a fraction"},
    {FIELD("{\"type\": \"string[]\", \"initial\": \"x\"}"), 3, 27,
     "the initial value of 'f' must be a list of strings, not a string"},
    {FIELD("{\"type\": \"string[]\", \"initial\": [\"x\", null]}"), 3, 27, "[1] must be a string, not null"},
    {FIELD("{\"type\": \"boolean\", \"initial\": 0}"), 3, 26, "must be a boolean, not a number"},
    {FIELD("{\"type\": \"string\", \"values\": [\"good\"], \"initial\": \"god\"}"), 3, 45,
     "may not be 'god'; did you mean 'good'?"},
    {FIELD("{\"type\": \"string\", \"values\": [\"a\", \"a\"]}"), 3, 41, "'a' stands in \"values\" twice"},
    {FIELD("{\"type\": \"string\", \"values\": []}"), 3, 25, "\"values\" must be a list of 1 to"},
    {FIELD("{\"type\": \"integer\", \"values\": [\"1\"]}"), 3, 26, "\"values\" are for strings"},
    {FIELD("{\"type\": \"string\", \"description\": 1}"), 3, 25, "description must be a string"},
    {STATE("\n\"\": {\"type\": \"any\"}"), 3, 1, "the name of a field has 0 bytes"},
    {STATE("\n\"a b\": {\"type\": \"any\"}"), 3, 1, "'a b' is no name for a field"},
};

static const struct wrong nodes[] = {
    {NODES("\"n\": 1"), 4, 1, "the node 'n' must be an object with a \"kind\""},
    {NODES("\"n\": {}"), 4, 1, "the node 'n' must be an object with a \"kind\""},
    {NODES("\"end\": {\"kind\": \"noop\"}"), 4, 1, "\"end\" ends the graph"},
    {NODES("\"n/1\": {\"kind\": \"noop\"}"), 4, 1, "'n/1' is no name for a node"},
    {NODE("\"kind\": \"nop\""), 4, 7, "there is no kind 'nop'; did you mean 'noop'?"},
    {NODE("\"kind\": \"sorcery\""), 4, 7, "there is no kind 'sorcery'; there are noop, set, ask"},
    {NOOP("\"tiemout\": \"3s\""), 4, 23, "unknown key 'tiemout'; did you mean 'timeout'?"},
    {NOOP("\"values\": {}"), 4, 23, "unknown key 'values'"},
    {NOOP("\"defer\": 1"), 4, 23, "defer is '…', must be true or false"},
    {NOOP("\"timeout\": \"0ms\""), 4, 23, "must be within 1ms and 30d"},
    {NOOP("\"inputs\": [\"t\"]"), 4, 34, "inputs: there is no field 't'"},
    {NOOP("\"inputs\": \"s\""), 4, 23, "inputs must be a list"},
    {NOOP("\"retry\": {\"attempts\": 0}"), 4, 33, "attempts is '0', must be within 1 and 100"},
    {NOOP("\"retry\": {\"base\": \"9s\"}"), 4, 23, "base is 9000ms and max 8000ms; base must be the shorter one"},
    {NOOP("\"retry\": {\"codes\": [\"UNAVAILBLE\"]}"), 4, 43, "'UNAVAILBLE' is no status code"},
    {NOOP("\"retry\": {\"codes\": [\"OK\"]}"), 4, 43, "a node that ends OK has not failed"},
    {NOOP("\"retry\": {\"codes\": 3}"), 4, 33, "codes must be a list"},
    {NOOP("\"visits\": {}"), 4, 23, "visits: \"max\" is missing"},
    {NOOP("\"visits\": {\"max\": 3, \"then\": \"m\"}"), 4, 44, "there is no node 'm'"},
    {NOOP("\"cache\": {\"ttl\": \"never\"}"), 4, 33, "not a duration"},
    {NOOP("\"cache\": {}"), 4, 23, "cache: \"ttl\" is missing"},
    {NODE("\"kind\": \"graph\", \"graph\": \"g\", \"cache\": {\"ttl\": \"1m\"}"), 4, 38,
     "give a cache to nodes within"},
};

static const struct wrong edges[] = {
    {NOOP("\"on\": {\"done\": \"nn\"}"), 4, 30, "there is no node 'nn'; did you mean 'end'?"},
    {NOOP("\"on\": {\"done\": \"elsewhere\"}"), 4, 30,
     "there is no node 'elsewhere' in 'a'; add it, or lead to \"end\""},
    {NOOP("\"on\": {\"done\": 1}"), 4, 30, "must be the name of a node, a list of them, or \"end\""},
    {NOOP("\"on\": {\"done\": []}"), 4, 30, "the list has 0 nodes"},
    {NOOP("\"on\": {\"done\": [\"end\"]}"), 4, 39, "\"end\" cannot stand in a list"},
    {NOOP("\"on\": {}"), 4, 23, "\"on\" must be an object of 1 to 100 outcomes"},
    {NOOP("\"on\": {\"doen\": \"end\"}"), 4, 30, "noop has no outcome 'doen'; did you mean 'done'?"},
    {NOOP("\"on\": {\"failed\": \"end\"}"), 4, 23, "the node 'n' has no edge for the outcome 'done' of noop"},
    {REMOTE("\"on\": {\"a b\": \"end\"}"), 4, 50, "'a b' is no name for an outcome"},
    {NODES("\"answer\": {\"kind\": \"noop\", \"on\": {\"done\": \"anwser\"}}"), 4, 35,
     "there is no node 'anwser'; did you mean 'answer'?"},
    {NODES("\"n\": {\"kind\": \"noop\"},\n\"m\": {\"kind\": \"noop\"}"), 5, 1, "the node 'm' is never reached"},
    {NODES("\"n\": {\"kind\": \"noop\", \"on\": {\"done\": \"m\"}},\n\"m\": {\"kind\": \"noop\", \"on\": {\"done\": "
           "\"n\"}}"),
     4, 1, "n -> m -> n goes round without an end; give one of them \"visits\""},
    {NODES("\"n\": {\"kind\": \"noop\", \"visits\": {\"max\": 2, \"then\": \"m\"}, \"on\": {\"done\": "
           "\"end\"}},\n\"m\": {\"kind\": \"noop\", \"on\": {\"done\": \"n\"}}"),
     4, 1, "goes round without an end"},
    {NODES("\"n\": {\"kind\": \"noop\", \"on\": {\"done\": [\"m\", \"o\"]}},\n\"m\": {\"kind\": \"noop\"},\n\"o\": "
           "{\"kind\": \"noop\", \"join\": [\"m\", \"n\"]}"),
     6, 23, "'o' waits for 'm', which does not lead to it"},
    {NODES("\"n\": {\"kind\": \"noop\", \"on\": {\"done\": [\"m\", \"o\"]}},\n\"m\": {\"kind\": \"noop\", \"on\": "
           "{\"done\": \"o\"}},\n\"o\": {\"kind\": \"noop\", \"join\": [\"m\"]}"),
     6, 23, "'n' leads to 'o', which does not wait for it"},
    {NOOP("\"join\": [\"m\"]"), 4, 32, "there is no node 'm'"},
    {NOOP("\"may_reach\": [\"m\"]"), 4, 37, "there is no node 'm'"},
    {HEAD "\"start\": \"end\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}", 2, 1, "the graph starts at its end"},
    {HEAD "\"start\": [\"n\", \"m\"], \"nodes\": {\"n\": {\"kind\": \"noop\"}}}", 2, 16, "there is no node 'm'"},
    {HEAD "\"start\": [\"n\", \"m\"], \"nodes\": {\"n\": {\"kind\": \"noop\", \"on\": {\"done\": \"m\"}},\n\"m\": "
          "{\"kind\": \"noop\", \"join\": [\"n\"]}}}",
     3, 23, "the graph starts at 'm', which waits for others"},
};

static const struct wrong kinds[] = {
    {NODE("\"kind\": \"set\""), 4, 1, "values: is not there, and neither are \"copy\" and \"count\""},
    {NODE("\"kind\": \"set\", \"copy\": {\"s\": \"z\"}"), 4, 22, "copy: 'z' begins with no input of the node"},
    {NODE("\"kind\": \"set\", \"copy\": {\"s\": \"s[x]\"}"), 4, 22, "'s[x]' must go on with"},
    {NODE(
         "\"kind\": \"report\", \"theme\": \"s\", \"of\": \"o\", \"into\": \"s\", \"citations\": \"o\",\n\"headings\": "
         "\"answer\", \"missing\": \"answer\",\"on\": {\"written\": \"end\", \"composed\": \"end\", \"nothing\": "
         "\"end\"}"),
     5, 1, "'answer' must have 4 lines in each language"},
    {NODE("\"kind\": \"report\", \"theme\": \"s\", \"of\": \"o\", \"into\": \"s\", \"citations\": \"o\", \"headings\": "
          "\"answer\", \"missing\": \"answer\",\n\"unsupported\": \"mark\",\"on\": {\"written\": \"end\", "
          "\"composed\": \"end\", \"nothing\": \"end\"}"),
     4, 1, "and \"unsupported\": \"mark\" go together; add the other"},
    {NODE("\"kind\": \"cite\", \"answer\": \"s\", \"results\": \"o\", \"into\": \"o\", \"text\": "
          "\"s\",\n\"footnotes\": true,\"on\": {\"cited\": \"end\", \"unsupported\": \"end\"}"),
     5, 1, "are defined in the list of references; add \"references\""},
    {NODE("\"kind\": \"survey\", \"of\": \"s\""), 4, 1, "the node 'n' needs \"flag\": The member that counts."},
    {SET("[]"), 4, 22, "the node 'n': values: must be an object"},
    {SET("{\"t\": 1}"), 4, 22, "values: there is no field 't'"},
    {SET("{\"i\": \"1\"}"), 4, 22, "'i' must be a whole number, not a string"},
    {ASK(""), 4, 1, "asks nothing; give it a \"question\" or a \"payload\""},
    {ASK(", \"question\": 1"), 4, 35, "question must be a string"},
    {ASK(", \"question\": \"?\", \"schema\": {\"type\": \"strng\"}"), 4, 52, "schema"},
    {NODE("\"kind\": \"ask\", \"question\": \"?\""), 4, 1, "the node 'n' needs \"into\""},
    {NODE("\"kind\": \"ask\", \"question\": \"?\", \"into\": \"t\""), 4, 39, "into: there is no field 't'"},
    {NODE("\"kind\": \"remote\""), 4, 1, "the node 'n' needs \"address\": Where its renga.v1.NodeService listens"},
    {ADDRESS("\"http://node:9000\""), 4, 25, "is a URL; a node speaks gRPC, so write \"node:9000\" without"},
    {ADDRESS("\"https://node/run\""), 4, 25, "write \"node:PORT\" without"},
    {ADDRESS("\"here\""), 4, 25, "address is 'here'; must be \"host:port\""},
    {ADDRESS("\"h:0\""), 4, 25, "must be \"host:port\""},
    {ADDRESS("\"h:1x\""), 4, 25, "must be \"host:port\""},
    {ADDRESS("\"a b:1\""), 4, 25, "must be \"host:port\""},
    {SHORTEN("s", "s", ", \"inputs\": [\"i\"]"), 4, 26, "of: 's' is not among the node's \"inputs\"; add it there"},
    {SHORTEN("l", "s", ""), 4, 26, "of: 'l' is a list of strings; it must be a string"},
    {SHORTEN("s", "i", ""), 4, 37, "into: 'i' is a whole number; it must be a string"},
    {REMOTE("\"stream\": 1"), 4, 43, "stream is '…', must be true or false"},
    {REMOTE("\"function\": \"\""), 4, 43, "function: has 0 bytes; 1 to 64 are allowed"},
    {REMOTE("\"parameters\": []"), 4, 43, "parameters: must be an object"},
    {REMOTE("\"inputs\": 1"), 4, 43, "inputs must be a list"},
    {NODE(EACH("l", "x", "h", "o")), 4, 45, "there is no sub-graph 'h'; add it to \"graphs\""},
    {SUB(EACH("l", "x", "gg", "o"), INNER), 4, 45, "there is no sub-graph 'gg'; add it to"},
    {SUB(EACH("s", "x", "g", "o"), INNER), 4, 23, "of: 's' is a string; it must be a list"},
    {SUB(EACH("l", "x", "g", "l"), INNER), 4, 59, "into: 'l' is a list of strings; it must be object[] or any[]"},
    {SUB(EACH("l", "z", "g", "o"), INNER), 4, 34, "as: there is no field 'z'"},
    {SUB(EACH("l", "y", "g", "o"), INNER), 4, 34, "as: 'y' is not in the \"input\" of the graph 'g'"},
    {SUB(EACH("o", "x", "g", "o"), INNER), 4, 34, "as: 'x' is a string, an item of 'o' is an object"},
    {SUB(RUNS("g") ", \"in\": {\"z\": \"s\"}", INNER), 4, 38, "in: there is no field 'z'"},
    {SUB(RUNS("g") ", \"in\": {\"y\": \"i\"}", INNER), 4, 38, "in: 'y' is not in the \"input\" of the graph 'g'"},
    {SUB(RUNS("g") ", \"in\": {\"x\": \"i\"}", INNER), 4, 38, "in: 'x' takes a string, 'i' is a whole number"},
    {SUB(RUNS("g") ", \"out\": {\"i\": \"x\"}", INNER), 4, 38, "out: 'i' takes a whole number, 'x' is a string"},
    {SUB(RUNS("g") ", \"out\": {\"i\": 1}", INNER), 4, 38, "out: 'i' must have the name of a field"},
    {SUB(RUNS("g") ", \"out\": []", INNER), 4, 38, "out: must be an object of fields"},
    {SUB(RUNS("a"), INNER), 4, 1, "the graph 'a' would be within itself: 'a' runs it"},
    {SUB(RUNS("g"), "\"start\": \"m\", \"nodes\": {\n\"m\": {\"kind\": \"graph\", \"graph\": \"g\"}}"), 7, 1,
     "the graph 'g' would be within itself: 'g' runs it"},
    {SUB(RUNS("g"), "\"agent\": \"g\",\n" INNER), 6, 1, "\"agent\" stands in the agent's own graph only"},
    {SUB(RUNS("g"), "\"graphs\": {},\n" INNER), 6, 1, "\"graphs\" stands in the agent's own graph only"},
    {SUB(RUNS("g"),
         "\"state\": {\"s\": {\"type\": \"integer\"}}, \"start\": \"m\", \"nodes\": {\"m\": {\"kind\": \"noop\"}}"),
     4, 1, "'s' takes a whole number, 's' is a string"},
};

static bool is_refused(const struct wrong *wrong)
{
    struct reading_of read = read_text(wrong->document);
    bool found = false;
    for (const struct agent_problem *one = read.problems->first; one; one = one->next) {
        assert_string_equal(one->agent, "a");
        assert_string_equal(one->file, "graph.json");
        found |= one->line == wrong->line && one->column == wrong->column && strstr(one->message, wrong->text);
    }
    const struct agent_problem *first = read.problems->first;
    if (!found)
        print_error("%s\ngives %d:%d: %s\nnot   %d:%d: %s\n", wrong->document, first ? first->line : 0,
                    first ? first->column : 0, first ? first->message : "an agent", wrong->line, wrong->column,
                    wrong->text);
    bool refused = found && !read.agent;
    read_fini(&read);
    return refused;
}

static void refuse(const struct wrong *wrong, size_t count)
{
    size_t refused = 0;
    for (size_t i = 0; i < count; i++)
        refused += is_refused(&wrong[i]);
    assert_int_equal(refused, count);
}

static void a_text_that_is_no_document_is_refused(void **state)
{
    refuse(texts, COUNT(texts));
}

static void a_wrong_key_of_the_graph_is_refused_with_its_place(void **state)
{
    refuse(tops, COUNT(tops));
}

static void a_wrong_field_is_refused_with_its_place(void **state)
{
    refuse(fields, COUNT(fields));
}

static void a_wrong_node_is_refused_with_its_place(void **state)
{
    refuse(nodes, COUNT(nodes));
}

static void a_way_that_leads_nowhere_or_round_is_refused(void **state)
{
    refuse(edges, COUNT(edges));
}

static void a_kind_looks_at_what_it_is_given(void **state)
{
    refuse(kinds, COUNT(kinds));
}

static void one_pass_shows_every_nodes_fault(void **state)
{
    struct reading_of read = read_text(NODES("\"n\": {\"kind\": \"noop\", \"on\": {\"done\": \"x1\"}},\n"
                                             "\"m\": {\"kind\": \"say\"},\n\"o\": {\"kind\": \"noop\", \"join\": 1}"));
    const struct agent_problem *one = read.problems->first;
    assert_int_equal(read.problems->count, 3);
    assert_int_equal(one->line, 4);
    assert_int_equal(one->next->line, 5);
    assert_int_equal(one->next->next->line, 6);
    read_fini(&read);
}

static void faults_are_shown_up_to_a_hundred(void **state)
{
    struct buffer text;
    buffer_init(&text, SIZE_MAX);
    buffer_print(&text, "{\"agent\": \"a\", \"start\": \"n0\", \"nodes\": {");
    for (unsigned i = 0; i < 150; i++)
        buffer_printf(&text, "%s\n\"n%u\": {\"kind\": \"nope\"}", i ? "," : "", i);
    buffer_print(&text, "}}");
    struct reading_of read = read_text(buffer_text(&text));
    assert_null(read.agent);
    assert_int_equal(read.problems->count, AGENT_FAULTS_MAX + 1);
    assert_contains(read.problems->last->message, "50 more");
    read_fini(&read);
    buffer_fini(&text);
}

/* `count` times `one` (with a %u), between two texts. */
static void many(struct buffer *text, const char *before, const char *one, unsigned count, const char *behind)
{
    buffer_init(text, SIZE_MAX);
    buffer_print(text, before);
    for (unsigned i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i);
        const char *mark = strchr(one, '#');
        buffer_printf(text, "%s%.*s%s%s", i ? "," : "", (int)(mark - one), one, number, mark + 1);
    }
    buffer_print(text, behind);
}

static void refuse_many(const char *before, const char *one, unsigned count, const char *behind, const char *message)
{
    struct buffer text;
    many(&text, before, one, count, behind);
    struct reading_of read = read_text(buffer_text(&text));
    if (read.agent || !strstr(read.problems->first->message, message))
        fail_msg("%s: not %s", read.problems->first ? read.problems->first->message : "taken", message);
    read_fini(&read);
    buffer_fini(&text);
}

static void more_than_the_limits_is_refused(void **state)
{
    refuse_many(HEAD "\"start\": \"n0\", \"nodes\": {", "\"n#\": {\"kind\": \"noop\"}", 1001, "}}",
                "\"nodes\" must be an object of 1 to 1000 nodes, not 1001");
    refuse_many(HEAD "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}, \"state\": {",
                "\"f#\": {\"type\": \"any\"}", 1001, "}}", "\"state\" has 1001 fields; at most 1000");
    refuse_many(HEAD "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}, \"graphs\": {", "\"g#\": {}", 64,
                "}}", "\"graphs\" has 64 sub-graphs; at most 63");
    refuse_many(HEAD "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"remote\", \"address\": \"h:1\", \"on\": {",
                "\"o#\": \"end\"", 101, "}}}}", "\"on\" must be an object of 1 to 100 outcomes");
}

static void graphs_may_not_be_nested_without_an_end(void **state)
{
    struct buffer text;
    many(&text, HEAD "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"graph\", \"graph\": \"g0\"}}, \"graphs\": {",
         "\"g#\": {\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}", 0, "");
    for (unsigned i = 0; i < 13; i++)
        buffer_printf(&text,
                      "\"g%u\": {\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"graph\", \"graph\": \"g%u\"}}},\n",
                      i, i + 1);
    buffer_print(&text, "\"g13\": {\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}}}");
    struct reading_of read = read_text(buffer_text(&text));
    assert_null(read.agent);
    assert_contains(read.problems->first->message, "more than 12 graphs deep");
    read_fini(&read);
    buffer_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_is_no_document_is_refused),
        cmocka_unit_test(a_wrong_key_of_the_graph_is_refused_with_its_place),
        cmocka_unit_test(a_wrong_field_is_refused_with_its_place),
        cmocka_unit_test(a_wrong_node_is_refused_with_its_place),
        cmocka_unit_test(a_way_that_leads_nowhere_or_round_is_refused),
        cmocka_unit_test(a_kind_looks_at_what_it_is_given),
        cmocka_unit_test(one_pass_shows_every_nodes_fault),
        cmocka_unit_test(faults_are_shown_up_to_a_hundred),
        cmocka_unit_test(more_than_the_limits_is_refused),
        cmocka_unit_test(graphs_may_not_be_nested_without_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
