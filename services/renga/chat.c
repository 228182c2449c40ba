/* `renga chat`: a single question to a model through the gateway, the answer as it is written. */
#include "base/buffer.h"
#include "gateway.h"
#include "orchestrator_client.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define NAME       "renga chat"
#define ANSWER_MAX (8u << 20) /* bytes kept for --json */

static const struct option options[] = {
    STRING_OPTION("model", "default", "MODEL", "Which model to ask, by its name in the gateway."),
    STRING_OPTION("system", NULL, "TEXT", "What the model is told before the question."),
    BOOLEAN_OPTION("json", "false", "Print one JSON object at the end instead."),
    DURATION_OPTION("timeout", "2m", 1, 3600LL * 1000, "How long to wait for the whole answer."),
    CONNECT_OPTION("Ask a gateway that runs, HOST:PORT of it or of 'renga serve', instead of one in this process."),
    {0},
};

struct chat {
    struct command_call call; /* first */
    ProtobufCService *gateway;
    const struct config *config;
    const char *question;
    struct buffer answer; /* with --json */
    bool json, on_terminal;
    bool at_line_start;
};

/* A terminal would obey control characters in a model's text. */
static void show_piece(struct chat *chat, const char *text)
{
    if (chat->json) {
        buffer_print(&chat->answer, text);
        return;
    }
    if (chat->on_terminal)
        show_text(text);
    else
        fputs(text, stdout);
    fflush(stdout);
    if (*text)
        chat->at_line_start = text[strlen(text) - 1] == '\n';
}

static void show_finish(struct chat *chat, const Renga__V1__ChatFinish *finish)
{
    const Renga__V1__Usage *usage = finish->usage;
    const char *model = finish->answered_by ? finish->answered_by->model : "";
    const ProtobufCEnumValue *reason =
        protobuf_c_enum_descriptor_get_value(&renga__v1__finish_reason__descriptor, (int)finish->finish_reason);
    const char *word = reason ? reason->name + strlen("FINISH_REASON_") : "UNSPECIFIED";
    if (chat->json) {
        struct buffer out;
        struct json_writer writer;
        buffer_init(&out, 2 * ANSWER_MAX);
        json_writer_init(&writer, &out);
        json_write_object(&writer, NULL);
        json_write_string(&writer, "text", buffer_text(&chat->answer));
        json_write_string(&writer, "finish_reason", word);
        json_write_string(&writer, "model", model);
        json_write_int(&writer, "input_tokens", usage ? usage->input_tokens : 0);
        json_write_int(&writer, "output_tokens", usage ? usage->output_tokens : 0);
        json_write_int(&writer, "duration_ms", finish->duration_ms);
        json_write_end(&writer);
        puts(buffer_text(&out));
        buffer_fini(&out);
    } else if (chat->on_terminal) {
        bool coloured = command_in_colours();
        printf("%s%s%s · %s · %lld tokens in, %lld out · %.1f s%s\n", chat->at_line_start ? "" : "\n",
               coloured ? DIM : "", model, word, usage ? (long long)usage->input_tokens : 0,
               usage ? (long long)usage->output_tokens : 0, (double)finish->duration_ms / 1000, coloured ? PLAIN : "");
    } else if (!chat->at_line_start) {
        putchar('\n');
    }
    fflush(stdout);
}

/* On stderr: the answer on stdout is a text that others may read. */
static void chat_tell_no_model(const Renga__V1__ChatFinish *finish)
{
    for (size_t i = 0; i < finish->n_degradations; i++)
        if (finish->degradations[i]->kind == RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE) {
            fputs(NAME ": no model has answered. OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL) where the gateway "
                       "runs connects one\n",
                  stderr);
            return;
        }
}

static void chat_event_received(const Renga__V1__ChatStreamEvent *event, void *data)
{
    struct chat *chat = ((struct rpc_client_call *)data)->owner;
    if (!event) {
        if (!chat->at_line_start && !chat->json && chat->call.call.status.code != OK)
            putchar('\n');
        fflush(stdout);
        command_call_ended(&chat->call);
        return;
    }
    switch (event->event_case) {
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT:
        show_piece(chat, event->text);
        break;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_REFUSAL:
        show_piece(chat, event->refusal);
        break;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH:
        show_finish(chat, event->finish);
        chat_tell_no_model(event->finish);
        break;
    default:
        break;
    }
}

static void chat_command_begin(struct command_call *call)
{
    struct chat *chat = (struct chat *)call;
    Renga__V1__ChatMessage system = RENGA__V1__CHAT_MESSAGE__INIT, user = RENGA__V1__CHAT_MESSAGE__INIT;
    Renga__V1__ChatMessage *messages[2];
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    const char *rules = config_string(chat->config, "system");
    if (rules) {
        system.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM;
        system.content = (char *)(uintptr_t)rules;
        messages[request.n_messages++] = &system;
    }
    user.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    user.content = (char *)(uintptr_t)chat->question;
    messages[request.n_messages++] = &user;
    request.messages = messages;
    request.model = (char *)(uintptr_t)config_string(chat->config, "model");
    request.priority = RENGA__V1__PRIORITY__PRIORITY_INTERACTIVE;
    renga__v1__llm_gateway__chat_stream(chat->gateway, &request, chat_event_received, &call->call);
}

static int chat_ask(struct daemon_process *process, const struct config *config)
{
    const char *const *arguments = command_arguments(config, NAME, 1, 1, "give one question, in quotes", NULL);
    if (!arguments)
        return COMMAND_USAGE;
    struct status st = {0};
    struct chat chat = {
        .call.begin = chat_command_begin, .config = config, .question = arguments[0], .at_line_start = true};
    chat.gateway = process_stub(process, &renga__v1__llm_gateway__descriptor, &st);
    if (!chat.gateway) {
        fprintf(stderr, NAME ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    chat.json = config_boolean(config, "json");
    chat.on_terminal = command_on_terminal();
    buffer_init(&chat.answer, ANSWER_MAX);
    command_call_prepare(&chat.call, process, config_duration_ms(config, "timeout"));
    bool answered = command_call_run(&chat.call, NAME);
    buffer_fini(&chat.answer);
    return answered ? COMMAND_OK : COMMAND_FAILED;
}

static int chat_command(int argc, char **argv)
{
    static const struct service *const gateway[] = {&llm_gateway_service, NULL};
    static const struct peer peers[] = {{CONNECT, &renga__v1__llm_gateway__descriptor},
                                        {"peers.llm_gateway", &renga__v1__llm_gateway__descriptor},
                                        {0}};
    struct daemon daemon = command_daemon(NAME,
                                          "asks a model through the gateway: in this process, or one that runs. "
                                          "OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL and the like are read as by "
                                          "'renga serve'.",
                                          gateway, argc, argv);
    daemon.usage = NAME " [OPTIONS] QUESTION";
    daemon.examples = NAME " \"What is linked verse?\"\n" NAME
                           " --connect gateway:15001 --json \"What is linked verse?\" | jq -r .text\n";
    daemon.extra_options = options;
    daemon.peers = peers;
    return command_with_process(&daemon, argc, argv, chat_ask);
}

const struct command command_chat = {
    .name = "chat",
    .summary = "ask a model and see the answer as it is written",
    .run = chat_command,
};
