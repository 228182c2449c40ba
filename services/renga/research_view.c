/* A research as it happens. On a terminal it shows a line for each query, drawn anew with each event and as time
 * passes; notes scroll away above them. With --verbose it prints lines on standard error. */
#include "research.h"

#include "wrap.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_COLUMNS 30 /* room for the state of a query, behind it */
#define QUERY_LEAST   12
#define TICK_MS       200
#define NOTE_MAX      ((size_t)1 << 20) /* bytes */
#define NOTE_COLUMNS  400               /* of a summary on a terminal */
#define TEXT_COLUMNS  100
#define NOTE_INDENT   2

/* ---- the known state --------------------------------------------------------------------------------------------- */

static struct research_row *research_row_of(struct research_view *view, const char *query, int cycle)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->rows[i].cycle == cycle && strcmp(view->rows[i].query, query) == 0)
            return &view->rows[i];
    if (view->count == RESEARCH_ROWS_MAX)
        return NULL;
    struct research_row *row = &view->rows[view->count++];
    *row = (struct research_row){.query = strdup(query), .cycle = cycle};
    if (!row->query)
        abort();
    for (char *c = row->query; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    return row;
}

static void research_planned(struct research_view *view, const Renga__V1__DeepResearchCycle *cycle)
{
    view->planned = true;
    for (size_t i = 0; cycle->plan && i < cycle->plan->n_queries; i++)
        research_row_of(view, cycle->plan->queries[i], cycle->cycle);
}

