/* Elements that are no content at any place in the page. */
#include "documents/html_hints.h"
#include "documents/main_content.h"

#define META_TEXT_MAX 300 /* characters of an element that its class calls a byline or a list of tags */
#define CORE_TEXT_MIN 300 /* characters of an element around the first heading that is more than a header */
#define CARD_TEXT_MAX 400 /* characters of a teaser beside its heading */
#define CARD_LEVELS   3   /* elements around the linked heading of a teaser */

static const uint32_t furniture =
    HINT_RELATED | HINT_SHARE | HINT_NAVIGATE | HINT_ADVERT | HINT_CONSENT | HINT_SIGNUP | HINT_FOOTER | HINT_CAPTION;

static uint32_t drop_plain_text(const struct html_node *node)
{
    return node->all_text - node->all_link_text;
}

static bool drop_is_never_shown(const struct html_node *node)
{
    return node->tag == TAG_SCRIPT || node->tag == TAG_HEAD || node->tag == TAG_TITLE || node->tag == TAG_IFRAME ||
           node->tag == TAG_TEXTAREA || node->tag == TAG_BUTTON;
}

static bool drop_is_beside(const struct html_node *node)
{
    return node->tag == TAG_NAV || node->tag == TAG_FOOTER || node->tag == TAG_FORM || node->tag == TAG_DIALOG ||
           node->tag == TAG_LABEL || node->tag == TAG_FIELDSET || node->tag == TAG_FIGCAPTION ||
           (node->tag == TAG_ASIDE && !(node->hints & HINT_NOTE));
}

/* An element that holds much of the page's text is no furniture, even if its class says so. */
static bool drop_applies(const struct html_node *node, uint32_t page, unsigned flags)
{
    if (drop_is_never_shown(node))
        return true;
    /* A script may show a page later that is hidden as a whole. */
    if (node->hints & HINT_HIDDEN)
        return drop_plain_text(node) * 2 < page;
    if (node->tag == TAG_BODY || node->tag == TAG_HTML)
        return false;
    if (drop_is_beside(node))
        return drop_plain_text(node) * 2 < page;
    /* Classes like "with-sidebar" stand at elements around the article, too. */
    if (node->holds_core && drop_plain_text(node) >= CORE_TEXT_MIN)
        return false;
    if ((flags & DROP_COMMENTS) && node->tag != TAG_A && (node->hints & HINT_COMMENT) && !(node->hints & HINT_BODY))
        return true;
    if (!(flags & DROP_FURNITURE) || (node->hints & (HINT_BODY | HINT_MAIN)))
        return false;
    if (node->tag == TAG_A) /* a link in a sentence may have any class */
        return node->hints & (HINT_NAVIGATE | HINT_SHARE);
    if (node->hints & (HINT_CONSENT | HINT_ADVERT | HINT_SHARE))
        return drop_plain_text(node) * 10 < page * 7;
    if (node->hints & furniture)
        return drop_plain_text(node) * 10 < page * 3;
    return (node->hints & HINT_META) && node->tag != TAG_ARTICLE && node->tag != TAG_MAIN &&
           drop_plain_text(node) < META_TEXT_MAX && drop_plain_text(node) * 10 < page * 3;
}

/* From a linked heading up to the element that is the teaser. */
static void drop_card(struct html_tree *tree, uint32_t heading)
{
    uint32_t card = 0, at = heading;
    for (unsigned level = 0; level < CARD_LEVELS; level++) {
        at = tree->nodes[at].parent;
        const struct html_node *above = &tree->nodes[at];
        if (!at || above->tag == TAG_BODY || (above->hints & HINT_BODY) ||
            above->all_text - tree->nodes[heading].all_text > CARD_TEXT_MAX)
            break;
        card = at;
    }
    if (card)
        tree->nodes[card].dropped = true;
}

static bool drop_is_linked_heading(const struct html_node *node)
{
    return html_node_is_heading(node) && node->tag != TAG_H1 && node->all_text > 10 &&
           node->all_link_text * 10 >= node->all_text * 8;
}

void main_content_drop(struct html_tree *tree, unsigned flags)
{
    uint32_t page = drop_plain_text(&tree->nodes[0]);
    for (uint32_t i = 1; i < tree->count; i++)
        tree->nodes[i].dropped |=
            tree->nodes[tree->nodes[i].parent].dropped || drop_applies(&tree->nodes[i], page, flags);
    for (uint32_t i = 1; (flags & DROP_CARDS) && i < tree->count; i++)
        if (!tree->nodes[i].dropped && !tree->nodes[i].in_body && drop_is_linked_heading(&tree->nodes[i]))
            drop_card(tree, i);
    for (uint32_t i = 1; i < tree->count; i++)
        tree->nodes[i].dropped |= tree->nodes[tree->nodes[i].parent].dropped;
}
