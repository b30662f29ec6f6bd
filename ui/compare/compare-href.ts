import { projectHref } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'

/** Each names a deployment by its number, an alias or its id; left out: what production shows, or showed before. */
export type CompareTargets = { from?: string | undefined; to?: string | undefined }

export const compareHref = (
  projectId: string,
  { from, to }: CompareTargets,
  more: Readonly<Record<string, string | number | undefined>> = {},
): string => projectHref(projectId, '/compare') + queryText({ from, to, ...more })

export const compareFileHref = (
  projectId: string,
  { from, to }: CompareTargets,
  path: string,
  view?: string,
): string => projectHref(projectId, '/compare/file') + queryText({ from, to, path, view })
