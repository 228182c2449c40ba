/* An autonomous research as it happens: a line for each choice, search and review, and below them a moving line.
 * On a terminal with colours; with --verbose in a pipe the same lines stand on standard error. */
#include "autonomous.h"

#include "wrap.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TICK_MS       200
#define VIEW_LINE_MAX ((size_t)65536) /* bytes */
#define LINE_COLUMNS  100

/* ---- the line that moves ----------------------------------------------------------------------------------------- */

static void autonomous_view_draw(struct autonomous *autonomous)
{
    struct autonomous_view *view = &autonomous->view;
    struct research *research = autonomous->research;
    char time[32], line[LIVE_TAIL + 128];
    research->width = live_back(&view->live);
    live_time(time, sizeof time, research->words->seconds, clock_now_ns() - view->began_ns);
    const char *tail = view->writing ? view->tail : "";
    size_t used = wrap_columns(view->now) + 6, room = research->width > used ? research->width - used : 0;
    while (*tail && wrap_columns(tail) > room)
        tail += wrap_fit(tail, 2) ? wrap_fit(tail, 2) : 1;
    snprintf(line, sizeof line, "%s… %s", view->now, *tail ? tail : time);
    fputs(colour(&research->client, DIM), stdout);
    size_t columns = live_print(line, research->width > 1 ? research->width - 1 : 1);
    fputs(colour(&research->client, PLAIN), stdout);
    live_end_line(&view->live, columns);
    fputs("\033[J", stdout);
    fflush(stdout);
}

static void autonomous_view_ticked(struct timer *timer)
{
    struct autonomous *autonomous = CONTAINER_OF(timer, struct autonomous, view.tick);
    autonomous_view_draw(autonomous);
    loop_arm_after(autonomous->call.call.loop, timer, TICK_MS);
}

/* ---- lines that stay --------------------------------------------------------------------------------------------- */

/* Without a terminal and without --verbose, the lines are not printed. */
static FILE *autonomous_view_out(const struct autonomous *autonomous)
{
    return autonomous->research->live ? stdout : autonomous->research->verbose ? stderr : NULL;
}

/* `head` in a colour, then the text without control sequences. */
static void autonomous_view_line(FILE *out, const struct autonomous *autonomous, const char *sequence, const char *head,
                                 const char *format, ...) __attribute__((format(printf, 5, 6)));

static void autonomous_view_line(FILE *out, const struct autonomous *autonomous, const char *sequence, const char *head,
                                 const char *format, ...)
{
    const struct orchestrator_client *client = &autonomous->research->client;
    struct buffer plain, shown;
    va_list arguments;
    size_t indent = wrap_columns(head), width = out == stdout ? autonomous->research->width : 0;
    buffer_init(&plain, VIEW_LINE_MAX);
    buffer_init(&shown, VIEW_LINE_MAX);
    va_start(arguments, format);
    buffer_vprintf(&plain, format, arguments);
    va_end(arguments);
    wrap_put(&shown, buffer_text(&plain), plain.length, true);
    fprintf(out, "%s%s%s", out == stdout ? colour(client, sequence) : "", head,
            out == stdout ? colour(client, PLAIN) : "");
    wrap_text_on(out, buffer_text(&shown), indent, width > LINE_COLUMNS ? LINE_COLUMNS : width, false);
    buffer_fini(&shown);
    buffer_fini(&plain);
}

void autonomous_show_plan(FILE *out, const struct autonomous *autonomous, const struct autonomous_plan *plan)
{
    const struct autonomous_words *words = autonomous->words;
    const char *colon = autonomous->research->words->colon;
    char head[32];
    autonomous_view_line(out, autonomous, BOLD, words->plan, "%s", "");
    if (plan->point_count)
        autonomous_view_line(out, autonomous, DIM, "  ", "%s%s", words->points, colon);
    for (size_t i = 0; i < plan->point_count; i++)
        autonomous_view_line(out, autonomous, DIM, "    • ", "%s", plan->points[i]);
    autonomous_view_line(out, autonomous, DIM, "  ", "%s%s", words->queries, colon);
    for (size_t i = 0; i < plan->query_count; i++) {
        snprintf(head, sizeof head, "   %2zu. ", i + 1);
        autonomous_view_line(out, autonomous, BLUE, head, "%s", plan->queries[i]);
    }
}

static void autonomous_view_planned(FILE *out, struct autonomous *autonomous, const Renga__V1__ResearchPlan *planned)
{
    struct autonomous_plan plan = {0};
    autonomous_plan_copy(&plan, planned);
    autonomous_show_plan(out, autonomous, &plan);
    autonomous_plan_fini(&plan);
}

static void autonomous_view_decided(FILE *out, struct autonomous *autonomous,
                                    const Renga__V1__ResearchDecision *decided)
{
    const struct autonomous_words *words = autonomous->words;
    size_t action = (size_t)decided->next_action < 5 ? (size_t)decided->next_action : 0;
    char head[96], figures[96] = "";
    if (decided->progress && decided->progress->data_count)
        snprintf(figures, sizeof figures, " (%d%s, %s%.0f %%)", decided->progress->data_count,
                 autonomous->research->words->figures[decided->progress->data_count == 1][2], words->coverage,
                 decided->progress->coverage * 100);
    snprintf(head, sizeof head, "%s%d → %s ", words->step, decided->iteration, words->actions[action]);
    autonomous_view_line(out, autonomous, BOLD, head, "%s%s", decided->reasoning, figures);
}

