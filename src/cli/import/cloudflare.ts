import { isHtmlHandling } from '../../domain/html-handling.ts'
import { type LocatedObject, textOf } from './located.ts'
import type { Outcome } from './outcome.ts'

/** `assets` of a wrangler file. contract 13 §10. */
export function importWrangler(root: LocatedObject, out: Outcome): void {
  out.leaveOthers(root, '', ['assets'], 'it says how a Worker is built or run, not how files are served')
  const assets = root.entries.get('assets')
  if (assets?.kind !== 'object') {
    if (assets !== undefined) out.leave(assets, 'assets', 'it is no table')
    return
  }
  const { entries } = assets
  out.leaveOthers(assets, 'assets', ['html_handling', 'not_found_handling'], 'it has no counterpart')
  const handling = entries.get('html_handling')
  const name = textOf(handling) ?? ''
  if (isHtmlHandling(name)) out.settings.htmlHandling = name
  else if (handling !== undefined) out.leave(handling, 'assets.html_handling', 'there is no such value')
  const missing = entries.get('not_found_handling')
  const isSpa = IS_SPA.get(textOf(missing) ?? '')
  if (isSpa !== undefined) out.settings.isSpa = isSpa
  else if (missing !== undefined) out.leave(missing, 'assets.not_found_handling', 'there is no such value')
}

const IS_SPA: ReadonlyMap<string, boolean> = new Map([
  ['single-page-application', true],
  ['404-page', false],
  ['none', false],
])

/** Which requests run a Function: there are none here. */
export function importRoutes(root: LocatedObject, out: Outcome): void {
  out.leaveOthers(root, '', [], 'it says which requests run a Function: rules of the project do that here')
}
