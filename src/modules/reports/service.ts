export { beginReport, reportSummary, type ShownBefore, shownBefore } from './begin.ts'
export { getReport, reportOf } from './view.ts'
export { hasLeftReports, resumeReports, scheduleReport, stopReports, waitForReports } from './work.ts'
