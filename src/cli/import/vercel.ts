import { importLists, importSlashes, type Style } from './listed-routes.ts'
import { type LocatedObject, scalarOf } from './located.ts'
import type { Outcome } from './outcome.ts'

const STYLE: Style = {
  dialect: 'vercel',
  redirectKeys: ['permanent', 'statusCode'],
  statusOf,
  mergesQuery: true,
}
const KEYS = ['redirects', 'rewrites', 'headers', 'cleanUrls', 'trailingSlash']

/** contract 13 §10. */
export function importVercel(root: LocatedObject, out: Outcome): void {
  importLists(root, '', STYLE, out)
  importSlashes(root, '', out)
  out.leaveOthers(root, '', KEYS, 'it says how the site is built or run there, not how its files are served')
}

function statusOf({ entries }: LocatedObject): number | string {
  const code = entries.get('statusCode')
  const permanent = entries.get('permanent')
  if (code !== undefined) {
    const status = scalarOf(code)
    return typeof status === 'number' ? status : 'its statusCode is no number'
  }
  if (permanent !== undefined && typeof scalarOf(permanent) !== 'boolean')
    return 'its permanent is neither true nor false'
  return scalarOf(permanent) === false ? 307 : 308
}
