#include "CBoardScripts.h"

// Clang embeds the files at no cost. As a resource of a Swift target each byte becomes a number of Swift's source, which
// takes 14 seconds to compile.
#pragma clang diagnostic ignored "-Wc23-extensions"

// All files of Scripts: what the functions share, in an order in which each uses only earlier ones, and after them the
// functions by name. scripts/check reads the order from here.
static const char text[] = {
#embed "../ReelQueue/Scripts/Shared/base.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Shared/counting.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Shared/holding.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Shared/order.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Shared/failing.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Shared/ending.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Shared/backlog.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Shared/tidying.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Server/adopt.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Planning/attend.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Auditing/audit.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Auditing/audited.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Figures/backlog.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Workers/beat.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Planning/begin.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Control/cancel.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Claiming/claim.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Reporting/complete.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Workers/depart.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Control/describe.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Webhooks/dispatch.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Webhooks/dispatched.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Reporting/disprove.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Workers/drain.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Reporting/fail.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Figures/figures.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Control/forget.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Webhooks/hook.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Reporting/invalidate.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Planning/leave.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Control/lock.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Listing/owned.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Passes/passes.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Control/pause.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Publishing/publish.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Pace/rates.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Reporting/readmit.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Workers/reap.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Claiming/release.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Auditing/restarted.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Publishing/restore.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Control/retry.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Status/status.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Passes/strip.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Results/tally.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Results/trim.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Control/unlock.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Publishing/upload.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Control/weigh.lua" suffix(, '\n', )
#embed "../ReelQueue/Scripts/Workers/workers.lua" suffix(, 0)
};

const char *board_scripts(void) { return text; }
