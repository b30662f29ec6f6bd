import type { HistoryView } from '../../src/modules/aliases/service.ts'

/** As short as buttons want it; one that was deleted before there were numbers has none. */
export const moveName = ({ number, commitSha }: HistoryView): string =>
  number === null ? commitSha.slice(0, 12) : `#${number}`
