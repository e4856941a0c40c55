/* html_test.c - the HTML report: well-formed, self-contained, every part there, every name harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example_machine.h"
#include "store/opened.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/export.h"

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = example_folder();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    xmlCleanupParser();
    example_clean(folder);
    return 0;
}

/* Takes the store. */
static char *page_of(struct wsdbg_store *store)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    example_ok(wsdbg_report_html(store, out));
    fclose(out);
    wsdbg_store_close(store);
    return text;
}

static xmlDoc *parsed(const char *page)
{
    xmlDoc *document = xmlReadMemory(page, (int)strlen(page), "report.html", "UTF-8", XML_PARSE_NONET);
    if (!document)
        fail_msg("the page is not well-formed");
    return document;
}

/* Nodes that the expression finds; h: is HTML, s: is SVG. */
static int count(xmlDoc *document, const char *expression)
{
    xmlXPathContext *context = xmlXPathNewContext(document);
    xmlXPathRegisterNs(context, BAD_CAST "h", BAD_CAST "http://www.w3.org/1999/xhtml");
    xmlXPathRegisterNs(context, BAD_CAST "s", BAD_CAST "http://www.w3.org/2000/svg");
    xmlXPathObject *found = xmlXPathEvalExpression(BAD_CAST expression, context);
    assert_non_null(found);
    const int nodes = found->nodesetval ? found->nodesetval->nodeNr : 0;
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(context);
    return nodes;
}

/* What holds for every page. */
static void check_page(const char *page)
{
    xmlDoc *document = parsed(page);
    assert_int_equal(count(document, "/h:html[@lang]/h:head/h:title[string-length() > 5]"), 1);
    assert_int_equal(count(document, "//h:h1"), 1);
    assert_int_equal(count(document, "//h:script | //@onload | //@onclick | //h:link | //h:img | //h:iframe"), 0);
    assert_int_equal(count(document, "//@href | //@src"), 0);
    assert_int_equal(count(document, "//s:svg[not(@role) or not(@aria-labelledby) or not(s:title)]"), 0);
    assert_int_equal(count(document, "//h:table[not(h:caption) or not(h:thead/h:tr/h:th[@scope])]"), 0);
    assert_int_equal(count(document, "//h:tbody/h:tr[count(h:td) != count(../../h:thead/h:tr/h:th)]"), 0);
    assert_int_equal(count(document, "//*[@id = preceding::*/@id]"), 0);
    assert_null(strstr(page, "url("));
    assert_null(strstr(page, "@import"));
    xmlFreeDoc(document);
}

static void a_recorded_hang_has_every_part(void **state)
{
    (void)state;
    char *page = page_of(replayed(folder, "arrive-missing"));
    check_page(page);
    xmlDoc *document = parsed(page);
    assert_int_equal(count(document, "//h:h1[. = 'ARRIVE_MISSING']"), 1);
    assert_int_equal(count(document, "//h:div[@class = 'fix']"), 1);
    assert_int_equal(count(document, "//h:ul/h:li[contains(., 'arrivals for this phase')]"), 1);
    assert_int_equal(count(document, "//s:svg"), 2);
    assert_true(count(document, "//s:path[contains(@class, 'cycle')]") > 0);
    assert_int_equal(count(document, "//s:text[@class = 'on-open']"), 3);
    assert_int_equal(count(document, "//h:table"), 4);
    assert_int_equal(count(document, "//h:table[contains(h:caption, 'wgmma in flight')]//h:td[. = '0.87']"), 2);
    assert_int_equal(count(document, "//h:td[. = 'WAIT_MBARRIER']"), 3);
    assert_non_null(strstr(page, "prefers-color-scheme: dark"));
    assert_non_null(strstr(page, "@media print"));
    xmlFreeDoc(document);
    free(page);
}

static void page_is_clean(struct wsdbg_store *store)
{
    char *page = page_of(store);
    check_page(page);
    free(page);
}

static void every_recorded_session_is_a_clean_page(void **state)
{
    (void)state;
    every_recording(folder, page_is_clean);
}

