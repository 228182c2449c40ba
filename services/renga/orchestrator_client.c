#include "orchestrator_client.h"

#include "renga/v1/ace.pb-c.h"
#include "wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HERE      "127.0.0.1:15000" /* the address of `renga serve` */
#define USAGE_MAX 64

/* ---- calls ------------------------------------------------------------------------------------------------------- */

int orchestrator_command_run(const struct orchestrator_command *command, int argc, char **argv)
{
    static const struct peer peers[] = {{CONNECT, &renga__v1__orchestrator__descriptor},
                                        {ORCHESTRATOR_CLIENT_TARGET, &renga__v1__orchestrator__descriptor},
                                        {CONNECT, &renga__v1__ace_generator__descriptor},
                                        {ORCHESTRATOR_CLIENT_TARGET, &renga__v1__ace_generator__descriptor},
                                        {0}};
    static const struct daemon_default defaults[] = {{ORCHESTRATOR_CLIENT_TARGET, HERE}, {0}};
    char usage[USAGE_MAX];
    struct daemon daemon = command_daemon(command->name, command->summary, NULL, argc, argv);
    snprintf(usage, sizeof usage, "%s [OPTIONS]%s%s", command->name, *command->takes ? " " : "", command->takes);
    daemon.usage = usage;
    daemon.examples = command->examples;
    daemon.extra_options = command->options;
    daemon.defaults = defaults;
    daemon.peers = peers;
    return command_with_process(&daemon, argc, argv, command->work);
}

bool orchestrator_client_open(struct orchestrator_client *client, struct daemon_process *process,
                              const struct config *config, const char *command, size_t min, size_t max,
                              const char *wanted)
{
    *client = (struct orchestrator_client){.command = command, .process = process, .config = config};
    client->arguments = command_arguments(config, command, min, max, wanted, &client->argument_count);
    if (!client->arguments)
        return false;
    client->json = config_boolean(config, "json");
    client->terminal = !client->json && command_on_terminal();
    client->colours = !client->json && command_in_colours();
    client->orchestrator = process_stub(process, &renga__v1__orchestrator__descriptor, &client->status);
    if (!client->orchestrator)
        fprintf(stderr, "%s: %s\n", command, client->status.text);
    return client->orchestrator != NULL;
}

const char *orchestrator_client_target(const struct orchestrator_client *client)
{
    const char *connect = config_string(client->config, CONNECT);
    return connect ? connect : config_string(client->config, ORCHESTRATOR_CLIENT_TARGET);
}

struct asking {
    struct command_call call; /* first */
    struct orchestrator_client *client;
    ProtobufCService *service;
    unsigned method;
    bool streams;
    const ProtobufCMessage *request;
    void (*received)(struct orchestrator_client *client, const ProtobufCMessage *message, void *data);
    void *data;
};

static void orchestrator_client_message_received(const ProtobufCMessage *message, void *data)
{
    struct asking *asking = ((struct rpc_client_call *)data)->owner;
    if (message && asking->received)
        asking->received(asking->client, message, asking->data);
    if (!message || !asking->streams)
        command_call_ended(&asking->call);
}

static void orchestrator_client_begin(struct command_call *call)
{
    struct asking *asking = (struct asking *)call;
    asking->service->invoke(asking->service, asking->method, asking->request, orchestrator_client_message_received,
                            &call->call);
}

bool orchestrator_client_try_service(struct orchestrator_client *client, ProtobufCService *service, const char *method,
                                     const ProtobufCMessage *request, int64_t timeout_ms,
                                     void (*received)(struct orchestrator_client *client,
                                                      const ProtobufCMessage *message, void *data),
                                     void *data)
{
    const ProtobufCServiceDescriptor *type = service->descriptor;
    struct asking asking = {
        .call.begin = orchestrator_client_begin,
        .client = client,
        .service = service,
        .method = (unsigned)(protobuf_c_service_descriptor_get_method_by_name(type, method) - type->methods),
        .streams = strcmp(method, "WatchRun") == 0,
        .request = request,
        .received = received,
        .data = data,
    };
    command_call_prepare(&asking.call, client->process, timeout_ms);
    bool answered = command_call_wait(&asking.call);
    orchestrator_client_note(client, &asking.call);
    return answered;
}

bool orchestrator_client_try(
    struct orchestrator_client *client, const char *method, const ProtobufCMessage *request, int64_t timeout_ms,
    void (*received)(struct orchestrator_client *client, const ProtobufCMessage *message, void *data), void *data)
{
    return orchestrator_client_try_service(client, client->orchestrator, method, request, timeout_ms, received, data);
}

void orchestrator_client_note(struct orchestrator_client *client, const struct command_call *call)
{
    client->status = call->call.status;
    client->lost = call->lost;
}

