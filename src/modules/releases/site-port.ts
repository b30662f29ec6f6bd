import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'

/** What a site says to a GET; `why` is a sentence for a person. */
export type Said = { kind: 'answer'; response: Response } | { kind: 'not_run'; why: string }

/** A site as an alias shows it at one moment, asked by nobody in particular. */
export type AskableSite = (path: string) => Promise<Said>

type SiteEngine = {
  /** What the alias shows now, within the caller's transaction too; undefined if there is none. */
  shownBy(alias: { owner: string; repo: string; name: string }): AskableSite | undefined
  /** What a host of the service shows now; undefined if it shows no site. */
  shownAt(host: string): AskableSite | undefined
}

/** The site engine as this module sees it, set by whoever starts the server: lower layers do not import it. */
export const siteEngine = onePer((_: Context): SiteEngine => ({ shownBy: notSet, shownAt: notSet }))

const notSet = (): never => {
  throw new Error('The site engine has not been set')
}
