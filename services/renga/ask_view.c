/* The work of the help desk as it happens: on a terminal the plan with a line a subtask, drawn anew with each event;
 * with --verbose lines on standard error. */
#include "ask.h"
#include "wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_COLUMNS 30 /* room for what a subtask is doing, behind its name */
#define NAME_LEAST    12

/* ---- what is known ----------------------------------------------------------------------------------------------- */

static void planned(struct ask_view *view, const Renga__V1__SubtaskPlan *plan)
{
    while (view->count)
        free(view->rows[--view->count].name);
    for (size_t i = 0; i < plan->n_subtasks && i < ASK_SUBTASKS_MAX; i++) {
        struct ask_row *row = &view->rows[view->count++];
        *row = (struct ask_row){.name = strdup(plan->subtasks[i])};
        if (!row->name)
            abort();
        for (char *c = row->name; *c; c++)
            if (*c == '\n' || *c == '\t')
                *c = ' ';
    }
}

static void advanced(struct ask_view *view, const Renga__V1__SubtaskProgress *progress)
{
    if (progress->subtask_number < 1 || (size_t)progress->subtask_number > view->count)
        return;
    struct ask_row *row = &view->rows[progress->subtask_number - 1];
    row->stage = progress->stage;
    row->try = progress->challenge_count;
    if (progress->reflection)
        row->is_completed = progress->reflection->is_completed;
    size_t used = 0;
    row->tools[0] = '\0';
    for (size_t i = 0; i < progress->n_tool_names && used < sizeof row->tools; i++)
        used += (size_t)snprintf(row->tools + used, sizeof row->tools - used, "%s%s", i ? ", " : "",
                                 progress->tool_names[i]);
}

/* The last whole characters of what is being written. */
static void written(struct ask_view *view, const char *text)
{
    char joined[2 * sizeof view->tail];
    size_t length = strlen(text), room = sizeof view->tail - 1;
    snprintf(joined, sizeof joined, "%s%s", view->tail, text + (length > room ? length - room : 0));
    length = strlen(joined);
    size_t from = length > room ? length - room : 0;
    while (((unsigned char)joined[from] & 0xc0) == 0x80)
        from++;
    snprintf(view->tail, sizeof view->tail, "%s", joined + from);
    for (char *c = view->tail; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void erase(struct ask_view *view)
{
    if (view->drawn)
        printf("\033[%zuA\033[J", view->drawn);
    view->drawn = 0;
}

static bool has_ended(const struct ask_row *row)
{
    return row->stage >= RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_DONE;
}

static const char *sign(const struct ask_row *row, const char **sequence)
{
    bool failed = row->stage == RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_FAILED;
    *sequence = failed                                ? RED
                : has_ended(row) && row->is_completed ? GREEN
                : has_ended(row)                      ? YELLOW
                : row->stage                          ? BLUE
                                                      : DIM;
    return failed ? "✗" : !has_ended(row) ? "●" : row->is_completed ? "✓" : "–";
}

static void describe(const struct ask *ask, const struct ask_row *row, char *out, size_t room)
{
    const struct ask_words *words = ask->words;
    size_t known = sizeof words->stages / sizeof words->stages[0];
    bool wanting = row->stage == RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_DONE && !row->is_completed;
    int used = snprintf(out, room, "%s",
                        wanting                      ? words->incomplete
                        : (size_t)row->stage < known ? words->stages[row->stage]
                                                     : "");
    if (row->try > 1 && used >= 0 && (size_t)used < room)
        used += snprintf(out + used, room - (size_t)used, " · %s%d%s", words->try[0], row->try, words->try[1]);
    if (row->tools[0] && used >= 0 && (size_t)used < room)
        snprintf(out + used, room - (size_t)used, " · %s", row->tools);
}

static void print_cut(const char *text, size_t columns)
{
    size_t bytes = wrap_fit(text, columns);
    bool cut = text[bytes] != '\0';
    bytes = cut ? wrap_fit(text, columns - 1) : bytes;
    char *shown = strndup(text, bytes);
    if (!shown)
        abort();
    show_text(shown);
    fputs(cut ? "…" : "", stdout);
    free(shown);
}

static void draw_row(const struct ask *ask, size_t number, const struct ask_row *row)
{
    const char *sequence, *mark = sign(row, &sequence);
    size_t room = ask->width > STATE_COLUMNS + NAME_LEAST + 8 ? ask->width - STATE_COLUMNS - 8 : NAME_LEAST;
    size_t columns = wrap_columns(row->name);
    char state[160];
    describe(ask, row, state, sizeof state);
    printf("%s%s%s %zu ", colour(&ask->way, sequence), mark, colour(&ask->way, PLAIN), number);
    print_cut(row->name, room);
    printf("  %s", colour(&ask->way, DIM));
    print_cut(state, ask->width > room + 8 ? ask->width - (columns < room ? columns : room) - 8 : NAME_LEAST);
    printf("%s\n", colour(&ask->way, PLAIN));
}

static void draw(struct ask *ask)
{
    struct ask_view *view = &ask->view;
    for (size_t i = 0; i < view->count; i++)
        draw_row(ask, i + 1, &view->rows[i]);
    view->drawn = view->count;
    const char *now = !view->count ? ask->words->planning : view->tail[0] ? ask->words->answering : NULL;
    if (now) {
        printf("%s%s… ", colour(&ask->way, DIM), now);
        size_t taken = wrap_columns(now) + 4, columns = wrap_columns(view->tail);
        const char *tail = view->tail;
        for (; taken + columns > ask->width && *tail; columns = wrap_columns(tail))
            tail += wrap_fit(tail, 2) ? wrap_fit(tail, 2) : 1;
        show_text(tail);
        printf("%s\n", colour(&ask->way, PLAIN));
        view->drawn++;
    }
    fflush(stdout);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void print_line(const struct ask *ask, const Renga__V1__AskEvent *event)
{
    char state[160];
    if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_PLANNED)
        for (size_t i = 0; i < ask->view.count; i++)
            fprintf(stderr, "%zu: %s\n", i + 1, ask->view.rows[i].name);
    if (event->event_case != RENGA__V1__ASK_EVENT__EVENT_SUBTASK || event->subtask->subtask_number < 1 ||
        (size_t)event->subtask->subtask_number > ask->view.count)
        return;
    describe(ask, &ask->view.rows[event->subtask->subtask_number - 1], state, sizeof state);
    fprintf(stderr, "%d: %s\n", event->subtask->subtask_number, state);
}

void ask_view_event(struct ask *ask, const Renga__V1__AskEvent *event)
{
    if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_PLANNED)
        planned(&ask->view, event->planned);
    else if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_SUBTASK)
        advanced(&ask->view, event->subtask);
    else if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_ANSWER_TEXT)
        written(&ask->view, event->answer_text);
    if (ask->verbose && !ask->live)
        print_line(ask, event);
    if (!ask->live)
        return;
    erase(&ask->view);
    draw(ask);
}

void ask_view_end(struct ask *ask)
{
    if (!ask->live)
        return;
    erase(&ask->view);
    ask->view.tail[0] = '\0';
    if (!ask->view.count)
        return;
    draw(ask);
    ask->view.drawn = 0;
    putchar('\n');
}

void ask_view_free(struct ask *ask)
{
    while (ask->view.count)
        free(ask->view.rows[--ask->view.count].name);
}