void orchestrator_client_report(const struct orchestrator_client *client)
{
    const struct status *status = &client->status;
    const char *target = orchestrator_client_target(client); /* NULL: in this process */
    fprintf(stderr, "%s: %s: %s%s", client->command, status_code_name((int)status->code), status->text,
            command_remedy(status));
    if (client->lost && target)
        fprintf(stderr, "; is an orchestrator running at %s? 'renga serve' is one", target);
    fputc('\n', stderr);
}

bool orchestrator_client_call(
    struct orchestrator_client *client, const char *method, const ProtobufCMessage *request, int64_t timeout_ms,
    void (*received)(struct orchestrator_client *client, const ProtobufCMessage *message, void *data), void *data)
{
    if (orchestrator_client_try(client, method, request, timeout_ms, received, data))
        return true;
    orchestrator_client_report(client);
    return false;
}

bool orchestrator_client_call_soon(
    struct orchestrator_client *client, const char *method, const ProtobufCMessage *request,
    void (*received)(struct orchestrator_client *client, const ProtobufCMessage *message, void *data), void *data)
{
    return orchestrator_client_call(client, method, request, config_duration_ms(client->config, "timeout"), received,
                                    data);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* The bytes of the control character that `text` begins with: C0, DEL, or C1 in UTF-8. */
static size_t control(const char *text)
{
    unsigned char c = (unsigned char)*text;
    if (c < 0x20 || c == 0x7f)
        return 1;
    return c == 0xc2 && ((unsigned char)text[1] & 0xe0) == 0x80 ? 2 : 0;
}

static void orchestrator_client_show(FILE *out, const char *text, const char *kept)
{
    for (size_t size; *text; text += size ? size : 1) {
        size = control(text);
        fputc(size && !strchr(kept, *text) ? '?' : *text, out);
    }
}

void show_text_on(FILE *out, const char *text)
{
    orchestrator_client_show(out, text, "\n\t");
}

void show_text(const char *text)
{
    show_text_on(stdout, text);
}

void show_bytes(const char *text, size_t size)
{
    char *first = strndup(text, size);
    if (!first)
        abort();
    show_text(first);
    free(first);
}

void show_cell(const struct orchestrator_client *client, const char *sequence, int width, const char *text)
{
    fputs(colour(client, sequence), stdout);
    orchestrator_client_show(stdout, text, "");
    fputs(colour(client, PLAIN), stdout);
    if (!width)
        putchar('\n');
    else if (client->terminal)
        printf("%*s", width > (int)wrap_columns(text) ? width - (int)wrap_columns(text) + 2 : 2, "");
    else
        putchar('\t');
}

const char *colour(const struct orchestrator_client *client, const char *sequence)
{
    return client->colours ? sequence : "";
}

const char *state_word(Renga__V1__RunState state)
{
    static const char *const words[] = {"unknown", "queued", "running", "waiting", "succeeded", "failed", "cancelled"};
    return (unsigned)state < sizeof words / sizeof words[0] ? words[state] : words[0];
}

const char *state_colour(const struct orchestrator_client *client, Renga__V1__RunState state)
{
    static const char *const colours[] = {PLAIN, BLUE, BLUE, YELLOW, GREEN, RED, RED};
    return (unsigned)state < sizeof colours / sizeof colours[0] ? colour(client, colours[state]) : "";
}

const char *reason_word(Renga__V1__StopReason reason)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&renga__v1__stop_reason__descriptor, (int)reason);
    return value && reason ? value->name + strlen("STOP_REASON_") : "";
}

const char *time_text(int64_t ms, char out[32])
{
    time_t seconds = ms / 1000;
    struct tm local;
    if (!ms || !localtime_r(&seconds, &local))
        return "-";
    strftime(out, 32, "%Y-%m-%d %H:%M:%S", &local);
    return out;
}

void show_json(const struct orchestrator_client *client, const char *json)
{
    struct status st = {0};
    cJSON *tree = client->terminal ? json_parse(json, strlen(json), NULL, &st) : NULL;
    char *indented = tree ? cJSON_Print(tree) : NULL;
    show_text(indented ? indented : json);
    putchar('\n');
    cJSON_free(indented);
    cJSON_Delete(tree);
}

void show_interrupt(const struct orchestrator_client *client, const Renga__V1__Interrupt *interrupt)
{
    bool asks = interrupt->kind == RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION;
    bool before = interrupt->kind == RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_BEFORE;
    printf("%s%s%s  %s", colour(client, YELLOW), interrupt->interrupt_id, colour(client, PLAIN),
           asks     ? ""
           : before ? "paused before "
                    : "paused after ");
    show_text(interrupt->node);
    if (asks) {
        printf(" asks: ");
        show_text(interrupt->question);
    }
    if (interrupt->payload_json[0]) {
        putchar(' ');
        show_text(interrupt->payload_json);
    }
    putchar('\n');
}
