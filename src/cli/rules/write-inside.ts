import { lstatSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { CommandFailure } from '../command.ts'

/** Changes to a folder of `.svc/proxy-rules`: `texts` to write by path, `stale` paths to delete. */
type Changes = { texts: Iterable<readonly [path: string, text: string]>; stale?: readonly string[] }

/**
 * All or nothing as far as paths go: the server names the files and a cloned repository may contain links, so every path is
 * checked before anything is written. `flag` as for `writeFile`.
 */
export function writeInside(folder: string, { texts, stale = [] }: Changes, flag: 'w' | 'wx' = 'w'): void {
  const files = [...texts].map(([path, text]) => ({ absolute: placeOf(folder, path), text }))
  const doomed = stale.map((path) => placeOf(folder, path))
  for (const { absolute, text } of files) {
    mkdirSync(dirname(absolute), { recursive: true })
    writeFileSync(absolute, text, { flag })
  }
  for (const absolute of doomed) rmSync(absolute)
}

function placeOf(folder: string, path: string): string {
  const absolute = resolve(folder, path)
  if (!absolute.startsWith(join(folder, sep)))
    throw new CommandFailure(`${path} leads out of the folder of the rule set`)
  // Links above `.svc/proxy-rules/NAME`, within the repository, are allowed.
  if (!isBelow(resolve(folder, '../../..'), absolute))
    throw new CommandFailure(
      `${absolute} is, or lies behind, a symbolic link out of here; nothing was written`,
    )
  return absolute
}

/** Uses the resolved path; a dangling link could later be made to lead anywhere. */
function isBelow(root: string, absolute: string): boolean {
  let existing = absolute
  while (lstatSync(existing, { throwIfNoEntry: false }) === undefined) existing = dirname(existing)
  try {
    const real = realpathSync(existing)
    const realRoot = realpathSync(root)
    return real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)
  } catch {
    return false
  }
}
