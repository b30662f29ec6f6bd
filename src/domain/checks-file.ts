import { type AssetPathSource, normalizeAssetPath } from './asset-path.ts'

/** The dot file that says what is checked of a release. contract 13 §8. */
export const CHECKS_FILE = '.svc/checks.yaml'

/** A file of 50 checks that are as long as they may be has less. */
export const MAX_CHECKS_BYTES = 256 * 1024

/** The stored path of a checks file in whatever folder; null for every other file that deployments leave out. */
export function checksPathOf(raw: string, source: AssetPathSource): string | null {
  const path = raw.replaceAll('\\', '/')
  if (!path.endsWith(CHECKS_FILE)) return null
  // A name that stands for the dot folder, so that the folders around it are read by the usual rules.
  const visible = `${path.slice(0, -CHECKS_FILE.length)}checks.yaml`
  const found = normalizeAssetPath(visible, source)
  if (found.kind !== 'file') return null
  const folder = found.path.slice(0, -'checks.yaml'.length)
  return folder === '' || folder.endsWith('/') ? `${folder}${CHECKS_FILE}` : null
}

/** Of the checks files that were sent, the one of the base path (`''` or such as `/dist`), else the one at the top. */
export const chosenChecks = <T extends { path: string }>(
  files: readonly T[],
  basePath: string | null,
): T | undefined => {
  const at = (path: string) => files.find((file) => file.path === path)
  return at(checksFileAt(basePath ?? '')) ?? at(CHECKS_FILE)
}

export const checksFileAt = (basePath: string): string => `${basePath}/${CHECKS_FILE}`.slice(1)
