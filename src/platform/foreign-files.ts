import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { chownLine, userName } from './owner.ts'

/** Files and folders of root in a data directory of somebody else, whose server may not be able to use them. */
export type ForeignFiles = {
  /** The first of them, as sentences. */
  details: string[]
  count: number
  /** The command that gives them back. */
  help: string
}

const SHOWN = 10

/** Looks at every name below the data directory. */
export function findForeignFiles(dataDir: string): ForeignFiles {
  const owner = lstatSync(dataDir)
  const found: ForeignFiles = { details: [], count: 0, help: chownLine(dataDir, owner) }
  if (owner.uid === 0) return found
  for (const path of pathsBelow(dataDir)) {
    if (lstatSync(path, { throwIfNoEntry: false })?.uid !== 0) continue
    found.count += 1
    if (found.count <= SHOWN)
      found.details.push(`${path} belongs to ${userName(0)}, the data directory to ${userName(owner.uid)}`)
  }
  return found
}

function* pathsBelow(folder: string): Generator<string> {
  for (const entry of entriesOf(folder)) {
    // Every file system of its own has this one, of root.
    if (entry.name === 'lost+found') continue
    const path = join(folder, entry.name)
    yield path
    if (entry.isDirectory()) yield* pathsBelow(path)
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
