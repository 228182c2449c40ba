/* Which hosts the tool fetch_page may go to, as the operator has it in tool_runner.pages and
 * tool_runner.private_pages. Read once; any loop. */
#ifndef RENGA_TOOL_RUNNER_PAGE_HOSTS_H
#define RENGA_TOOL_RUNNER_PAGE_HOSTS_H

#include "config/config.h"

#include <stdbool.h>

struct http_url;
struct page_hosts;

enum page_reach {
    PAGE_REFUSED,
    PAGE_PUBLIC,  /* if its address belongs to the public internet */
    PAGE_ANYWHERE /* the operator names this very host */
};

/* NULL with INVALID_ARGUMENT if an entry cannot be read. */
struct page_hosts *page_hosts_create(const struct config *config, struct status *st);
void page_hosts_destroy(struct page_hosts **hosts);

bool page_hosts_is_empty(const struct page_hosts *hosts);
enum page_reach page_hosts_reach(const struct page_hosts *hosts, const struct http_url *url);

#endif
