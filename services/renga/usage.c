/* `renga usage`: the usage and cost of calls, from a gateway's accounts. */
#include "base/buffer.h"
#include "base/clock.h"
#include "commands.h"
#include "gateway.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "table.h"
#include "json/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAME       "renga usage"
#define GROUPS_MAX 4    /* as the contract has it */
#define PAGE_MAX   1000 /* rows */
#define MINUTE_MS  INT64_C(60000)
#define JSON_MAX   ((size_t)64 << 20)

static const struct option options[] = {
    LIST_OPTION(
        "by", "model", "GROUPS",
        "What rows are made of, at most four: client, tenant, model, deployment, run, thread, and hour or day."),
    STRING_OPTION("from", NULL, "TIME",
                  "Calls that ended then or later: 2026-11-21 or 2026-11-21T09:30. Unset is from the beginning."),
    STRING_OPTION("to", NULL, "TIME", "Calls that ended before. Unset is until now."),
    INTEGER_OPTION("utc_offset", "0", -840, 840, "MINUTES",
                   "Of the time that is read and shown, from UTC: 540 in Japan."),
    STRING_OPTION("client", NULL, "NAME", "Only this client."),
    STRING_OPTION("tenant", NULL, "NAME", "Only this tenant."),
    STRING_OPTION("model", NULL, "NAME", "Only this model."),
    STRING_OPTION("deployment", NULL, "NAME", "Only this deployment."),
    STRING_OPTION("run", NULL, "ID", "Only this run."),
    STRING_OPTION("thread", NULL, "ID", "Only this thread."),
    INTEGER_OPTION("rows", "100", 1, 100000, "COUNT", "Most rows that are shown."),
    TABLE_OPTIONS,
    CONNECT_OPTION("Ask a gateway that runs, HOST:PORT of it or of 'renga serve'."),
    {0},
};

struct usage {
    struct command_call call; /* first */
    ProtobufCService *gateway;
    const struct config *config;
    Renga__V1__GetUsageRequest request;
    Renga__V1__UsageGroup groups[GROUPS_MAX];
    char token[257]; /* of the next page; "": this was the last */
    int64_t rows, rows_max, complete_ms, damaged;
    bool unpriced; /* a row has requests without a price */
    struct table table;
    struct table_column columns[TABLE_COLUMNS_MAX];
    struct buffer json;
    struct json_writer writer;
};

/* ---- the question ------------------------------------------------------------------------------------------------ */

static const char *const words[] = {
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_CLIENT] = "client",
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_TENANT] = "tenant",
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_MODEL] = "model",
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_DEPLOYMENT] = "deployment",
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_RUN] = "run",
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_THREAD] = "thread",
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_HOUR] = "hour",
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_DAY] = "day",
};
#define WORDS (sizeof words / sizeof words[0])

static bool read_groups(struct usage *usage, struct status *st)
{
    size_t count;
    const char *const *list = config_list(usage->config, "by", &count);
    if (count > GROUPS_MAX)
        return fail(st, INVALID_ARGUMENT, "--by has %zu groups; at most %d are possible", count, GROUPS_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t group = 1;
        while (group < WORDS && strcmp(words[group], list[i]) != 0)
            group++;
        if (group == WORDS)
            return fail(
                st, INVALID_ARGUMENT,
                "--by cannot be '%s'; client, tenant, model, deployment, run, thread, hour and day are possible",
                list[i]);
        usage->groups[i] = (Renga__V1__UsageGroup)group;
    }
    usage->request.group_by = usage->groups;
    usage->request.n_group_by = count;
    return true;
}

static bool usage_read_time(const struct usage *usage, const char *name, int64_t *ms, struct status *st)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
    const char *text = config_string(usage->config, name);
    for (size_t i = 0; text && i < sizeof forms / sizeof forms[0]; i++) {
        struct tm date = {0};
        const char *rest = strptime(text, forms[i], &date);
        if (!rest || *rest)
            continue;
        *ms = (int64_t)timegm(&date) * 1000 - usage->request.utc_offset_minutes * MINUTE_MS;
        return true;
    }
    return !text || fail(st, INVALID_ARGUMENT, "--%s is '%s'; a time is 2026-11-21 or 2026-11-21T09:30", name, text);
}

