/* `renga ace playbook list` and `history`: methods that answer in pages, as a table. */
#include "ace.h"

#include "table.h"

#include <inttypes.h>
#include <stdio.h>

/* The pages of a method as a table, or as a line of JSON for each row. `show` adds the rows of a page, and returns the
 * token of the next page. */
struct ace_pages {
    const char *method;
    const ProtobufCMessage *request;
    char **token; /* in the request */
    const struct table_column *columns;
    size_t column_count;
    const char *(*show)(const struct ace *ace, const ProtobufCMessage *page, struct table *table);
};

static int ace_show_pages(struct ace *ace, const struct ace_pages *pages)
{
    const char *next = "";
    struct table table;
    int code = COMMAND_OK;
    table_init(&table, pages->columns, pages->column_count);
    do {
        const ProtobufCMessage *page = ace_ask(ace, ace->tool_runner, pages->method, pages->request);
        code = page ? COMMAND_OK : ace_exit(ace);
        next = page ? pages->show(ace, page, &table) : "";
        *pages->token = command_text(next);
    } while (*next);
    if (code == COMMAND_OK && !ace->client.json)
        table_print(&table, stdout, false);
    table_fini(&table);
    return code;
}

/* The cells of a new row; NULL: the row is JSON, which is printed here. */
static const char **ace_page_row(const struct ace *ace, const ProtobufCMessage *row, struct table *table)
{
    if (!ace->client.json)
        return table_row(table);
    message_print_json(row);
    return NULL;
}

static const char *ace_show_summaries(const struct ace *ace, const ProtobufCMessage *message, struct table *table)
{
    const Renga__V1__ListPlaybooksResponse *page = (const Renga__V1__ListPlaybooksResponse *)message;
    for (size_t i = 0; i < page->n_playbooks; i++) {
        const Renga__V1__PlaybookSummary *row = page->playbooks[i];
        const char **cells = ace_page_row(ace, &row->base, table);
        char time[32];
        if (!cells)
            continue;
        cells[0] = table_text(table, row->dataset);
        cells[1] = table_print_cell(table, "%d", row->bullets);
        cells[2] = table_print_cell(table, "%" PRId64, row->tokens);
        cells[3] = table_print_cell(table, "%" PRId64, row->revision);
        cells[4] = table_print_cell(table, "%d", row->proposals);
        cells[5] = table_text(table, time_text(row->updated_ms, time));
    }
    return page->next_page_token;
}

int ace_playbook_list(struct ace *ace)
{
    static const struct table_column columns[] = {{"dataset", false}, {"bullets", true},  {"tokens", true},
                                                  {"revision", true}, {"proposed", true}, {"changed", false}};
    Renga__V1__ListPlaybooksRequest request = RENGA__V1__LIST_PLAYBOOKS_REQUEST__INIT;
    const struct ace_pages pages = {.method = "ListPlaybooks",
                                    .request = &request.base,
                                    .token = &request.page_token,
                                    .columns = columns,
                                    .column_count = sizeof columns / sizeof *columns,
                                    .show = ace_show_summaries};
    return ace_show_pages(ace, &pages);
}

static const char *ace_show_changes(const struct ace *ace, const ProtobufCMessage *message, struct table *table)
{
    const Renga__V1__ListPlaybookChangesResponse *page = (const Renga__V1__ListPlaybookChangesResponse *)message;
    for (size_t i = 0; i < page->n_changes; i++) {
        const Renga__V1__PlaybookChange *row = page->changes[i];
        const char **cells = ace_page_row(ace, &row->base, table);
        char time[32];
        if (!cells)
            continue;
        cells[0] = table_print_cell(table, "%" PRId64, row->revision);
        cells[1] = table_text(table, time_text(row->time_ms, time));
        cells[2] = table_print_cell(table, "%d", row->added);
        cells[3] = table_print_cell(table, "%d", row->changed);
        cells[4] = table_print_cell(table, "%d", row->removed);
        cells[5] = table_text(table, row->client);
        cells[6] = row->restored_revision && !*row->reason
                       ? table_print_cell(table, "back to revision %" PRId64, row->restored_revision)
                       : table_text(table, row->reason);
    }
    return page->next_page_token;
}

int ace_playbook_history(struct ace *ace)
{
    static const struct table_column columns[] = {{"revision", true}, {"when", false},   {"added", true},
                                                  {"changed", true},  {"removed", true}, {"client", false},
                                                  {"reason", false}};
    Renga__V1__ListPlaybookChangesRequest request = RENGA__V1__LIST_PLAYBOOK_CHANGES_REQUEST__INIT;
    const struct ace_pages pages = {.method = "ListPlaybookChanges",
                                    .request = &request.base,
                                    .token = &request.page_token,
                                    .columns = columns,
                                    .column_count = sizeof columns / sizeof *columns,
                                    .show = ace_show_changes};
    request.dataset = command_text(ace->dataset);
    request.with_bullets = ace->client.json;
    return ace_show_pages(ace, &pages);
}
