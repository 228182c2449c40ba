/* An HTML page by its main content: the tree says which parts of the page it is, the reader of HTML reads them. */
#include "documents/html_about.h"
#include "documents/main_content.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct parts {
    struct part *parts;
    size_t count;
};

/* Parts come in the order of the page; adjacent parts are merged. */
static void parts_add(struct parts *parts, size_t from, size_t to)
{
    assert(parts->parts);
    struct part *last = parts->count ? &parts->parts[parts->count - 1] : NULL;
    if (to <= from)
        return;
    if (last && from <= last->to)
        last->to = to > last->to ? to : last->to;
    else
        parts->parts[parts->count++] = (struct part){from, to};
}

/* All outside the root, and the dropped nodes in it. */
static bool parts_find(struct parts *parts, const struct html_tree *tree, uint32_t root)
{
    const struct html_node *of = &tree->nodes[root];
    *parts = (struct parts){.parts = malloc((of->end - root + 2) * sizeof(struct part))};
    if (!parts->parts)
        return false;
    parts_add(parts, 0, of->from);
    for (uint32_t i = root + 1; i < of->end; i++)
        if (tree->nodes[i].dropped)
            parts_add(parts, tree->nodes[i].from, tree->nodes[i].to);
    parts_add(parts, of->to, tree->page.length);
    return true;
}

static bool page_read_content(struct document *document, const struct html_tree *tree, uint32_t root, struct status *st)
{
    struct parts parts;
    bool read = parts_find(&parts, tree, root) && read_html_parts(document, tree->page, parts.parts, parts.count, st);
    if (!parts.parts)
        fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
    free(parts.parts);
    return read;
}

bool read_page(struct document *document, struct page_about *about, struct piece text, struct status *st)
{
    struct html_tree tree;
    if (!html_tree_build(&tree, text))
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
    html_about_read(about, &document->arena, &tree);
    struct piece title = {about->title, strlen(about->title)};
    document_set_title(document, title);
    uint32_t root = main_content_mark(&tree, title);
    bool read = page_read_content(document, &tree, root, st);
    if (read && !document->count)
        read = read_html(document, text, st);
    html_tree_fini(&tree);
    return read;
}