static char *filter(const struct usage *usage, const char *name)
{
    const char *text = config_string(usage->config, name);
    return text ? (char *)(uintptr_t)text : (char *)(uintptr_t) "";
}

static bool usage_read_question(struct usage *usage, struct status *st)
{
    Renga__V1__GetUsageRequest *request = &usage->request;
    renga__v1__get_usage_request__init(request);
    request->utc_offset_minutes = (int32_t)config_integer(usage->config, "utc_offset");
    request->client = filter(usage, "client");
    request->tenant = filter(usage, "tenant");
    request->model = filter(usage, "model");
    request->deployment = filter(usage, "deployment");
    request->run_id = filter(usage, "run");
    request->thread_id = filter(usage, "thread");
    usage->rows_max = config_integer(usage->config, "rows");
    request->page_size = (int32_t)(usage->rows_max < PAGE_MAX ? usage->rows_max : PAGE_MAX);
    return read_groups(usage, st) && usage_read_time(usage, "from", &request->from_ms, st) &&
           usage_read_time(usage, "to", &request->to_ms, st);
}

/* ---- a row ------------------------------------------------------------------------------------------------------- */

struct usage_time_text {
    char text[24];
};

/* The day, or the hour of it. */
static struct usage_time_text usage_time_text(const struct usage *usage, Renga__V1__UsageGroup group, int64_t ms)
{
    struct usage_time_text out;
    time_t seconds = (time_t)((ms + usage->request.utc_offset_minutes * MINUTE_MS) / 1000);
    struct tm date;
    gmtime_r(&seconds, &date);
    if (group == RENGA__V1__USAGE_GROUP__USAGE_GROUP_DAY)
        strftime(out.text, sizeof out.text, "%F", &date);
    else
        strftime(out.text, sizeof out.text, "%F %H:00", &date);
    return out;
}

/* NULL: it is a time. */
static const char *group_name(const Renga__V1__UsageRow *row, Renga__V1__UsageGroup group)
{
    switch (group) {
    case RENGA__V1__USAGE_GROUP__USAGE_GROUP_CLIENT:
        return row->client;
    case RENGA__V1__USAGE_GROUP__USAGE_GROUP_TENANT:
        return row->tenant;
    case RENGA__V1__USAGE_GROUP__USAGE_GROUP_MODEL:
        return row->model;
    case RENGA__V1__USAGE_GROUP__USAGE_GROUP_DEPLOYMENT:
        return row->deployment;
    case RENGA__V1__USAGE_GROUP__USAGE_GROUP_RUN:
        return row->run_id;
    case RENGA__V1__USAGE_GROUP__USAGE_GROUP_THREAD:
        return row->thread_id;
    default:
        return NULL;
    }
}

enum number { CALLS, FAILED, CANCELLED_CALLS, CACHED, INPUT, OUTPUT, NUMBERS };
static const struct {
    const char *title, *key;
} numbers[NUMBERS] = {
    [CALLS] = {"calls", "calls"},
    [FAILED] = {"failed", "failed_calls"},
    [CANCELLED_CALLS] = {"left", "cancelled_calls"},
    [CACHED] = {"cached", "cached_calls"},
    [INPUT] = {"tokens in", "input_tokens"},
    [OUTPUT] = {"tokens out", "output_tokens"},
};

static void numbers_of(const Renga__V1__UsageRow *row, int64_t values[NUMBERS])
{
    values[CALLS] = row->calls;
    values[FAILED] = row->failed_calls;
    values[CANCELLED_CALLS] = row->cancelled_calls;
    values[CACHED] = row->cached_calls;
    values[INPUT] = row->usage ? row->usage->input_tokens : 0;
    values[OUTPUT] = row->usage ? row->usage->output_tokens : 0;
}

/* ---- as a table -------------------------------------------------------------------------------------------------- */

static void open_table(struct usage *usage)
{
    size_t count = 0;
    for (size_t i = 0; i < usage->request.n_group_by; i++)
        usage->columns[count++].title = words[usage->groups[i]];
    if (count == 0)
        usage->columns[count++].title = "";
    for (int i = 0; i < NUMBERS; i++)
        usage->columns[count++] = (struct table_column){numbers[i].title, true};
    usage->columns[count++] = (struct table_column){"USD", true};
    table_init(&usage->table, usage->columns, count);
}

