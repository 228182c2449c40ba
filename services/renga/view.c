/* A run as it happens. In a pipe a line an event; on a terminal the same lines above a block of the nodes at work,
 * which is drawn anew with each event. */
#include "reconnect.h"
#include "wrap.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WATCH_MAX_MS (7LL * 24 * 3600 * 1000)
#define HEARTBEAT_MS 1000 /* nodes at work are redrawn at least so often, and the end of a silence is noticed */
#define ROWS_MAX     1000 /* nodes at work that are known; more are only counted */
#define ROWS_SHOWN   12
#define NAME_SHOWN   48 /* bytes */
#define TEXT_SHOWN   40 /* bytes of the text that a node is writing */
#define PLACE_MAX    1200
#define LEFT_COLUMNS 16 /* of a line of the block: the columns beside name and text */

struct row {
    char name[NAME_SHOWN + 1];
    char *place; /* the whole: path, node, branch */
    char text[TEXT_SHOWN + 1];
    int64_t began_ns;
};

struct view {
    struct orchestrator_client *client;
    struct reconnect reconnect;
    bool quiet, live;
    int64_t last_event_id;
    struct row rows[ROWS_MAX];
    size_t count, beyond;
    size_t drawn; /* lines below the cursor's old place */
};

/* ---- the block of nodes at work ---------------------------------------------------------------------------------- */

static void erase(struct view *view)
{
    if (view->drawn)
        printf("\033[%zuA\033[J", view->drawn);
    view->drawn = 0;
}

/* No line is wider than the terminal: a broken line would not be erased. */
static void view_draw_row(const struct view *view, const struct row *row, size_t width)
{
    const struct orchestrator_client *client = view->client;
    size_t room = width > LEFT_COLUMNS ? width - LEFT_COLUMNS : 0, name = wrap_fit(row->name, room);
    size_t taken = wrap_columns(row->name), text = wrap_fit(row->text, room > taken ? room - taken : 0);
    printf("%s  ● %s", colour(client, BLUE), colour(client, PLAIN));
    show_bytes(row->name, name);
    printf("%s %.1f s ", colour(client, DIM), (double)(clock_now_ns() - row->began_ns) / 1e9);
    show_bytes(row->text, text);
    printf("%s\n", colour(client, PLAIN));
}

static void view_draw(struct view *view)
{
    const struct orchestrator_client *client = view->client;
    size_t shown = view->count < ROWS_SHOWN ? view->count : ROWS_SHOWN, width = command_terminal_width();
    for (size_t i = 0; i < shown; i++)
        view_draw_row(view, &view->rows[i], width);
    view->drawn = shown;
    if (view->count + view->beyond > shown) {
        printf("%s  … and %zu more\n%s", colour(client, DIM), view->count + view->beyond - shown,
               colour(client, PLAIN));
        view->drawn++;
    }
    fflush(stdout);
}

static const char *view_place_of(const Renga__V1__RunEvent *event, char out[PLACE_MAX])
{
    char branch[16] = "";
    if (event->branch)
        snprintf(branch, sizeof branch, "[%d]", event->branch);
    snprintf(out, PLACE_MAX, "%s%s%s%s", event->path, event->path[0] ? "/" : "", event->node, branch);
    return out;
}

static struct row *row_of(struct view *view, const char *place)
{
    for (size_t i = 0; i < view->count; i++)
        if (strcmp(view->rows[i].place, place) == 0)
            return &view->rows[i];
    return NULL;
}

static void row_begin(struct view *view, const char *place)
{
    if (row_of(view, place))
        return;
    if (view->count == ROWS_MAX) {
        view->beyond++;
        return;
    }
    struct row *row = &view->rows[view->count++];
    *row = (struct row){.place = strdup(place), .began_ns = clock_now_ns()};
    if (!row->place)
        abort();
    snprintf(row->name, sizeof row->name, "%.*s", (int)text_cut(place, strlen(place), NAME_SHOWN), place);
}

static void row_end(struct view *view, const char *place)
{
    struct row *row = row_of(view, place);
    if (!row) {
        view->beyond -= view->beyond > 0;
        return;
    }
    free(row->place);
    memmove(row, row + 1, (size_t)(view->rows + --view->count - row) * sizeof *row);
}

static void rows_clear(struct view *view)
{
    while (view->count)
        free(view->rows[--view->count].place);
    view->beyond = 0;
}

