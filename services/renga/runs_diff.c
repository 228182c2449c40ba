/* `renga runs diff A B`: two runs compared by the output of their agents: plan, sources, text by sentence, scores,
 * cost. */
#include "runs_diff.h"

#include "base/text.h"
#include "rpc/rpc.h"
#include "json/json.h"
#include "json/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME       "renga runs diff"
#define RUN_MEMORY ((size_t)64 << 20) /* of both runs and their lists */
#define OUT_MAX    ((size_t)64 << 20) /* bytes of JSON */
#define VALUE_MAX  160                /* bytes of a value that differs, as it is shown */

/* How a field of an agent's output is compared. */
enum diff_kind { DIFF_SET, DIFF_SOURCES, DIFF_TEXT, DIFF_VALUE };

static const struct compared {
    const char *title;
    const char *path; /* names, with dots */
    enum diff_kind kind;
    const char *key; /* DIFF_SOURCES: the address */
} compared[] = {
    {"points", "task_plan.investigation_points", DIFF_SET, NULL},
    {"queries", "task_plan.search_queries", DIFF_SET, NULL},
    {"queries", "queries", DIFF_SET, NULL},
    {"subtasks", "plan", DIFF_SET, NULL},
    {"gaps", "gaps", DIFF_SET, NULL},
    {"sources", "research_data", DIFF_SOURCES, "url"},
    {"citations", "citations", DIFF_SOURCES, "uri"},
    {"report", "current_draft", DIFF_TEXT, NULL},
    {"report", "report_md", DIFF_TEXT, NULL},
    {"answer", "last_answer", DIFF_TEXT, NULL},
    {"answer", "answer", DIFF_TEXT, NULL},
    {"approved", "review.approved", DIFF_VALUE, NULL},
    {"overall score", "review.overall_score", DIFF_VALUE, NULL},
    {"facts", "review.scores.fact_check", DIFF_VALUE, NULL},
    {"completeness", "review.scores.completeness", DIFF_VALUE, NULL},
    {"logic", "review.scores.logic", DIFF_VALUE, NULL},
    {"format", "review.scores.format", DIFF_VALUE, NULL},
    {"steps", "iteration_count", DIFF_VALUE, NULL},
    {"cycles", "cycle", DIFF_VALUE, NULL},
    {"stop reason", "stop_reason", DIFF_VALUE, NULL},
};
#define COMPARED_COUNT (sizeof compared / sizeof *compared)