/* "-" if no price is known, and a lower bound if some requests have no price. */
static void add_cost(struct usage *usage, const Renga__V1__Usage *used, const char **cell)
{
    int64_t micros = used ? used->cost_micros : 0, unpriced = used ? used->unpriced_calls : 0;
    *cell = unpriced && !micros ? "-"
                                : table_print_cell(&usage->table, "%s%" PRId64 ".%06" PRId64, unpriced ? ">" : "",
                                                   micros / 1000000, micros % 1000000);
    usage->unpriced |= unpriced > 0;
}

static void usage_add_row(struct usage *usage, const Renga__V1__UsageRow *row, bool total)
{
    int64_t values[NUMBERS];
    const char **cells = table_row(&usage->table);
    size_t at = 0;
    if (!cells)
        return;
    for (size_t i = 0; i < usage->request.n_group_by && !total; i++) {
        const char *name = group_name(row, usage->groups[i]);
        cells[at++] = table_text(&usage->table, name ? (*name ? name : "-")
                                                     : usage_time_text(usage, usage->groups[i], row->start_ms).text);
    }
    if (total) {
        cells[0] = "all";
        at = usage->request.n_group_by ? usage->request.n_group_by : 1;
    }
    numbers_of(row, values);
    for (int i = 0; i < NUMBERS; i++)
        cells[at++] = table_print_cell(&usage->table, "%" PRId64, values[i]);
    add_cost(usage, row->usage, &cells[at]);
}

/* ---- as JSON ----------------------------------------------------------------------------------------------------- */

