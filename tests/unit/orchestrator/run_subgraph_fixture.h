/* What the tests of interrupts, branches and threads share: a stage, and pieces of documents. Include after unit.h. */
#ifndef RENGA_RUN_SUBGRAPH_FIXTURE_H
#define RENGA_RUN_SUBGRAPH_FIXTURE_H

#include "runner_fixture.h"

static struct stage stage;

#define LOG "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"x\": {\"type\": \"any\"}},"
#define S   "\"kind\": \"script\""

#define EACH                                                                                                           \
    "\"state\": {\"items\": {\"type\": \"string[]\"}, \"out\": {\"type\": \"object[]\", \"reduce\": \"append\"}},"     \
    "\"start\": \"w\", \"nodes\": {\"w\": {\"kind\": \"each\", \"of\": \"items\", \"as\": \"item\", \"graph\": "       \
    "\"sub\", "                                                                                                        \
    "\"into\": \"out\", \"on\": {\"done\": \"z\"}}, \"z\": {\"kind\": \"noop\"}},"                                     \
    "\"graphs\": {\"sub\": {\"state\": {\"item\": {\"type\": \"string\"}, \"r\": {\"type\": \"string\"}},"             \
    "\"input\": [\"item\"], \"output\": [\"r\"], \"start\": \"n\", \"nodes\": {\"n\": {" S                             \
    ", \"on\": {\"done\": \"m\"}}, \"m\": {\"kind\": \"noop\"}}}}"

static inline void answer_branch(int item)
{
    char path[16], update[32];
    snprintf(path, sizeof path, "w[%d]", item);
    struct script_call *call = script_find("n", path, -1);
    assert_non_null(call);
    snprintf(update, sizeof update, "{\"r\":\"r%d\"}", item);
    INSIDE(&stage, script_write(call, "", update));
}

#endif
