import type { Hunk } from './diff-program.ts'

export type PatchOf = {
  kind: 'added' | 'changed' | 'removed' | 'moved' | 'unchanged'
  path: string
  /** Null except where the file moved. */
  fromPath: string | null
  /** Lines of Latin-1 where it is false: each character is a byte. */
  isText: boolean
  hunks: readonly Hunk[]
}

/**
 * A unified diff that `patch -p1` applies exactly. What no hunk can say, a moved file or an empty one that comes or goes,
 * stands in the header of git, which GNU patch reads too.
 */
export function patchOf(file: PatchOf): Uint8Array<ArrayBuffer> {
  const body = file.hunks.map(hunkText).join('')
  const names = file.hunks.length === 0 ? '' : fileNames(file)
  return Buffer.concat([
    Buffer.from(`${gitHeader(file)}${names}`),
    Buffer.from(body, file.isText ? 'utf8' : 'latin1'),
  ])
}

function fileNames({ kind, path, fromPath }: PatchOf): string {
  const from = kind === 'added' ? '/dev/null' : nameInDiff(`a/${fromPath ?? path}`)
  const to = kind === 'removed' ? '/dev/null' : nameInDiff(`b/${path}`)
  return `--- ${from}\n+++ ${to}\n`
}

function gitHeader({ kind, path, fromPath, hunks }: PatchOf): string {
  const old = fromPath ?? path
  const head = `diff --git ${quoted(`a/${old}`)} ${quoted(`b/${path}`)}\n`
  if (kind === 'moved')
    return `${head}similarity index 100%\nrename from ${quoted(old)}\nrename to ${quoted(path)}\n`
  if (hunks.length > 0) return ''
  if (kind === 'added') return `${head}new file mode 100644\nindex 0000000..${EMPTY}\n`
  if (kind === 'removed') return `${head}deleted file mode 100644\nindex ${EMPTY}..0000000\n`
  return ''
}

/** The beginning of the name that git gives to no bytes. */
const EMPTY = 'e69de29'

/** As git writes it: behind a name with spaces stands a tab, because a date could follow. */
const nameInDiff = (name: string): string =>
  name.includes('"') ? quoted(name) : name.includes(' ') ? `${name}\t` : name

/** Paths of a deployment hold no control characters and no backslash. */
const quoted = (name: string): string => (/[ "]/.test(name) ? `"${name.replaceAll('"', '\\"')}"` : name)

const hunkText = ({ fromStart, fromLines, toStart, toLines, lines }: Hunk): string =>
  `@@ -${rangeText(fromStart, fromLines)} +${rangeText(toStart, toLines)} @@\n${lines.join('\n')}\n`

const rangeText = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`)