struct diff {
    struct orchestrator_client *client;
    struct arena arena;
    const Renga__V1__Run *runs[2];
    cJSON *outputs[2];
    struct json_writer out; /* with --json */
    bool differs;
    /* Of the field in hand. */
    const char *title;
    bool titled;
    size_t same;
    enum diff_mark listed; /* with --json: the mark that is written */
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void diff_run_was_read(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    struct diff *diff = data;
    (void)client;
    diff->runs[diff->runs[0] != NULL] =
        rpc_message_copy(&diff->arena, &((const Renga__V1__GetRunResponse *)message)->run->base);
}

static bool diff_read(struct diff *diff)
{
    for (int i = 0; i < 2; i++) {
        struct status st = {0};
        Renga__V1__GetRunRequest request = RENGA__V1__GET_RUN_REQUEST__INIT;
        request.run_id = command_text(diff->client->arguments[i + 1]);
        if (!orchestrator_client_call_soon(diff->client, "GetRun", &request.base, diff_run_was_read, diff) ||
            !diff->runs[i])
            return false;
        const char *output = diff->runs[i]->output_json;
        if (diff->runs[i]->output_omitted)
            fprintf(stderr, NAME ": the output of %s is too long to be sent; its fields are not compared\n",
                    diff->runs[i]->run_id);
        diff->outputs[i] = *output ? json_parse(output, strlen(output), NULL, &st) : cJSON_CreateObject();
        if (!diff->outputs[i]) {
            fprintf(stderr, NAME ": the output of %s: %s\n", diff->runs[i]->run_id, st.text);
            return false;
        }
    }
    return true;
}

static const cJSON *diff_field(const cJSON *output, const char *path)
{
    char name[64];
    while (output && *path) {
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        output = cJSON_GetObjectItemCaseSensitive(output, name);
        path += length + (path[length] == '.');
    }
    return output;
}

/* ---- showing ----------------------------------------------------------------------------------------------------- */

static void diff_title(struct diff *diff)
{
    if (!diff->titled)
        printf("%s%s%s\n", colour(diff->client, BOLD), diff->title, colour(diff->client, PLAIN));
    diff->titled = true;
}

static void diff_show_same(struct diff *diff)
{
    if (diff->same && diff->titled)
        printf("  %s(%zu the same)%s\n", colour(diff->client, DIM), diff->same, colour(diff->client, PLAIN));
    diff->same = 0;
}

static void diff_entry_received(enum diff_mark mark, const char *text, void *data)
{
    struct diff *diff = data;
    if (mark == DIFF_SAME) {
        diff->same++;
        return;
    }
    diff_title(diff);
    diff_show_same(diff);
    diff->differs = true;
    printf("  %s%s ", colour(diff->client, mark == DIFF_REMOVED ? RED : GREEN), mark == DIFF_REMOVED ? "−" : "+");
    show_text(text);
    printf("%s\n", colour(diff->client, PLAIN));
}

static void diff_entry_listed(enum diff_mark mark, const char *text, void *data)
{
    struct diff *diff = data;
    diff->same += mark == DIFF_SAME && diff->listed == DIFF_SAME;
    diff->differs |= mark != DIFF_SAME;
    if (mark == diff->listed && mark != DIFF_SAME)
        json_write_string(&diff->out, NULL, text);
}

static bool diff_list(struct diff *diff, const struct diff_list lists[2], bool ordered)
{
    if (!diff->client->json) {
        bool good = diff_lists(&lists[0], &lists[1], ordered, &diff->arena, diff_entry_received, diff);
        diff_show_same(diff);
        if (good && (lists[0].cut || lists[1].cut))
            printf("  only the first %d entries are compared\n", DIFF_ENTRIES_MAX);
        return good;
    }
    static const char *const names[] = {[DIFF_REMOVED] = "removed", [DIFF_ADDED] = "added"};
    bool good = true;
    json_write_object(&diff->out, diff->title);
    for (enum diff_mark mark = DIFF_REMOVED; mark <= DIFF_ADDED; mark++) {
        diff->listed = mark;
        json_write_array(&diff->out, names[mark]);
        good = good && diff_lists(&lists[0], &lists[1], ordered, &diff->arena, diff_entry_listed, diff);
        json_write_end(&diff->out);
    }
    diff->listed = DIFF_SAME;
    diff->same = 0;
    good = good && diff_lists(&lists[0], &lists[1], ordered, &diff->arena, diff_entry_listed, diff);
    json_write_uint(&diff->out, "same", diff->same);
    json_write_bool(&diff->out, "cut", lists[0].cut || lists[1].cut);
    json_write_end(&diff->out);
    return good;
}

/* A value in short; "" if it is absent. */
static void diff_value_text(const cJSON *value, char out[VALUE_MAX])
{
    char *text = value ? cJSON_PrintUnformatted(value) : NULL;
    size_t length = text ? strlen(text) : 0, kept = length < VALUE_MAX ? length : text_cut(text, length, VALUE_MAX - 4);
    snprintf(out, VALUE_MAX, "%.*s%s", (int)kept, text ? text : "", kept < length ? "…" : "");
    cJSON_free(text);
}

static void diff_texts(struct diff *diff, const char *title, const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return;
    diff->differs = true;
    if (diff->client->json) {
        json_write_object(&diff->out, title);
        json_write_string(&diff->out, "a", a);
        json_write_string(&diff->out, "b", b);
        json_write_end(&diff->out);
        return;
    }
    printf("%s%s%s ", colour(diff->client, BOLD), title, colour(diff->client, PLAIN));
    show_text(*a ? a : "–");
    printf(" → ");
    show_text(*b ? b : "–");
    putchar('\n');
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static bool diff_compare(struct diff *diff, const struct compared *field)
{
    const cJSON *values[2] = {diff_field(diff->outputs[0], field->path), diff_field(diff->outputs[1], field->path)};
    struct diff_list lists[2];
    char texts[2][VALUE_MAX];
    bool good = true;
    if (!values[0] && !values[1])
        return true;
    diff->title = field->title;
    diff->titled = false;
    diff->same = 0;
    if (field->kind == DIFF_VALUE) {
        diff_value_text(values[0], texts[0]);
        diff_value_text(values[1], texts[1]);
        diff_texts(diff, field->title, texts[0], texts[1]);
        return true;
    }
    for (int i = 0; i < 2; i++) {
        const char *text = cJSON_GetStringValue(values[i]);
        good = good && (field->kind == DIFF_TEXT ? diff_list_sentences(&lists[i], text ? text : "", &diff->arena)
                                                 : diff_list_read(&lists[i], values[i], field->key, &diff->arena));
    }
    return good && diff_list(diff, lists, field->kind == DIFF_TEXT);
}

static bool diff_is_compared(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < COMPARED_COUNT; i++)
        if (strncmp(compared[i].path, name, length) == 0 && strchr(".", compared[i].path[length]))
            return true;
    return false;
}

/* Fields that the table does not have: their values in short. */
static void diff_others(struct diff *diff)
{
    char texts[2][VALUE_MAX];
    const cJSON *value;
    for (int i = 0; i < 2; i++)
        cJSON_ArrayForEach(value, diff->outputs[i])
        {
            const cJSON *other = cJSON_GetObjectItemCaseSensitive(diff->outputs[1 - i], value->string);
            if (diff_is_compared(value->string) || (i && other) || (other && cJSON_Compare(value, other, true)))
                continue;
            diff_value_text(i ? other : value, texts[0]);
            diff_value_text(i ? value : other, texts[1]);
            if (strcmp(texts[0], texts[1]) == 0) /* they differ after the shown part */
                snprintf(texts[1], VALUE_MAX, "(another value that begins alike)");
            diff_texts(diff, value->string, texts[0], texts[1]);
        }
}

static void diff_spent(struct diff *diff)
{
    char texts[2][6][48];
    static const char *const titles[] = {"agent", "state", "duration", "model calls", "tokens", "cost"};
    for (int i = 0; i < 2; i++) {
        const Renga__V1__Run *run = diff->runs[i];
        const Renga__V1__Usage *usage = run->usage;
        int64_t ms = run->ended_ms > run->started_ms ? run->ended_ms - run->started_ms : 0;
        snprintf(texts[i][0], sizeof texts[i][0], "%.47s", run->agent);
        snprintf(texts[i][1], sizeof texts[i][1], "%s", state_word(run->state));
        snprintf(texts[i][2], sizeof texts[i][2], "%.1f s", (double)ms / 1000);
        snprintf(texts[i][3], sizeof texts[i][3], "%" PRId64, usage ? usage->model_calls : 0);
        snprintf(texts[i][4], sizeof texts[i][4], "%" PRId64, usage ? usage->input_tokens + usage->output_tokens : 0);
        snprintf(texts[i][5], sizeof texts[i][5], "%sUSD %.4f", usage && usage->unpriced_calls ? "> " : "",
                 usage ? (double)usage->cost_micros / 1e6 : 0);
    }
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        bool differed = diff->differs;
        diff_texts(diff, titles[i], texts[0][i], texts[1][i]);
        if (i == 2) /* how long it took is told, but no difference of the runs */
            diff->differs = differed;
    }
}