static void usage_write_row(struct usage *usage, const char *key, const Renga__V1__UsageRow *row, bool total)
{
    struct json_writer *writer = &usage->writer;
    int64_t values[NUMBERS];
    json_write_object(writer, key);
    for (size_t i = 0; i < usage->request.n_group_by && !total; i++) {
        const char *name = group_name(row, usage->groups[i]), *word = words[usage->groups[i]];
        json_write_string(writer, word, name ? name : usage_time_text(usage, usage->groups[i], row->start_ms).text);
    }
    numbers_of(row, values);
    for (int i = 0; i < NUMBERS; i++)
        json_write_int(writer, numbers[i].key, values[i]);
    if (row->usage) {
        json_write_int(writer, "cached_input_tokens", row->usage->cached_input_tokens);
        json_write_int(writer, "reasoning_tokens", row->usage->reasoning_tokens);
        json_write_int(writer, "model_calls", row->usage->model_calls);
        json_write_int(writer, "cost_micros", row->usage->cost_micros);
        json_write_int(writer, "unpriced_calls", row->usage->unpriced_calls);
        json_write_bool(writer, "estimated", row->usage->estimated);
    }
    json_write_end(writer);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void usage_take(struct usage *usage, const Renga__V1__GetUsageResponse *response)
{
    static const Renga__V1__UsageRow nothing = RENGA__V1__USAGE_ROW__INIT;
    bool json = config_boolean(usage->config, "json");
    const Renga__V1__UsageRow *totals = response->totals ? response->totals : &nothing;
    for (size_t i = 0; i < response->n_rows && usage->rows < usage->rows_max; i++, usage->rows++)
        json ? usage_write_row(usage, NULL, response->rows[i], false) : usage_add_row(usage, response->rows[i], false);
    snprintf(usage->token, sizeof usage->token, "%s", response->next_page_token);
    if (usage->token[0] && usage->rows < usage->rows_max)
        return;
    usage->complete_ms = response->complete_until_ms;
    usage->damaged = response->damaged_rows;
    if (!json) {
        usage_add_row(usage, totals, true);
        return;
    }
    json_write_end(&usage->writer);
    usage_write_row(usage, "totals", totals, true);
    json_write_bool(&usage->writer, "has_more", usage->token[0] != '\0');
    json_write_int(&usage->writer, "complete_until_ms", usage->complete_ms);
    json_write_int(&usage->writer, "damaged_rows", usage->damaged);
    json_write_end(&usage->writer);
}

static void usage_answered(const Renga__V1__GetUsageResponse *response, void *data)
{
    struct usage *usage = ((struct rpc_client_call *)data)->owner;
    if (response)
        usage_take(usage, response);
    command_call_ended(&usage->call);
}

static void usage_begin(struct command_call *call)
{
    struct usage *usage = (struct usage *)call;
    usage->request.page_token = usage->token;
    renga__v1__llm_gateway__get_usage(usage->gateway, &usage->request, usage_answered, &call->call);
}

static bool ask_all(struct usage *usage, struct daemon_process *process)
{
    do {
        command_call_prepare(&usage->call, process, config_duration_ms(usage->config, "timeout"));
        if (!command_call_run(&usage->call, NAME))
            return false;
    } while (usage->token[0] && usage->rows < usage->rows_max);
    return true;
}

static void usage_show(struct usage *usage)
{
    if (config_boolean(usage->config, "json"))
        puts(buffer_text(&usage->json));
    else
        table_print(&usage->table, stdout, command_in_colours());
    if (usage->unpriced)
        fputs(NAME
              ": \"-\" and \">\": requests to models without a price; the \"prices\" of llm_gateway.routes set it\n",
              stderr);
    if (usage->damaged)
        fprintf(stderr, NAME ": %" PRId64 " rows of the accounts are damaged and left out; the sums are too small\n",
                usage->damaged);
    if (usage->token[0])
        fprintf(stderr, NAME ": there are more than %" PRId64 " rows; ask for more with --rows\n", usage->rows_max);
}

/* A gateway in this process has only the accounts of a file. */
static bool has_accounts(const struct config *config, struct status *st)
{
    const char *peer = config_string(config, "peers.llm_gateway");
    if (config_string(config, CONNECT) || (peer && *peer))
        return true;
    const char *ledger = config_string(config, "llm_gateway.ledger");
    return (ledger && *ledger) ||
           fail(
               st, INVALID_ARGUMENT,
               "whose? Say where the gateway runs (--connect HOST:PORT), or, of one that has ended, where its accounts "
               "are (--llm_gateway.ledger FILE)");
}

static int report(struct daemon_process *process, const struct config *config)
{
    struct status st = {0};
    struct usage usage = {.call.begin = usage_begin, .config = config};
    if (!command_arguments(config, NAME, 0, 0, "options alone say what is shown", NULL))
        return COMMAND_USAGE;
    if (has_accounts(config, &st) && usage_read_question(&usage, &st))
        usage.gateway = process_stub(process, &renga__v1__llm_gateway__descriptor, &st);
    if (!usage.gateway) {
        fprintf(stderr, NAME ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    open_table(&usage);
    buffer_init(&usage.json, JSON_MAX);
    json_writer_init(&usage.writer, &usage.json);
    json_write_object(&usage.writer, NULL);
    json_write_array(&usage.writer, "rows");
    bool good = ask_all(&usage, process);
    if (good)
        usage_show(&usage);
    buffer_fini(&usage.json);
    table_fini(&usage.table);
    return good ? COMMAND_OK : COMMAND_FAILED;
}

static int usage(int argc, char **argv)
{
    static const struct service *const gateway[] = {&llm_gateway_service, NULL};
    static const struct peer peers[] = {{CONNECT, &renga__v1__llm_gateway__descriptor},
                                        {"peers.llm_gateway", &renga__v1__llm_gateway__descriptor},
                                        {0}};
    struct daemon daemon = command_daemon(
        NAME, "shows what calls to models have used and cost, from a gateway's accounts.", gateway, argc, argv);
    daemon.usage = NAME " [OPTIONS]";
    daemon.examples = NAME " --connect 127.0.0.1:15000 --by client,day --from 2026-11-01\n" NAME
                           " --llm_gateway.ledger ledger.db --by model --json | jq .rows\n";
    daemon.extra_options = options;
    daemon.peers = peers;
    return command_with_process(&daemon, argc, argv, report);
}

const struct command command_usage = {
    .name = "usage",
    .summary = "what calls to models have used and cost",
    .run = usage,
};