static void autonomous_view_searched(FILE *out, struct autonomous *autonomous,
                                     const Renga__V1__ResearchSearch *searched)
{
    const struct research_words *words = autonomous->research->words;
    bool failed = searched->status_code != 0;
    const char *head = failed ? "  ✗ " : searched->result_count ? "  ✓ " : "  – ";
    const char *sequence = failed ? RED : searched->result_count ? GREEN : YELLOW;
    if (failed)
        autonomous_view_line(out, autonomous, sequence, head, "%s%s%s %s", searched->query, words->colon,
                             status_code_name((enum status_code)searched->status_code), searched->message);
    else if (searched->result_count)
        autonomous_view_line(out, autonomous, sequence, head, "%s%s%d%s%s%d%s", searched->query, words->colon,
                             searched->result_count, words->results[searched->result_count == 1], words->list,
                             searched->new_count, autonomous->words->fresh);
    else
        autonomous_view_line(out, autonomous, sequence, head, "%s%s%s", searched->query, words->colon, words->nothing);
}

/* Three places: a sum just below the limit is not shown as the limit. */
static void autonomous_view_reviewed(FILE *out, struct autonomous *autonomous, const Renga__V1__DraftReview *review)
{
    const struct autonomous_words *words = autonomous->words;
    const Renga__V1__DraftScores *scores = review->scores;
    const char *list = autonomous->research->words->list;
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%s%s%s%.3f", words->verdict[review->approved ? 1 : 0], list,
                                   words->scores[0], review->overall_score);
    if (scores && used < sizeof text)
        snprintf(text + used, sizeof text - used, "%s%s%.2f%s%s%.2f%s%s%.2f%s%s%.2f", list, words->scores[1],
                 scores->fact_check, list, words->scores[2], scores->completeness, list, words->scores[3],
                 scores->logic, list, words->scores[4], scores->format);
    autonomous_view_line(out, autonomous, review->approved ? GREEN : YELLOW, review->approved ? "  ✓ " : "  – ", "%s",
                         text);
    if (!review->approved && review->n_issues)
        autonomous_view_line(out, autonomous, DIM, "    ", "%s", review->issues[0]->description);
}

void autonomous_show_end(FILE *out, const struct autonomous *autonomous)
{
    const struct autonomous_words *words = autonomous->words;
    const Renga__V1__AutonomousResearchResult *result = autonomous->result;
    const char *list = autonomous->research->words->list;
    size_t reason = (size_t)result->stop_reason < 10 ? (size_t)result->stop_reason : 0;
    char scores[128] = "";
    if (result->review && result->review->scores)
        snprintf(scores, sizeof scores, "%s%s%.3f%s%s%.2f", list, words->scores[0], result->review->overall_score, list,
                 words->scores[1], result->review->scores->fact_check);
    autonomous_view_line(out, autonomous, DIM, "", "%s%s%d%s%s", words->stopped[reason], list, result->iterations,
                         words->steps[result->iterations == 1], scores);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void autonomous_view_note(struct autonomous *autonomous, const Renga__V1__AutonomousResearchEvent *event)
{
    struct autonomous_view *view = &autonomous->view;
    const struct autonomous_words *words = autonomous->words;
    view->writing = event->event_case == RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_DRAFT_TEXT;
    if (event->event_case == RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_DECIDED) {
        bool writes = event->decided->next_action == RENGA__V1__NEXT_ACTION__NEXT_ACTION_WRITE;
        view->now = writes ? words->writing : words->searching;
        view->tail[0] = '\0';
    } else if (view->writing) {
        view->now = words->reviewing;
        live_keep_tail(view->tail, event->draft_text);
    } else if (event->event_case == RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_REVIEWED) {
        view->now = event->reviewed->suggested_action == RENGA__V1__NEXT_ACTION__NEXT_ACTION_WRITE ? words->writing
                                                                                                   : words->searching;
    }
}

void autonomous_view_event(struct autonomous *autonomous, const Renga__V1__AutonomousResearchEvent *event)
{
    FILE *out = autonomous_view_out(autonomous);
    autonomous_view_note(autonomous, event);
    if (!out)
        return;
    if (autonomous->research->live)
        live_erase(&autonomous->view.live);
    switch (event->event_case) {
    case RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_PLANNED:
        autonomous_view_planned(out, autonomous, event->planned);
        break;
    case RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_DECIDED:
        autonomous_view_decided(out, autonomous, event->decided);
        break;
    case RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_SEARCHED:
        autonomous_view_searched(out, autonomous, event->searched);
        break;
    case RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_REVIEWED:
        autonomous_view_reviewed(out, autonomous, event->reviewed);
        break;
    default:
        break;
    }
    fflush(out);
    if (autonomous->research->live)
        autonomous_view_draw(autonomous);
}

void autonomous_view_begin(struct autonomous *autonomous)
{
    struct autonomous_view *view = &autonomous->view;
    view->began_ns = view->began_ns ? view->began_ns : clock_now_ns();
    view->now = view->now ? view->now : autonomous->words->planning;
    view->tick.expired = autonomous_view_ticked;
    if (autonomous->research->live)
        loop_arm_after(autonomous->call.call.loop, &view->tick, TICK_MS);
}

void autonomous_view_end(struct autonomous *autonomous)
{
    if (!autonomous->research->live)
        return;
    loop_disarm(autonomous->call.call.loop, &autonomous->view.tick);
    live_erase(&autonomous->view.live);
    autonomous->view.live.count = 0;
    fflush(stdout);
}