static void the_machine_s_own_state_is_on_the_page(void **state)
{
    (void)state;
    struct example e;
    example_machine(&e, 4);
    char *page = page_of(stored(folder, &e));
    check_page(page);
    assert_non_null(strstr(page, "<td>gemm.cu:150</td>"));
    assert_non_null(strstr(page, "lane 0: SPIN_GLOBAL polls 0x7f1200000040, gemm.cu:241"));
    assert_non_null(strstr(page, "<td>0x400</td><td>7ffff800001ffffe</td>"));
    assert_non_null(strstr(page, "before anybody arrived (gemm.cu:150)"));
    assert_non_null(strstr(page, "2 looks 0.10 s apart, the GPU stopped for 31 ms in all"));
    assert_non_null(strstr(page, "<td>hangs</td>"));
    assert_non_null(strstr(page, "of roles and barriers are inferred from the code"));
    free(page);
    example_free(&e);
}

/* Nobody waited for it. */
static void a_proven_stall_has_no_time(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 2, 3);
    e.end.stall_proven = true;
    char *page = page_of(stored(folder, &e));
    assert_non_null(strstr(page, "proven by the simulator"));
    assert_null(strstr(page, "without progress"));
    free(page);
    example_free(&e);
}

static void a_quiet_session_says_so(void **state)
{
    (void)state;
    struct example e;
    example_quiet(&e, 2);
    char *page = page_of(stored(folder, &e));
    check_page(page);
    assert_non_null(strstr(page, "No stall seen"));
    assert_null(strstr(page, "<svg"));
    free(page);
    example_free(&e);
}

static void what_is_not_known_is_a_question_mark(void **state)
{
    (void)state;
    struct example e;
    example_unknown(&e);
    char *page = page_of(stored(folder, &e));
    check_page(page);
    xmlDoc *document = parsed(page);
    assert_true(count(document, "//h:td[. = '?']") > 5);
    assert_int_equal(count(document, "//h:td[contains(., '4294967295') or contains(., '-9223372036854775808')]"), 0);
    xmlFreeDoc(document);
    free(page);
    example_free(&e);
}

static void hostile_names_stay_text(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 2, 4);
    e.info.command = "<script>alert(1)</script> \"&amp; \033[2J \xff \xef\xbf\xbe";
    snprintf(e.snapshot.functions[0].name, sizeof e.snapshot.functions[0].name, "<img src=x onerror=alert(1)>");
    snprintf(e.snapshot.names[0].name, sizeof e.snapshot.names[0].name, "</title><b>'\"&");
    memset(e.snapshot.names[2].name, '<', sizeof e.snapshot.names[2].name - 1);
    memset(e.snapshot.names[3].name, '\x01', sizeof e.snapshot.names[3].name - 1);
    snprintf(e.snapshot.notes[0], sizeof e.snapshot.notes[0], "]]> <!-- &#0; \xc3");
    char *page = page_of(stored(folder, &e));
    check_page(page);
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "<img"));
    assert_null(strstr(page, "<b>"));
    assert_non_null(strstr(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
    free(page);
    example_free(&e);
}

/* A chip full of CTAs that all differ still gives a page one can open. */
static void a_big_session_is_a_bounded_page(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 132, 128);
    for (size_t i = 0; i < e.snapshot.warp_count; i++) {
        e.snapshot.warps[i].last.iteration = (uint32_t)i;
        e.snapshot.warps[i].line = wsdbg_known_u32((uint32_t)i);
    }
    char *page = page_of(stored(folder, &e));
    check_page(page);
    assert_true(strlen(page) < 1000000);
    free(page);
    example_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorded_hang_has_every_part), cmocka_unit_test(every_recorded_session_is_a_clean_page),
        cmocka_unit_test(a_proven_stall_has_no_time),
        cmocka_unit_test(a_quiet_session_says_so),        cmocka_unit_test(what_is_not_known_is_a_question_mark),
        cmocka_unit_test(hostile_names_stay_text),        cmocka_unit_test(a_big_session_is_a_bounded_page),
        cmocka_unit_test(the_machine_s_own_state_is_on_the_page),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
