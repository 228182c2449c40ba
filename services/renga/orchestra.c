#include "orchestra.h"

#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAY_HELP "is an orchestrator running there? 'renga serve' is one"

/* ---- the way ----------------------------------------------------------------------------------------------------- */

int orchestra_run(struct daemon *daemon, const struct option *options, int argc, char **argv,
                  int (*work)(struct daemon_process *process, const struct config *config))
{
    static const struct peer peers[] = {{ORCHESTRA_TARGET, &renga__v1__orchestrator__descriptor}, {0}};
    daemon->log_level = "error";
    daemon->extra_options = options;
    daemon->peers = peers;
    daemon->peer_options = NULL;
    return command_with_process(daemon, argc, argv, work);
}

bool orchestra_open(struct orchestra *orchestra, struct daemon_process *process, const struct config *config,
                    const char *command, size_t min, size_t max, const char *wanted)
{
    struct status st = {0};
    *orchestra = (struct orchestra){.command = command, .process = process, .config = config};
    orchestra->arguments = config_arguments(config, &orchestra->argument_count);
    orchestra->json = config_boolean(config, "json");
    orchestra->colours = !orchestra->json && isatty(STDOUT_FILENO);
    if (orchestra->argument_count < min || orchestra->argument_count > max) {
        fprintf(stderr, "%s: %s\n", command, wanted);
        return false;
    }
    orchestra->orchestrator = process_stub(process, &renga__v1__orchestrator__descriptor, &st);
    if (!orchestra->orchestrator)
        fprintf(stderr, "%s: %s\n", command, st.text);
    return orchestra->orchestrator != NULL;
}

struct asking {
    struct command_call call; /* first */
    struct orchestra *orchestra;
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
    ProtobufCService *service = asking->orchestra->orchestrator;
    service->invoke(service, asking->method, asking->request, message_came, &call->call);
}

bool orchestra_ask(struct orchestra *orchestra, const char *method, const ProtobufCMessage *request, int64_t timeout_ms,
                   void (*came)(struct orchestra *orchestra, const ProtobufCMessage *message, void *data), void *data)
{
    const ProtobufCServiceDescriptor *service = &renga__v1__orchestrator__descriptor;
    struct asking asking = {
        .call.begin = begin,
        .orchestra = orchestra,
        .method = (unsigned)(protobuf_c_service_descriptor_get_method_by_name(service, method) - service->methods),
        .streams = strcmp(method, "WatchRun") == 0,
        .request = request,
        .came = came,
        .data = data,
    };
    command_call_prepare(&asking.call, orchestra->process, timeout_ms);
    bool answered = command_call_run(&asking.call, orchestra->command);
    orchestra->code = asking.call.call.status.code;
    if (answered)
        return true;
    if (orchestra->code == UNAVAILABLE)
        fprintf(stderr, "%s: %s: %s\n", orchestra->command, config_string(orchestra->config, ORCHESTRA_TARGET),
                WAY_HELP);
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

static void show(const char *text, const char *kept)
{
    for (size_t size; *text; text += size ? size : 1) {
        size = control(text);
        putchar(size && !strchr(kept, *text) ? '?' : *text);
    }
}

void show_text(const char *text)
{
    show(text, "\n\t");
}

void show_cell(const struct orchestra *orchestra, const char *sequence, int width, const char *text)
{
    fputs(colour(orchestra, sequence), stdout);
    show(text, "");
    fputs(colour(orchestra, PLAIN), stdout);
    if (!width)
        putchar('\n');
    else if (orchestra->colours)
        printf("%*s", width > (int)strlen(text) ? width - (int)strlen(text) + 2 : 2, "");
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
    cJSON *tree = orchestra->colours ? json_parse(json, strlen(json), NULL, &st) : NULL;
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
