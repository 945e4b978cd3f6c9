#include "CServerPages.h"

// As CBoardScripts does with the functions of the board, and for the same reason: as resources of a Swift target the files
// took most of the time in which ReelServer was compiled.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "../ReelServer/Pages/api.js"
};
static const unsigned char audit_js[] = {
#embed "../ReelServer/Pages/audit.js"
};
static const unsigned char browse_js[] = {
#embed "../ReelServer/Pages/browse.js"
};
static const unsigned char clipEditor_js[] = {
#embed "../ReelServer/Pages/clipEditor.js"
};
static const unsigned char clipFiles_js[] = {
#embed "../ReelServer/Pages/clipFiles.js"
};
static const unsigned char clipList_js[] = {
#embed "../ReelServer/Pages/clipList.js"
};
static const unsigned char connection_js[] = {
#embed "../ReelServer/Pages/connection.js"
};
static const unsigned char docs_js[] = {
#embed "../ReelServer/Pages/docs.js"
};
static const unsigned char draft_js[] = {
#embed "../ReelServer/Pages/draft.js"
};
static const unsigned char draftOf_js[] = {
#embed "../ReelServer/Pages/draftOf.js"
};
static const unsigned char elements_js[] = {
#embed "../ReelServer/Pages/elements.js"
};
static const unsigned char emptyList_js[] = {
#embed "../ReelServer/Pages/emptyList.js"
};
static const unsigned char fields_js[] = {
#embed "../ReelServer/Pages/fields.js"
};
static const unsigned char films_js[] = {
#embed "../ReelServer/Pages/films.js"
};
static const unsigned char formats_js[] = {
#embed "../ReelServer/Pages/formats.js"
};
static const unsigned char icon_svg[] = {
#embed "../ReelServer/Pages/icon.svg"
};
static const unsigned char index_html[] = {
#embed "../ReelServer/Pages/index.html"
};
static const unsigned char job_js[] = {
#embed "../ReelServer/Pages/job.js"
};
static const unsigned char jobChoice_js[] = {
#embed "../ReelServer/Pages/jobChoice.js"
};
static const unsigned char jobFacts_js[] = {
#embed "../ReelServer/Pages/jobFacts.js"
};
static const unsigned char jobRow_js[] = {
#embed "../ReelServer/Pages/jobRow.js"
};
static const unsigned char jobSections_js[] = {
#embed "../ReelServer/Pages/jobSections.js"
};
static const unsigned char jobs_js[] = {
#embed "../ReelServer/Pages/jobs.js"
};
static const unsigned char main_js[] = {
#embed "../ReelServer/Pages/main.js"
};
static const unsigned char navigation_js[] = {
#embed "../ReelServer/Pages/navigation.js"
};
static const unsigned char openapi_json[] = {
#embed "../ReelServer/Pages/openapi.json"
};
static const unsigned char outputForm_js[] = {
#embed "../ReelServer/Pages/outputForm.js"
};
static const unsigned char page_js[] = {
#embed "../ReelServer/Pages/page.js"
};
static const unsigned char parts_js[] = {
#embed "../ReelServer/Pages/parts.js"
};
static const unsigned char plan_js[] = {
#embed "../ReelServer/Pages/plan.js"
};
static const unsigned char player_js[] = {
#embed "../ReelServer/Pages/player.js"
};
static const unsigned char preview_js[] = {
#embed "../ReelServer/Pages/preview.js"
};
static const unsigned char queue_js[] = {
#embed "../ReelServer/Pages/queue.js"
};
static const unsigned char rangeStrip_js[] = {
#embed "../ReelServer/Pages/rangeStrip.js"
};
static const unsigned char rateChart_js[] = {
#embed "../ReelServer/Pages/rateChart.js"
};
static const unsigned char reel_css[] = {
#embed "../ReelServer/Pages/reel.css"
};
static const unsigned char result_js[] = {
#embed "../ReelServer/Pages/result.js"
};
static const unsigned char screen_js[] = {
#embed "../ReelServer/Pages/screen.js"
};
static const unsigned char session_js[] = {
#embed "../ReelServer/Pages/session.js"
};
static const unsigned char signIn_js[] = {
#embed "../ReelServer/Pages/signIn.js"
};
static const unsigned char sourceFacts_js[] = {
#embed "../ReelServer/Pages/sourceFacts.js"
};
static const unsigned char storage_js[] = {
#embed "../ReelServer/Pages/storage.js"
};
static const unsigned char strip_js[] = {
#embed "../ReelServer/Pages/strip.js"
};
static const unsigned char submit_js[] = {
#embed "../ReelServer/Pages/submit.js"
};
static const unsigned char time_js[] = {
#embed "../ReelServer/Pages/time.js"
};
static const unsigned char upload_js[] = {
#embed "../ReelServer/Pages/upload.js"
};
static const unsigned char words_js[] = {
#embed "../ReelServer/Pages/words.js"
};
static const unsigned char workers_js[] = {
#embed "../ReelServer/Pages/workers.js"
};

