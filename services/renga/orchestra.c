#include "orchestra.h"

#include "renga/v1/ace.pb-c.h"
#include "wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HERE      "127.0.0.1:15000" /* the address of `renga serve` */
#define USAGE_MAX 64

/* ---- the way ----------------------------------------------------------------------------------------------------- */

int orchestra_run(const struct orchestra_command *command, int argc, char **argv)
{
    static const struct peer peers[] = {{CONNECT, &renga__v1__orchestrator__descriptor},
                                        {ORCHESTRA_TARGET, &renga__v1__orchestrator__descriptor},
                                        {CONNECT, &renga__v1__ace_generator__descriptor},
                                        {ORCHESTRA_TARGET, &renga__v1__ace_generator__descriptor},
                                        {0}};
    static const struct daemon_default defaults[] = {{ORCHESTRA_TARGET, HERE}, {0}};
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

bool orchestra_open(struct orchestra *orchestra, struct daemon_process *process, const struct config *config,
                    const char *command, size_t min, size_t max, const char *wanted)
{
    *orchestra = (struct orchestra){.command = command, .process = process, .config = config};
    orchestra->arguments = command_arguments(config, command, min, max, wanted, &orchestra->argument_count);
    if (!orchestra->arguments)
        return false;
    orchestra->json = config_boolean(config, "json");
    orchestra->terminal = !orchestra->json && command_on_terminal();
    orchestra->colours = !orchestra->json && command_in_colours();
    orchestra->orchestrator = process_stub(process, &renga__v1__orchestrator__descriptor, &orchestra->status);
    if (!orchestra->orchestrator)
        fprintf(stderr, "%s: %s\n", command, orchestra->status.text);
    return orchestra->orchestrator != NULL;
}

const char *orchestra_target(const struct orchestra *orchestra)
{
    const char *connect = config_string(orchestra->config, CONNECT);
    return connect ? connect : config_string(orchestra->config, ORCHESTRA_TARGET);
}

struct asking {
    struct command_call call; /* first */
    struct orchestra *orchestra;
    ProtobufCService *service;
    unsigned method;
    bool streams;
    const ProtobufCMessage *request;
    void (*came)(struct orchestra *orchestra, const ProtobufCMessage *message, void *data);
    void *data;
};

static void message_came(const ProtobufCMessage *message, void *data)
{
    struct asking *asking = ((struct rpc_client_call *)data)->owner;
    if (message && asking->came)
        asking->came(asking->orchestra, message, asking->data);
    if (!message || !asking->streams)
        command_call_ended(&asking->call);
}

static void begin(struct command_call *call)
{
    struct asking *asking = (struct asking *)call;
    asking->service->invoke(asking->service, asking->method, asking->request, message_came, &call->call);
}

bool orchestra_try_service(struct orchestra *orchestra, ProtobufCService *service, const char *method,
                           const ProtobufCMessage *request, int64_t timeout_ms,
                           void (*came)(struct orchestra *orchestra, const ProtobufCMessage *message, void *data),
                           void *data)
{
    const ProtobufCServiceDescriptor *type = service->descriptor;
    struct asking asking = {
        .call.begin = begin,
        .orchestra = orchestra,
        .service = service,
        .method = (unsigned)(protobuf_c_service_descriptor_get_method_by_name(type, method) - type->methods),
        .streams = strcmp(method, "WatchRun") == 0,
        .request = request,
        .came = came,
        .data = data,
    };
    command_call_prepare(&asking.call, orchestra->process, timeout_ms);
    bool answered = command_call_wait(&asking.call);
    orchestra->status = asking.call.call.status;
    return answered;
}

bool orchestra_try(struct orchestra *orchestra, const char *method, const ProtobufCMessage *request, int64_t timeout_ms,
                   void (*came)(struct orchestra *orchestra, const ProtobufCMessage *message, void *data), void *data)
{
    return orchestra_try_service(orchestra, orchestra->orchestrator, method, request, timeout_ms, came, data);
}

void orchestra_report(const struct orchestra *orchestra)
{
    const struct status *status = &orchestra->status;
    const char *target = orchestra_target(orchestra); /* NULL: in this process */
    fprintf(stderr, "%s: %s: %s", orchestra->command, status_code_name((int)status->code), status->text);
    if (status->code == UNAVAILABLE && target)
        fprintf(stderr, "; is an orchestrator running at %s? 'renga serve' is one", target);
    fputc('\n', stderr);
}

bool orchestra_ask(struct orchestra *orchestra, const char *method, const ProtobufCMessage *request, int64_t timeout_ms,
                   void (*came)(struct orchestra *orchestra, const ProtobufCMessage *message, void *data), void *data)
{
    if (orchestra_try(orchestra, method, request, timeout_ms, came, data))
        return true;
    orchestra_report(orchestra);
    return false;
}

bool orchestra_ask_soon(struct orchestra *orchestra, const char *method, const ProtobufCMessage *request,
                        void (*came)(struct orchestra *orchestra, const ProtobufCMessage *message, void *data),
                        void *data)
{
    return orchestra_ask(orchestra, method, request, config_duration_ms(orchestra->config, "timeout"), came, data);
}

/* ---- how things are shown ---------------------------------------------------------------------------------------- */

/* The bytes of the control character that `text` begins with: C0, DEL, or C1 in UTF-8. */
static size_t control(const char *text)
{
    unsigned char c = (unsigned char)*text;
    if (c < 0x20 || c == 0x7f)
        return 1;
    return c == 0xc2 && ((unsigned char)text[1] & 0xe0) == 0x80 ? 2 : 0;
}

static void show(FILE *out, const char *text, const char *kept)
{
    for (size_t size; *text; text += size ? size : 1) {
        size = control(text);
        fputc(size && !strchr(kept, *text) ? '?' : *text, out);
    }
}

void show_text_on(FILE *out, const char *text)
{
    show(out, text, "\n\t");
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

void show_cell(const struct orchestra *orchestra, const char *sequence, int width, const char *text)
{
    fputs(colour(orchestra, sequence), stdout);
    show(stdout, text, "");
    fputs(colour(orchestra, PLAIN), stdout);
    if (!width)
        putchar('\n');
    else if (orchestra->terminal)
        printf("%*s", width > (int)wrap_columns(text) ? width - (int)wrap_columns(text) + 2 : 2, "");
    else
        putchar('\t');
}

const char *colour(const struct orchestra *orchestra, const char *sequence)
{
    return orchestra->colours ? sequence : "";
}

const char *state_word(Renga__V1__RunState state)
{
    static const char *const words[] = {"unknown", "queued", "running", "waiting", "succeeded", "failed", "cancelled"};
    return (unsigned)state < sizeof words / sizeof words[0] ? words[state] : words[0];
}

const char *state_colour(const struct orchestra *orchestra, Renga__V1__RunState state)
{
    static const char *const colours[] = {PLAIN, BLUE, BLUE, YELLOW, GREEN, RED, RED};
    return (unsigned)state < sizeof colours / sizeof colours[0] ? colour(orchestra, colours[state]) : "";
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

void show_json(const struct orchestra *orchestra, const char *json)
{
    struct status st = {0};
    cJSON *tree = orchestra->terminal ? json_parse(json, strlen(json), NULL, &st) : NULL;
    char *indented = tree ? cJSON_Print(tree) : NULL;
    show_text(indented ? indented : json);
    putchar('\n');
    cJSON_free(indented);
    cJSON_Delete(tree);
}

void show_interrupt(const struct orchestra *orchestra, const Renga__V1__Interrupt *interrupt)
{
    bool asks = interrupt->kind == RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION;
    bool before = interrupt->kind == RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_BEFORE;
    printf("%s%s%s  %s", colour(orchestra, YELLOW), interrupt->interrupt_id, colour(orchestra, PLAIN),
           asks     ? ""
           : before ? "stands before "
                    : "stands after ");
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
