import { importLists, importSlashes, type Style } from './listed-routes.ts'
import { type LocatedObject, scalarOf } from './located.ts'
import type { Outcome } from './outcome.ts'

const STYLE: Style = { dialect: 'firebase', redirectKeys: ['type'], statusOf, mergesQuery: false }
const KEYS = ['redirects', 'rewrites', 'headers', 'cleanUrls', 'trailingSlash']

/** `hosting` of a firebase.json; of several targets the first. contract 13 §10. */
export function importFirebase(root: LocatedObject, out: Outcome): void {
  out.leaveOthers(root, '', ['hosting'], 'it is no part of hosting')
  const hosting = root.entries.get('hosting')
  if (hosting?.kind === 'object') {
    importTarget(hosting, 'hosting', out)
    return
  }
  if (hosting?.kind !== 'array') {
    if (hosting !== undefined) out.leave(hosting, 'hosting', 'it is neither an object nor a list of them')
    return
  }
  for (const [index, target] of hosting.items.entries())
    if (index === 0 && target.kind === 'object') importTarget(target, 'hosting[0]', out)
    else out.leave(target, `hosting[${index}]`, 'a further target is a site of its own: import it by itself')
}

function importTarget(target: LocatedObject, what: string, out: Outcome): void {
  importLists(target, `${what}.`, STYLE, out)
  importSlashes(target, `${what}.`, out)
  out.leaveOthers(target, what, KEYS, 'it says what is published there, not how it is served')
}

function statusOf({ entries }: LocatedObject): number | string {
  const type = entries.get('type')
  if (type === undefined) return 301
  const status = scalarOf(type)
  return typeof status === 'number' ? status : 'its type is no number'
}
