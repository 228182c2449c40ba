/* services/orchestrator: datagrams of other orchestrators, and what nodes elsewhere answer. */
#include "readers.h"
#include "thread/node_response.h"

#include "engine/attempt.h"
#include "fanout/mailbox.h"
#include "graph/bundle.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "renga/v1/fanout.pb-c.h"

#include <nng/nng.h>
#include <stdlib.h>
#include <string.h>

static void *letters_alloc(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void letters_free(void *arena, void *bytes) {}

/* Each line is a message; it stands in the datagram behind its size. */
static void read_datagram(struct input *in)
{
    ProtobufCAllocator allocator = {.alloc = letters_alloc, .free = letters_free, .allocator_data = &in->arena};
    nng_msg *datagram;
    if (nng_msg_alloc(&datagram, (1 + sizeof(uint32_t)) * in->length) != 0)
        abort();
    char *at = nng_msg_body(datagram);
    for (const char *line = in->text, *end = line + in->length; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        uint32_t size = (uint32_t)((stop ? stop : end) - line);
        memcpy(at, &size, sizeof size);
        memcpy(at + sizeof size, line, size);
        at += sizeof size + size;
        line += size + 1;
    }
    nng_msg_chop(datagram, nng_msg_len(datagram) - (size_t)(at - (char *)nng_msg_body(datagram)));
    size_t size;
    for (const uint8_t *bytes; (bytes = mail_next((struct mail *)datagram, &size));)
        in->accepted |= renga__v1__fanout_message__unpack(&allocator, size, bytes) != NULL;
    mail_free((struct mail *)datagram);
}

static const struct graph *graph_of_answers(void)
{
    static const char document[] = "{\"agent\":\"a\",\"start\":\"n\",\"nodes\":{\"n\":{\"kind\":\"noop\"}}}";
    static struct agent *agent;
    if (!agent) {
        struct problems *problems = problems_create();
        agent = agent_of_text(agent_create(), document, sizeof document - 1, "a", problems);
        problems_destroy(&problems);
    }
    return agent->graph;
}

/* A node's answer: each line is the input of a node to which it sends; all of it is its update. */
static void letters_check_answer(struct input *in)
{
    static struct thread thread;
    static char name[] = "n";
    const struct graph *graph = graph_of_answers();
    struct frame *frame = arena_zalloc(&in->arena, sizeof *frame);
    struct activation *activation = arena_zalloc(&in->arena, sizeof *activation);
    Response response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    response.sends = arena_alloc(&in->arena, (in->length + 1) * sizeof(*response.sends));
    char *lines = arena_strndup(&in->arena, in->text, in->length);
    for (char *line = lines, *next; line && *line; line = next) {
        Renga__V1__NodeSend *send = arena_alloc(&in->arena, sizeof *send);
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        renga__v1__node_send__init(send);
        send->node = name;
        send->input_json = line;
        response.sends[response.n_sends++] = send;
    }
    frame->thread = &thread;
    frame->graph = graph;
    activation->frame = frame;
    activation->node = graph_node(graph, "n");
    in->accepted = response_check(activation, &response, &in->st);
    response.n_sends = 0;
    response.update_json = (char *)(uintptr_t)in->text;
    response.progress_json = &response.update_json;
    response.n_progress_json = 1;
    response_check(activation, &response, &in->st);
}

/* The number of an attempt, idle slots, and fields that no release knows. */
static const struct generator datagrams[] = {
    {"messages that ask for work", 0, .unit = "\x08\x02\x10\x02\n"},
    {"a long message", 0, .unit = "\x08\x02"},
    {"empty messages", 0, .unit = "\n"},
    {.name = NULL},
};

static const struct generator answers[] = {
    {"nodes to which it sends", 0, .unit = "{\"i\":1}\n"},
    {"a long input of a node", 0, .begin = "{\"a\":\"", .unit = "a", .end = "\"}"},
    {"inputs that are no objects", 0, .unit = "[]\n"},
    {.name = NULL},
};

const struct reader readers_datagrams[] = {
    {"datagram of another orchestrator", read_datagram, .sets = HOSTILE_BYTES | HOSTILE_STREAM, .own = datagrams,
     .accepts = true},
    {"answer of a node elsewhere", letters_check_answer, .sets = HOSTILE_JSON | HOSTILE_STREAM, .own = answers,
     .accepts = true},
    {.name = NULL},
};