static void research_searched(struct research_view *view, const Renga__V1__DeepResearchSearch *search)
{
    struct research_row *row = research_row_of(view, search->query, search->cycle);
    if (!row)
        return;
    row->searched = true;
    row->results = search->result_count;
    row->status_code = search->status_code;
    snprintf(row->why, sizeof row->why, "%s", status_code_name((enum status_code)search->status_code));
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void research_describe(const struct research *research, const struct research_row *row, char *out, size_t room)
{
    const struct research_words *words = research->words;
    if (!row->searched)
        snprintf(out, room, "…");
    else if (row->status_code)
        snprintf(out, room, "%s", row->why);
    else if (row->results)
        snprintf(out, room, "%d%s", row->results, words->results[row->results == 1]);
    else
        snprintf(out, room, "%s", words->nothing);
}

static const char *research_sign(const struct research_row *row, const char **sequence)
{
    *sequence = !row->searched ? BLUE : row->status_code ? RED : row->results ? GREEN : YELLOW;
    return !row->searched ? "●" : row->status_code ? "✗" : row->results ? "✓" : "–";
}

static void research_draw_row(struct research *research, const struct research_row *row)
{
    const char *sequence, *mark = research_sign(row, &sequence);
    char state[160];
    size_t columns = 2,
           width = research->width > 8 ? research->width - 1 : 8; /* the last column would break the line */
    size_t most = width > STATE_COLUMNS + QUERY_LEAST ? width - STATE_COLUMNS : QUERY_LEAST;
    research_describe(research, row, state, sizeof state);
    printf("%s%s%s ", colour(&research->client, sequence), mark, colour(&research->client, PLAIN));
    columns += live_print(row->query, most < width - columns ? most : width - columns);
    if (columns + 4 < width) {
        printf("  %s", colour(&research->client, DIM));
        columns += 2 + live_print(state, width - columns - 2);
        fputs(colour(&research->client, PLAIN), stdout);
    }
    live_end_line(&research->view.live, columns);
}

static void research_draw_cycle(struct research *research, int cycle)
{
    char text[64];
    snprintf(text, sizeof text, "%s%d%s", research->words->cycle[0], cycle, research->words->cycle[1]);
    fputs(colour(&research->client, DIM), stdout);
    size_t columns = live_print(text, research->width - 1);
    fputs(colour(&research->client, PLAIN), stdout);
    live_end_line(&research->view.live, columns);
}

static void research_draw_rows(struct research *research)
{
    const struct research_view *view = &research->view;
    for (size_t i = 0; i < view->count; i++) {
        if (i == 0 || view->rows[i].cycle != view->rows[i - 1].cycle)
            research_draw_cycle(research, view->rows[i].cycle);
        research_draw_row(research, &view->rows[i]);
    }
}

/* "Searching and summarizing… 1.2 s", or the end of the text being written. */
static void research_draw_now(struct research *research)
{
    struct research_view *view = &research->view;
    const struct research_words *words = research->words;
    const char *now = *research->further.run_id ? words->answering
                      : view->writing           ? words->writing
                      : view->planned           ? words->searching
                                                : words->planning;
    char time[32], line[LIVE_TAIL + 64];
    live_time(time, sizeof time, words->seconds, clock_now_ns() - view->began_ns);
    const char *tail = view->tail;
    size_t room = research->width > wrap_columns(now) + 6 ? research->width - wrap_columns(now) - 6 : 0;
    while (*tail && wrap_columns(tail) > room)
        tail += wrap_fit(tail, 2) ? wrap_fit(tail, 2) : 1;
    snprintf(line, sizeof line, "%s… %s", now, *tail ? tail : time);
    fputs(colour(&research->client, DIM), stdout);
    size_t columns = live_print(line, research->width - 1);
    fputs(colour(&research->client, PLAIN), stdout);
    live_end_line(&view->live, columns);
}

static void research_draw(struct research *research)
{
    research->width = live_back(&research->view.live);
    research_draw_rows(research);
    research_draw_now(research);
    fputs("\033[J", stdout);
    fflush(stdout);
}

static void research_ticked(struct timer *timer)
{
    struct research *research = CONTAINER_OF(timer, struct research, view.tick);
    research_draw(research);
    loop_arm_after(research->call.call.loop, timer, TICK_MS);
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

static void research_put_sources(struct buffer *out, const Renga__V1__Note *note)
{
    for (size_t i = 0; i < note->n_sources; i++) {
        buffer_print(out, i ? ", " : "");
        wrap_put(out, note->sources[i]->uri, strlen(note->sources[i]->uri), true);
    }
}

/* Printed above the rows, and stays there. */
static void research_show_note(struct research *research, const Renga__V1__Note *note)
{
    struct buffer out;
    const struct research_words *words = research->words;
    live_erase(&research->view.live);
    printf("%s%s%d%s%s ", colour(&research->client, BOLD), words->note[0], note->step_no, words->note[1],
           colour(&research->client, PLAIN));
    size_t width = research->width > TEXT_COLUMNS ? TEXT_COLUMNS : research->width;
    buffer_init(&out, NOTE_MAX);
    wrap_put(&out, note->query, strlen(note->query), true);
    wrap_text(buffer_text(&out), NOTE_INDENT, width, false);
    buffer_clear(&out);
    wrap_put(&out, note->summary_md, strlen(note->summary_md), true);
    size_t shown = wrap_fit(buffer_text(&out), NOTE_COLUMNS);
    if (shown < out.length) {
        out.length = shown;
        buffer_print(&out, "…");
    }
    buffer_printf(&out, "\n%c", WRAP_DIM);
    research_put_sources(&out, note);
    buffer_put(&out, WRAP_PLAIN);
    printf("%*s", NOTE_INDENT, "");
    wrap_text(buffer_text(&out), NOTE_INDENT, width, research->client.colours);
    buffer_fini(&out);
    putchar('\n');
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void research_print_line(const struct research *research, const Renga__V1__DeepResearchEvent *event)
{
    const struct research_words *words = research->words;
    if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_PLANNED && event->planned->plan)
        for (size_t i = 0; i < event->planned->plan->n_queries; i++) {
            fprintf(stderr, "%s%d%s%s", words->cycle[0], event->planned->cycle, words->cycle[1], words->colon);
            show_text_on(stderr, event->planned->plan->queries[i]);
            fputc('\n', stderr);
        }
    if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_SEARCHED) {
        show_text_on(stderr, event->searched->query);
        fprintf(stderr, "%s%d%s%s%s\n", words->colon, event->searched->result_count,
                words->results[event->searched->result_count == 1], event->searched->status_code ? words->list : "",
                event->searched->status_code ? status_code_name((enum status_code)event->searched->status_code) : "");
    }
    if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_NOTED) {
        fprintf(stderr, "%s%d%s%s", words->note[0], event->noted->step_no, words->note[1], words->colon);
        show_text_on(stderr, event->noted->query);
        fputc('\n', stderr);
    }
}

void research_view_event(struct research *research, const Renga__V1__DeepResearchEvent *event)
{
    struct research_view *view = &research->view;
    if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_PLANNED)
        research_planned(view, event->planned);
    else if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_SEARCHED)
        research_searched(view, event->searched);
    else if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_REPORT_TEXT) {
        view->writing = true;
        live_keep_tail(view->tail, event->report_text);
    }
    if (research->verbose && !research->live)
        research_print_line(research, event);
    if (!research->live)
        return;
    if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_NOTED)
        research_show_note(research, event->noted);
    research_draw(research);
}

void research_view_begin(struct research *research)
{
    struct research_view *view = &research->view;
    view->began_ns = view->began_ns ? view->began_ns : clock_now_ns();
    view->tick.expired = research_ticked;
    if (research->live)
        loop_arm_after(research->call.call.loop, &view->tick, TICK_MS);
}

void research_view_end(struct research *research)
{
    if (!research->live)
        return;
    loop_disarm(research->call.call.loop, &research->view.tick);
    research->width = live_back(&research->view.live);
    research_draw_rows(research);
    fputs("\033[J", stdout);
    if (research->view.count)
        putchar('\n');
    research->view.live.count = 0;
    fflush(stdout);
}

void research_view_free(struct research *research)
{
    while (research->view.count)
        free(research->view.rows[--research->view.count].query);
}
