import type { RedirectLine } from '../routing/redirects.ts'
import type { Finding } from './findings.ts'
import type { HasFile } from './served-addresses.ts'

/** What lines are looked at with. `host` is that of the site, in lower case without port. */
export type LinePlace = {
  file: string
  host: string
  hasFile: HasFile
  /** The raw addresses of the files that the site shows. */
  addresses: readonly string[]
}

export const aboutLine = (
  kind: Finding['kind'],
  { line }: RedirectLine,
  { file }: Pick<LinePlace, 'file'>,
  rest: Pick<Finding, 'target' | 'message'>,
): Finding => ({ kind, file, line, ...rest })
