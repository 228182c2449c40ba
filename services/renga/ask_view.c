/* The work of the help desk as it happens. On a terminal it shows the plan with a line for each subtask, drawn anew
 * with each event and as time passes. With --verbose it prints lines on standard error. */
#include "ask.h"
#include "wrap.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_COLUMNS 36 /* room for the activity of a subtask, behind its name */
#define NAME_LEAST    12
#define TICK_MS       200

/* ---- the known state --------------------------------------------------------------------------------------------- */

static void ask_view_planned(struct ask_view *view, const Renga__V1__SubtaskPlan *plan)
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

static bool ask_view_has_ended(const struct ask_row *row)
{
    return row->stage >= RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_DONE;
}

static void advanced(struct ask_view *view, const Renga__V1__SubtaskProgress *progress)
{
    if (progress->subtask_number < 1 || (size_t)progress->subtask_number > view->count)
        return;
    struct ask_row *row = &view->rows[progress->subtask_number - 1];
    int64_t now_ns = clock_now_ns();
    row->began_ns = row->began_ns ? row->began_ns : now_ns;
    row->stage = progress->stage;
    row->ended_ns = ask_view_has_ended(row) ? now_ns : 0;
    row->try = progress->challenge_count;
    row->found = progress->found;
    if (progress->reflection)
        row->is_completed = progress->reflection->is_completed;
    size_t used = 0;
    row->tools[0] = '\0';
    for (size_t i = 0; i < progress->n_tool_names && used < sizeof row->tools; i++)
        used += (size_t)snprintf(row->tools + used, sizeof row->tools - used, "%s%s", i ? ", " : "",
                                 progress->tool_names[i]);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void ask_view_go_back(struct ask *ask)
{
    ask->width = live_back(&ask->view.live);
}

static const char *ask_view_sign(const struct ask_row *row, const char **sequence)
{
    bool failed = row->stage == RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_FAILED;
    *sequence = failed                            ? RED
                : row->found && row->is_completed ? GREEN
                : ask_view_has_ended(row)         ? YELLOW
                : row->stage                      ? BLUE
                                                  : DIM;
    return failed ? "✗" : !ask_view_has_ended(row) ? "●" : row->found ? "✓" : "–";
}

static void ask_view_describe(const struct ask *ask, const struct ask_row *row, char *out, size_t room)
{
    const struct ask_words *words = ask->words;
    size_t known = sizeof words->stages / sizeof words->stages[0];
    bool wanting = row->stage == RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_DONE && !row->found;
    int used = snprintf(out, room, "%s",
                        wanting                      ? words->incomplete
                        : (size_t)row->stage < known ? words->stages[row->stage]
                                                     : "");
    if (row->began_ns && used >= 0 && (size_t)used + 1 < room) {
        char time[32];
        live_time(time, sizeof time, words->seconds, (row->ended_ns ? row->ended_ns : clock_now_ns()) - row->began_ns);
        used += snprintf(out + used, room - (size_t)used, " %s", time);
    }
    if (row->try > 1 && used >= 0 && (size_t)used < room)
        used += snprintf(out + used, room - (size_t)used, " · %s%d%s", words->try[0], row->try, words->try[1]);
    if (row->tools[0] && used >= 0 && (size_t)used < room)
        snprintf(out + used, room - (size_t)used, " · %s", row->tools);
}

static void ask_view_draw_row(struct ask *ask, size_t number, const struct ask_row *row)
{
    const char *sequence, *mark = ask_view_sign(row, &sequence);
    char state[160], place[24];
    size_t columns = 2 + (size_t)snprintf(place, sizeof place, "%zu ", number);
    size_t width = ask->width > 2 * columns ? ask->width - 1 : 2 * columns; /* the last column would break the line */
    size_t name_most = width > STATE_COLUMNS + NAME_LEAST + columns ? width - STATE_COLUMNS - columns : NAME_LEAST;
    ask_view_describe(ask, row, state, sizeof state);
    printf("%s%s%s %s", colour(&ask->client, sequence), mark, colour(&ask->client, PLAIN), place);
    columns += live_print(row->name, name_most < width - columns ? name_most : width - columns);
    if (columns + 4 < width) {
        printf("  %s", colour(&ask->client, DIM));
        columns += 2 + live_print(state, width - columns - 2);
        fputs(colour(&ask->client, PLAIN), stdout);
    }
    live_end_line(&ask->view.live, columns);
}

/* The work besides the subtasks: "Planning… 1.2 s", or the end of the text being written. */
static void draw_now(struct ask *ask, const char *now)
{
    struct ask_view *view = &ask->view;
    char time[32];
    const char *tail = view->tail;
    live_time(time, sizeof time, ask->words->seconds, clock_now_ns() - view->began_ns);
    tail = tail[0] ? tail : time;
    size_t taken = wrap_columns(now) + 4, columns = wrap_columns(tail);
    for (; taken + columns > ask->width && *tail; columns = wrap_columns(tail))
        tail += wrap_fit(tail, 2) ? wrap_fit(tail, 2) : 1;
    printf("%s%s… ", colour(&ask->client, DIM), now);
    show_text(tail);
    fputs(colour(&ask->client, PLAIN), stdout);
    live_end_line(&view->live, taken + columns);
}

/* From then on the answer is written; its text is shown when it was checked. */
static bool view_is_worked_on(const struct ask_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        if (!ask_view_has_ended(&view->rows[i]))
            return false;
    return view->count;
}

static void ask_view_draw(struct ask *ask)
{
    struct ask_view *view = &ask->view;
    ask_view_go_back(ask);
    for (size_t i = 0; i < view->count; i++)
        ask_view_draw_row(ask, i + 1, &view->rows[i]);
    const char *now = !view->count ? ask->words->planning : view_is_worked_on(view) ? ask->words->answering : NULL;
    if (now)
        draw_now(ask, now);
    fputs("\033[J", stdout);
    fflush(stdout);
}

static void ticked(struct timer *timer)
{
    struct ask *ask = CONTAINER_OF(timer, struct ask, view.tick);
    ask_view_draw(ask);
    loop_arm_after(ask->call.call.loop, timer, TICK_MS);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void ask_view_print_line(const struct ask *ask, const Renga__V1__AskEvent *event)
{
    char state[160];
    if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_PLANNED)
        for (size_t i = 0; i < ask->view.count; i++)
            fprintf(stderr, "%zu: %s\n", i + 1, ask->view.rows[i].name);
    if (event->event_case != RENGA__V1__ASK_EVENT__EVENT_SUBTASK || event->subtask->subtask_number < 1 ||
        (size_t)event->subtask->subtask_number > ask->view.count)
        return;
    ask_view_describe(ask, &ask->view.rows[event->subtask->subtask_number - 1], state, sizeof state);
    fprintf(stderr, "%d: %s\n", event->subtask->subtask_number, state);
}

void ask_view_event(struct ask *ask, const Renga__V1__AskEvent *event)
{
    if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_PLANNED)
        ask_view_planned(&ask->view, event->planned);
    else if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_SUBTASK)
        advanced(&ask->view, event->subtask);
    else if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_ANSWER_TEXT)
        live_keep_tail(ask->view.tail, event->answer_text);
    if (ask->verbose && !ask->live)
        ask_view_print_line(ask, event);
    if (ask->live)
        ask_view_draw(ask);
}

void ask_view_begin(struct ask *ask)
{
    ask->view.began_ns = clock_now_ns();
    ask->view.tick.expired = ticked;
    if (ask->live)
        loop_arm_after(ask->call.call.loop, &ask->view.tick, TICK_MS);
}

void ask_view_stop(struct ask *ask)
{
    if (ask->live)
        loop_disarm(ask->call.call.loop, &ask->view.tick);
}

void ask_view_end(struct ask *ask)
{
    ask_view_stop(ask);
    if (!ask->live)
        return;
    ask->view.tail[0] = '\0';
    if (!ask->view.count) {
        ask_view_go_back(ask);
        fputs("\033[J", stdout);
        return;
    }
    ask_view_draw(ask);
    ask->view.live.count = 0;
    putchar('\n');
}

void ask_view_leave(struct ask *ask)
{
    ask->view.live.count = 0;
}

void ask_view_free(struct ask *ask)
{
    while (ask->view.count)
        free(ask->view.rows[--ask->view.count].name);
}
