import { readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CommandFailure } from '../command.ts'
import type { Machine } from './machine.ts'
import { inFolder, type OpenFolder } from './open-folder.ts'
import { HOME } from './paths.ts'
import { removeFile } from './plain-file.ts'
import type { Step } from './step.ts'

/** What lies at `path`; undefined if nothing does. */
const kindAt = ({ root }: Machine, path: string): 'file' | 'folder' | 'other' | undefined =>
  inFolder(root, dirname(path), { makes: false }, (folder) => {
    const found = folder.find(basename(path))
    if (found === undefined) return undefined
    return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other'
  })

/** Removes a file; undefined if nothing is there. A link is not ours and stays. */
export function fileRemoval(machine: Machine, what: string, path: string): Step | undefined {
  const kind = kindAt(machine, path)
  if (kind === undefined) return undefined
  return {
    what,
    path: join(machine.root, path),
    isDone: kind !== 'file',
    act: () => removeFile(machine.root, path),
  }
}

/** Removes a data directory with all in it; undefined if nothing is there. Throws for a link, and for what is none. */
export function dataRemoval(machine: Machine, path: string): Step | undefined {
  const kind = kindAt(machine, path)
  if (kind === undefined) return undefined
  const shown = join(machine.root, path)
  if (kind !== 'folder')
    throw new CommandFailure(`${shown} is a link, or a file: delete it yourself; nothing was changed`)
  if (path !== HOME && !holdsData(machine, path))
    throw new CommandFailure(`${shown} holds no svc.db, so it may be another folder; nothing was changed`)
  return {
    what: 'data',
    path: shown,
    isDone: false,
    act: () =>
      inFolder(machine.root, dirname(path), { makes: false }, (above) => {
        removeTree(above, basename(path))
        above.sync()
      }),
  }
}

/** A setting may name any folder of the machine. */
const holdsData = ({ root }: Machine, path: string): boolean =>
  inFolder(root, path, { makes: false }, (folder) => folder.find('svc.db')?.isFile()) === true

/** What stays is named; undefined if nothing is there. */
export const staying = (machine: Machine, what: string, path: string): Step | undefined =>
  kindAt(machine, path) === undefined
    ? undefined
    : { what, path: join(machine.root, path), isDone: true, act: () => {} }

/** Never leaves the folder, whatever its user puts in the place of another meanwhile. */
function removeTree(above: OpenFolder, name: string): void {
  if (above.find(name)?.isDirectory() !== true) {
    unlinkSync(above.at(name))
    return
  }
  const folder = above.enter(name)
  try {
    for (const inner of readdirSync(folder.at('.'))) removeTree(folder, inner)
  } finally {
    folder.close()
  }
  rmdirSync(above.at(name))
}
