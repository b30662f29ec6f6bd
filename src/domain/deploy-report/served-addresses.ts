import { addCleanAddresses } from '../clean-addresses.ts'
import type { HtmlHandling } from '../html-handling.ts'
import { plainPath } from '../plain-path.ts'
import { isRoutingFile } from '../routing/compile.ts'
import type { ServedFiles } from './file-findings.ts'

/** Whether a file is shown at a raw path, or redirects from it to another address of its own. */
export type HasFile = (path: string) => boolean

/** Where the files of a folder are shown. */
export function servedAddresses({ paths, folder }: ServedFiles, handling: HtmlHandling | null): HasFile {
  const targets = new Map<string, { path: string } | { redirectTo: string }>()
  for (const stored of paths) {
    const path = `/${stored}`
    if (!path.startsWith(`${folder}/`) || isRoutingFile(stored)) continue
    const served = path.slice(folder.length)
    targets.set(served, { path: served })
  }
  addCleanAddresses(targets, handling)
  return (path) => targets.has(plainPath(path))
}
