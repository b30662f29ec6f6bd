import { fchmodSync, fchownSync, fstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { findUser } from './account.ts'
import type { Machine } from './machine.ts'
import { inFolder } from './open-folder.ts'
import { HOME } from './paths.ts'
import type { Step } from './step.ts'

const PRIVATE = 0o700

/** The home of the service, for its user alone. One that belongs to somebody else is given to it by systemd, with all in it. */
export function homeStep(machine: Machine): Step {
  const mode = modeOf(machine, HOME)
  return {
    what: 'data',
    path: join(machine.root, HOME),
    isDone: mode === PRIVATE,
    act: () =>
      mode === undefined
        ? makeForService(machine, HOME)
        : inFolder(machine.root, HOME, { makes: false }, ({ fd }) => fchmodSync(fd, PRIVATE)),
  }
}

/** A folder elsewhere that settings name. One that is there stays as it is. */
export const folderStep = (machine: Machine, path: string): Step => ({
  what: 'folder',
  path: join(machine.root, path),
  isDone: modeOf(machine, path) !== undefined,
  act: () => makeForService(machine, path),
})

const modeOf = ({ root }: Machine, path: string): number | undefined =>
  inFolder(root, path, { makes: false }, ({ fd }) => fstatSync(fd).mode & 0o7777)

function makeForService({ root, run }: Machine, path: string): void {
  inFolder(root, dirname(path), { makes: true }, (above) => {
    const made = above.make(basename(path), PRIVATE)
    // Its files do not know a user of another directory: then the home is given by systemd, too.
    const user = run === null ? undefined : findUser(root)
    try {
      if (user !== undefined) fchownSync(made.fd, user.uid, user.gid)
    } finally {
      made.close()
    }
  })
}
