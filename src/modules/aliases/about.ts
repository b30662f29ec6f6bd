import type { AliasRow } from './queries.ts'

/** What the audit log says a change of an alias is about. */
export const aboutChange = (action: string, { id, name, projectId }: AliasRow) => ({
  action,
  target: { kind: 'alias', id, name },
  projectId,
})