static int diff_show(struct diff *diff)
{
    bool good = true;
    diff_spent(diff);
    for (size_t i = 0; i < COMPARED_COUNT; i++)
        good = diff_compare(diff, &compared[i]) && good;
    diff_others(diff);
    if (!good)
        fprintf(stderr, NAME ": the runs are too large to be compared: more than %zu MiB\n", RUN_MEMORY >> 20);
    return !good ? COMMAND_USAGE : diff->differs ? COMMAND_FAILED : COMMAND_OK;
}

/* "1 the runs differ" is COMMAND_FAILED's number, and 2 that of a failure, as diff(1) has them. */
int runs_diff(struct orchestrator_client *client)
{
    struct diff diff = {.client = client};
    struct buffer out;
    int code = COMMAND_USAGE;
    arena_init(&diff.arena, NULL, 0, RUN_MEMORY);
    buffer_init(&out, OUT_MAX);
    json_writer_init(&diff.out, &out);
    if (diff_read(&diff)) {
        if (client->json)
            json_write_object(&diff.out, NULL);
        code = diff_show(&diff);
        if (client->json) {
            json_write_bool(&diff.out, "same", code == COMMAND_OK);
            json_write_end(&diff.out);
            puts(buffer_text(&out));
        } else if (code == COMMAND_OK) {
            puts("the runs are the same");
        }
    }
    buffer_fini(&out);
    cJSON_Delete(diff.outputs[0]);
    cJSON_Delete(diff.outputs[1]);
    arena_fini(&diff.arena);
    return code;
}