/* The end of the text that a node is writing: whole characters, a single line. */
static void row_write(struct view *view, const char *place, const char *text)
{
    struct row *row = row_of(view, place);
    char joined[2 * TEXT_SHOWN + 2];
    if (!row)
        return;
    size_t skip = strlen(text) > TEXT_SHOWN ? strlen(text) - TEXT_SHOWN : 0;
    snprintf(joined, sizeof joined, "%s%s", row->text, text + skip);
    size_t length = strlen(joined), from = length > TEXT_SHOWN ? length - TEXT_SHOWN : 0;
    while (((unsigned char)joined[from] & 0xc0) == 0x80)
        from++;
    snprintf(row->text, sizeof row->text, "%s", joined + from);
    for (char *c = row->text; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
}

/* ---- a line for each event --------------------------------------------------------------------------------------- */

static void line_begin(const struct view *view, const Renga__V1__RunEvent *event, const char *sequence,
                       const char *word)
{
    char place[PLACE_MAX];
    const struct orchestrator_client *client = view->client;
    if (client->terminal)
        printf("%s%-10s%s ", colour(client, sequence), word, colour(client, PLAIN));
    else
        printf("%lld %s ", (long long)event->event_id, word);
    if (event->step)
        printf("%sstep %lld%s ", colour(client, DIM), (long long)event->step, colour(client, PLAIN));
    show_text(view_place_of(event, place));
}

static void view_line_end(const struct view *view, const char *format, const char *text, double number)
{
    printf("%s", colour(view->client, DIM));
    if (number >= 0)
        printf(" %.0f ms", number);
    if (*text) {
        printf("%s", format);
        show_text(text);
    }
    printf("%s\n", colour(view->client, PLAIN));
}

static const char *fields_text(const Renga__V1__StateUpdated *updated, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < updated->n_fields && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? ", " : "", updated->fields[i]);
    return out;
}

static void line_of_node(const struct view *view, const Renga__V1__RunEvent *event)
{
    char text[256];
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_NODE_STARTED:
        if (!view->live) {
            line_begin(view, event, BLUE, "begins");
            view_line_end(view, " ", event->node_started->kind, -1);
        }
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FINISHED:
        line_begin(view, event, GREEN, "finished");
        view_line_end(view, " → ", event->node_finished->outcome, (double)event->node_finished->duration_ms);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FAILED:
        line_begin(view, event, RED, "failed");
        view_line_end(view, " ", event->node_failed->message, (double)event->node_failed->duration_ms);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_RETRIED:
        line_begin(view, event, YELLOW, "again");
        view_line_end(view, " ", event->node_retried->message, -1);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_UPDATED:
        line_begin(view, event, DIM, "wrote");
        view_line_end(view, " ", fields_text(event->updated, text, sizeof text), -1);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_PROGRESS_JSON:
        line_begin(view, event, DIM, "shows");
        view_line_end(view, " ", event->progress_json, -1);
        break;
    default:
        break;
    }
}

static void line_of_run(const struct view *view, const Renga__V1__RunEvent *event)
{
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_STARTED:
        line_begin(view, event, BOLD, "started");
        view_line_end(view, "", event->started->agent, -1);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_STATE_CHANGED:
        line_begin(view, event, DIM, "is");
        view_line_end(view, "", state_word(event->state_changed->current), -1);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_INTERRUPTED:
        line_begin(view, event, YELLOW, "asks");
        view_line_end(view, " ", event->interrupted->question, -1);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_ANSWERED:
        line_begin(view, event, GREEN, "answered");
        view_line_end(view, " ", event->answered->answer_json, -1);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_CHECKPOINT:
        line_begin(view, event, DIM, "committed");
        view_line_end(view, " ", event->checkpoint->checkpoint_id, -1);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_STOPPED:
        line_begin(view, event, state_colour(view->client, event->stopped->state), "stopped");
        view_line_end(view, " ", reason_word(event->stopped->stop_reason), -1);
        break;
    default:
        line_of_node(view, event);
        break;
    }
}

static void keep_rows(struct view *view, const Renga__V1__RunEvent *event)
{
    char place[PLACE_MAX];
    view_place_of(event, place);
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_NODE_STARTED:
        row_begin(view, place);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FINISHED:
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FAILED:
    case RENGA__V1__RUN_EVENT__EVENT_NODE_RETRIED:
    case RENGA__V1__RUN_EVENT__EVENT_INTERRUPTED:
        row_end(view, place);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_TOKEN:
        row_write(view, place, event->token->text);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_STOPPED:
        rows_clear(view);
        break;
    default:
        break;
    }
}

