import type { Made } from './view.ts'

const MAX_PATHS = 200

/** The contents of files by their paths. */
export type Contents = ReadonlyMap<string, string>

/** What became of the files that were shown before; with nothing before, all are new. contract 13 §7. */
export function compareFiles(before: Contents, after: Contents): Pick<Made, 'files' | 'paths'> {
  const files = { added: 0, changed: 0, removed: 0, unchanged: 0 }
  const paths: Made['paths'] = []
  const note = (kind: 'added' | 'changed' | 'removed', path: string) => {
    files[kind] += 1
    if (paths.length < MAX_PATHS) paths.push({ kind, path })
  }
  for (const [path, sha256] of after) {
    const known = before.get(path)
    if (known === undefined) note('added', path)
    else if (known !== sha256) note('changed', path)
    else files.unchanged += 1
  }
  for (const path of before.keys()) if (!after.has(path)) note('removed', path)
  return { files, paths }
}