static const struct server_page pages[] = {
    {"api.js", api_js, sizeof api_js},
    {"audit.js", audit_js, sizeof audit_js},
    {"browse.js", browse_js, sizeof browse_js},
    {"clipEditor.js", clipEditor_js, sizeof clipEditor_js},
    {"clipFiles.js", clipFiles_js, sizeof clipFiles_js},
    {"clipList.js", clipList_js, sizeof clipList_js},
    {"connection.js", connection_js, sizeof connection_js},
    {"docs.js", docs_js, sizeof docs_js},
    {"draft.js", draft_js, sizeof draft_js},
    {"draftOf.js", draftOf_js, sizeof draftOf_js},
    {"elements.js", elements_js, sizeof elements_js},
    {"emptyList.js", emptyList_js, sizeof emptyList_js},
    {"fields.js", fields_js, sizeof fields_js},
    {"films.js", films_js, sizeof films_js},
    {"formats.js", formats_js, sizeof formats_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"index.html", index_html, sizeof index_html},
    {"job.js", job_js, sizeof job_js},
    {"jobChoice.js", jobChoice_js, sizeof jobChoice_js},
    {"jobFacts.js", jobFacts_js, sizeof jobFacts_js},
    {"jobRow.js", jobRow_js, sizeof jobRow_js},
    {"jobSections.js", jobSections_js, sizeof jobSections_js},
    {"jobs.js", jobs_js, sizeof jobs_js},
    {"main.js", main_js, sizeof main_js},
    {"navigation.js", navigation_js, sizeof navigation_js},
    {"openapi.json", openapi_json, sizeof openapi_json},
    {"outputForm.js", outputForm_js, sizeof outputForm_js},
    {"page.js", page_js, sizeof page_js},
    {"parts.js", parts_js, sizeof parts_js},
    {"plan.js", plan_js, sizeof plan_js},
    {"player.js", player_js, sizeof player_js},
    {"preview.js", preview_js, sizeof preview_js},
    {"queue.js", queue_js, sizeof queue_js},
    {"rangeStrip.js", rangeStrip_js, sizeof rangeStrip_js},
    {"rateChart.js", rateChart_js, sizeof rateChart_js},
    {"reel.css", reel_css, sizeof reel_css},
    {"result.js", result_js, sizeof result_js},
    {"screen.js", screen_js, sizeof screen_js},
    {"session.js", session_js, sizeof session_js},
    {"signIn.js", signIn_js, sizeof signIn_js},
    {"sourceFacts.js", sourceFacts_js, sizeof sourceFacts_js},
    {"storage.js", storage_js, sizeof storage_js},
    {"strip.js", strip_js, sizeof strip_js},
    {"submit.js", submit_js, sizeof submit_js},
    {"time.js", time_js, sizeof time_js},
    {"upload.js", upload_js, sizeof upload_js},
    {"words.js", words_js, sizeof words_js},
    {"workers.js", workers_js, sizeof workers_js},
    {NULL, NULL, 0},
};

const struct server_page *server_pages(void) { return pages; }
