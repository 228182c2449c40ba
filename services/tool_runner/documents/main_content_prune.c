/* The last cleaning of the content: each block is looked at alone and with its neighbours. */
#include "documents/main_content.h"

#include <string.h>
#include <strings.h>

#define LINE_MAX_BYTES 240 /* of a short block that is compared with known words */
#define SHORT_TEXT     60  /* characters of a block that may be a byline or a label */
#define DATE_TEXT      50  /* characters of a line that is hardly more than a date */
#define LINKS_TEXT     200 /* characters of a paragraph that is only a link */

static bool prune_is_line(const struct html_node *node)
{
    return node->is_block && node->is_leaf && !html_node_is_heading(node) && node->tag != TAG_TD &&
           node->tag != TAG_CAPTION && node->tag != TAG_DT && node->tag != TAG_DD && node->tag != TAG_LI &&
           node->tag != TAG_PRE;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static bool prune_begins(const char *line, size_t length, const char *word)
{
    size_t size = strlen(word);
    return length >= size && strncasecmp(line, word, size) == 0;
}

/* Short lines that no author writes. */
static bool prune_is_label(const char *line, size_t length)
{
    static const char *const whole[] = {
        "advertisement", "- advertisement -",  "sponsored", "loading...",       "read more", "share",      "listen",
        "print",         "share this article", "広告",      "スポンサーリンク", "シェア",    "シェアする",
    };
    static const char *const first[] = {
        "advertisement -",     "read also",    "also read",   "related:",         "read more:",
        "see also:",           "tags:",        "filed under", "topics:",          "categories:",
        "last modified",       "last updated", "最終更新",    "copyright ©",      "©",
        "all rights reserved", "follow us on", "skip past",   "after newsletter", "lire aussi",
        "más información",     "関連記事",     "【関連",      "あわせて読みたい",
    };
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (length == strlen(whole[i]) && prune_begins(line, length, whole[i]))
            return true;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        if (prune_begins(line, length, first[i]))
            return true;
    return false;
}

/* A heading that says nearly the same as the title: either text begins with the other, or the title contains most of
 * the heading's words. */
static bool prune_is_same_text(const char *text, size_t length, struct piece title)
{
    size_t words = 0, known = 0, shorter = length < title.length ? length : title.length;
    if (shorter > 8 && strncasecmp(text, title.at, shorter) == 0 && shorter * 3 > length)
        return true;
    for (size_t at = 0; at < length;) {
        size_t from = at;
        while (at < length && text[at] != ' ')
            at++;
        words++;
        known += at > from && memmem(title.at, title.length, text + from, at - from);
        at++;
    }
    return length > 3 && (words > 3 ? known * 4 >= words * 3 : known == words);
}

static void prune_lines(struct html_tree *tree, uint32_t root, struct piece title)
{
    uint32_t looked_at = root; /* headings within a heading are not looked at again */
    for (uint32_t i = root; i < tree->nodes[root].end; i++) {
        struct html_node *node = &tree->nodes[i];
        bool top = (node->tag == TAG_H1 || node->tag == TAG_H2) && i >= looked_at;
        looked_at = top ? node->end : looked_at;
        if (node->dropped || !(top || (prune_is_line(node) && node->to - node->from < 8 * LINE_MAX_BYTES)))
            continue;
        char line[LINE_MAX_BYTES];
        size_t length = html_node_text(tree, i, line, sizeof line);
        node->dropped =
            top ? prune_is_same_text(line, length, title) : length + 1 < sizeof line && prune_is_label(line, length);
    }
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

static bool prune_is_list_of_links(const struct html_node *node)
{
    uint32_t text = node->all_text, links = node->all_link_text;
    switch (node->tag) {
    case TAG_UL:
    case TAG_OL:
    case TAG_DL:
    case TAG_DIV:
    case TAG_CENTER:
    case TAG_HEADER:
    case TAG_SECTION:
        return links * 10 > text * 7;
    case TAG_TABLE:
        return text > LINKS_TEXT && links * 10 > text * 8;
    case TAG_P:
        return text < LINKS_TEXT && links * 10 > text * 7;
    default:
        return node->tag == TAG_OTHER && node->is_block && links * 10 > text * 8;
    }
}

/* ---- before and behind ------------------------------------------------------------------------------------------- */

/* Headings of sections behind an article. */
static bool prune_ends_article(const char *line, size_t length)
{
    static const char *const first[] = {
        "about the author",
        "about author",
        "related",
        "recommended",
        "you may also",
        "you might also",
        "more from",
        "more on this",
        "more in ",
        "more stories",
        "read more",
        "read next",
        "share this",
        "share on",
        "comments",
        "leave a comment",
        "leave a reply",
        "join the conversation",
        "newsletter",
        "subscribe",
        "sign up",
        "latest",
        "most read",
        "most popular",
        "popular ",
        "trending",
        "top stories",
        "see also",
        "further reading",
        "references",
        "external links",
        "footnotes",
        "関連記事",
        "関連リンク",
        "おすすめ",
        "あわせて読",
        "この記事へのコメント",
        "ランキング",
    };
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        if (prune_begins(line, length, first[i]))
            return true;
    return false;
}

static bool prune_has_year(const struct html_tree *tree, uint32_t node)
{
    char line[LINE_MAX_BYTES];
    size_t length = html_node_text(tree, node, line, sizeof line);
    for (size_t i = 0; i + 4 <= length; i++)
        if ((line[i] == '1' && line[i + 1] == '9') || (line[i] == '2' && line[i + 1] == '0'))
            if (line[i + 2] >= '0' && line[i + 2] <= '9' && line[i + 3] >= '0' && line[i + 3] <= '9')
                return true;
    return false;
}

/* Short lines without a sentence before the first paragraph are a byline or a date; behind the last paragraph they are
 * tags and the like. */
static bool prune_is_scrap(const struct html_tree *tree, uint32_t place)
{
    const struct html_node *node = &tree->nodes[place];
    if (!node->is_leaf || node->text >= SHORT_TEXT || !(prune_is_line(node) || html_node_is_heading(node)))
        return false;
    if (html_node_is_heading(node) || node->marks == 1)
        return node->text < DATE_TEXT && prune_has_year(tree, place);
    return !node->marks;
}

/* "By Ada Lund, Daily Post": before the first paragraph. */
static bool prune_is_byline(const struct html_tree *tree, uint32_t place)
{
    static const char *const first[] = {"by ",     "written by",   "posted", "published",
                                        "updated", "last updated", "photo",  "image"};
    const struct html_node *node = &tree->nodes[place];
    char line[LINE_MAX_BYTES];
    if (!prune_is_line(node) || node->text > 2 * SHORT_TEXT)
        return false;
    size_t length = html_node_text(tree, place, line, sizeof line);
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        if (prune_begins(line, length, first[i]))
            return true;
    return false;
}

static void prune_edges(struct html_tree *tree, uint32_t root)
{
    uint32_t first = root, last = root, end = tree->nodes[root].end;
    for (uint32_t i = root; i < end; i++)
        if (!tree->nodes[i].dropped && tree->nodes[i].mass) {
            first = first == root ? i : first;
            last = i;
        }
    if (!tree->nodes[last].mass)
        return;
    for (uint32_t i = root + 1; i < first; i++)
        tree->nodes[i].dropped |= prune_is_scrap(tree, i) || prune_is_byline(tree, i);
    for (uint32_t i = tree->nodes[last].end; i < end; i++)
        tree->nodes[i].dropped |= prune_is_scrap(tree, i);
}

/* In the last 40 % of the content, a heading of these kinds ends it: drops the heading and its following siblings. If
 * the heading is first in an element, drops that element and its following siblings. */
static void prune_endings(struct html_tree *tree, uint32_t root)
{
    uint64_t whole = 0, before = 0;
    for (uint32_t i = root; i < tree->nodes[root].end; i++)
        whole += tree->nodes[i].dropped ? 0 : tree->nodes[i].mass;
    for (uint32_t i = root; i < tree->nodes[root].end; i++) {
        struct html_node *node = &tree->nodes[i];
        char line[LINE_MAX_BYTES];
        before += node->dropped ? 0 : node->mass;
        if (node->dropped || !html_node_is_heading(node) || !node->is_leaf || before * 10 < whole * 6)
            continue;
        if (!prune_ends_article(line, html_node_text(tree, i, line, sizeof line)))
            continue;
        bool is_first = node->parent != root && i == node->parent + 1;
        uint32_t parent = is_first ? tree->nodes[node->parent].parent : node->parent;
        for (uint32_t next = is_first ? node->parent : i; next < tree->nodes[parent].end; next = tree->nodes[next].end)
            tree->nodes[next].dropped = true;
        return;
    }
}

/* A heading goes with its section: if all up to the next heading of its level was dropped. */
static void prune_empty_headings(struct html_tree *tree, uint32_t root)
{
    unsigned level_below = TAG_H1; /* the level of the next heading that is kept */
    bool has_text = false;
    for (uint32_t i = tree->nodes[root].end; i-- > root;) {
        struct html_node *node = &tree->nodes[i];
        if (node->dropped || !node->is_block)
            continue;
        if (!html_node_is_heading(node)) {
            has_text = has_text || node->text > 0;
            continue;
        }
        node->dropped = !has_text && level_below <= node->tag;
        if (!node->dropped) {
            level_below = node->tag;
            has_text = false;
        }
    }
}

/* Names, dates and counts that stand around each post. */
static void prune_between_posts(struct html_tree *tree, uint32_t root)
{
    for (uint32_t i = root + 1; i < tree->nodes[root].end; i++) {
        struct html_node *node = &tree->nodes[i];
        bool about_post = (node->tag == TAG_DT || node->tag == TAG_DD || prune_is_line(node)) &&
                          node->text < SHORT_TEXT && !node->marks;
        bool linked = html_node_is_heading(node) && node->all_link_text * 10 >= node->all_text * 8;
        node->dropped |= about_post || linked;
    }
}

void main_content_prune(struct html_tree *tree, uint32_t root, struct piece title, bool is_forum)
{
    prune_lines(tree, root, title);
    for (uint32_t i = root + 1; i < tree->nodes[root].end; i++)
        if (tree->nodes[i].all_mass * 4 < tree->nodes[i].all_text && prune_is_list_of_links(&tree->nodes[i]))
            tree->nodes[i].dropped = true;
    if (is_forum)
        prune_between_posts(tree, root);
    for (uint32_t i = root + 1; i < tree->nodes[root].end; i++)
        tree->nodes[i].dropped |= tree->nodes[tree->nodes[i].parent].dropped;
    if (!is_forum)
        prune_endings(tree, root);
    for (uint32_t i = root + 1; i < tree->nodes[root].end; i++)
        tree->nodes[i].dropped |= tree->nodes[tree->nodes[i].parent].dropped;
    prune_edges(tree, root);
    prune_empty_headings(tree, root);
}
