import type { NamedMove } from '../../src/modules/aliases/service.ts'

/** As short as buttons want it; one that was deleted before there were numbers has none. */
export const moveName = ({ number, commitSha }: Pick<NamedMove, 'number' | 'commitSha'>): string =>
  number === null ? commitSha.slice(0, 12) : `#${number}`
