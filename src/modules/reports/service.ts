export { beginReport, reportSummary, type ShownBefore, shownBefore } from './begin.ts'
export { getReport, reportOf } from './view.ts'
export { resumeReports, scheduleReport, stopReports, waitForReports } from './work.ts'
