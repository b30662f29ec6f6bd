/** What the files of a project take. */
export { listFileContents, sumTotals, totalsOf } from './queries.ts'