static void view_event_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    struct view *view = data;
    const Renga__V1__RunEvent *event = (const Renga__V1__RunEvent *)message;
    view->last_event_id = event->event_id;
    erase(view);
    reconnect_succeeded(&view->reconnect);
    if (view->quiet || (event->event_case == RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT && !view->live))
        return;
    if (client->json) {
        message_print_json(message);
        fflush(stdout);
        return;
    }
    line_of_run(view, event);
    if (!view->live) {
        fflush(stdout);
        return;
    }
    keep_rows(view, event);
    view_draw(view);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void show_failure(const struct orchestrator_client *client, const Renga__V1__Run *run)
{
    fflush(stdout);
    fprintf(stderr, "%s: the run %s %s", client->command, run->run_id, state_word(run->state));
    fprintf(stderr, "%s%s\n", run->stop_text[0] ? ": " : "", run->stop_text);
}

/* A pipe gets the questions on standard output; the next command is for a person and goes beside them. */
void view_next_command(const struct orchestrator_client *client, const Renga__V1__Run *run)
{
    size_t questions = 0;
    for (size_t i = 0; i < run->n_interrupts; i++)
        questions += run->interrupts[i]->kind == RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION;
    fflush(stdout);
    fprintf(client->terminal ? stdout : stderr, "%sthe run %s waits; go on with: renga resume %s%s%s\n",
            colour(client, DIM), run->run_id, run->run_id,
            questions == 0   ? ""
            : questions == 1 ? " --answer JSON"
                             : " --answers '{\"ID\": JSON}'",
            colour(client, PLAIN));
}

static void run_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__Run *run = ((const Renga__V1__GetRunResponse *)message)->run;
    int *code = data;
    bool waits = run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING;
    bool succeeded = run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED;
    *code = succeeded ? COMMAND_OK : waits ? COMMAND_WAITS : COMMAND_FAILED;
    if (client->json) {
        message_print_json(&run->base);
        return;
    }
    if (succeeded)
        show_json(client, run->output_json);
    else if (!waits)
        show_failure(client, run);
    waits = waits && !client->asks;
    for (size_t i = 0; waits && i < run->n_interrupts; i++)
        show_interrupt(client, run->interrupts[i]);
    if (waits)
        view_next_command(client, run);
}

static bool view_watch(struct view *view, const char *run_id, bool follow)
{
    Renga__V1__WatchRunRequest request = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run_id;
    request.follow = follow;
    request.heartbeat_ms = HEARTBEAT_MS;
    for (;;) {
        request.after_event_id = view->last_event_id;
        if (orchestrator_client_try(view->client, "WatchRun", &request.base, WATCH_MAX_MS, view_event_received, view))
            return true;
        erase(view);
        rows_clear(view);
        if (!reconnect_retry(&view->reconnect))
            return false;
    }
}

static int view_show_end(struct view *view, const char *run_id)
{
    int code = COMMAND_FAILED;
    struct orchestrator_client *client = view->client;
    int64_t timeout_ms = config_duration_ms(client->config, "timeout");
    Renga__V1__GetRunRequest request = RENGA__V1__GET_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run_id;
    while (!orchestrator_client_try(client, "GetRun", &request.base, timeout_ms, run_received, &code))
        if (!reconnect_retry(&view->reconnect))
            return COMMAND_FAILED;
    return code;
}

/* Prints the command to return, since the run goes on without us. */
static void tell_the_way_back(const struct view *view, const char *run_id)
{
    if (view->reconnect.known)
        fprintf(stderr, "%s: go on with: renga watch %s --after %lld\n", view->client->command, run_id,
                (long long)view->last_event_id);
}

int view_run(struct orchestrator_client *client, const char *run_id, int64_t after_event_id, bool follow, bool quiet,
             bool known)
{
    struct view *view = calloc(1, sizeof *view);
    int code = COMMAND_FAILED;
    if (!view)
        abort();
    view->client = client;
    view->reconnect = (struct reconnect){.client = client, .known = known};
    view->quiet = quiet;
    view->live = client->terminal && !quiet;
    view->last_event_id = after_event_id;
    if (view_watch(view, run_id, follow))
        code = view_show_end(view, run_id);
    else
        tell_the_way_back(view, run_id);
    rows_clear(view);
    free(view);
    return code;
}
