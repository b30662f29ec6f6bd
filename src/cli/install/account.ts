import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from '../command.ts'
import type { Machine } from './machine.ts'
import { HOME, USER } from './paths.ts'
import { type Run, requireRan } from './programs.ts'
import type { Step } from './step.ts'

const PASSWD = '/etc/passwd'

/** The user of the service, as the files of the machine have it. */
export type Account = { uid: number; gid: number; home: string }

export function findUser(root: string): Account | undefined {
  const [, , uid, gid, , home = ''] = lineOf(root, PASSWD) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid), home }
}

export const hasGroup = (root: string): boolean => lineOf(root, '/etc/group') !== undefined

/** `useradd` ends with it where another directory than the files knows the user. */
const IS_THERE = 9

/** User and group of the service. */
export function accountStep({ root }: Machine, run: Run): Step {
  const [user, group] = [findUser(root), hasGroup(root)]
  if (user?.uid === 0) throw new CommandFailure(`the user ${USER} of this machine is root: rename it`)
  return {
    what: 'user',
    path: join(root, PASSWD),
    isDone: user !== undefined && group,
    async act() {
      if (user !== undefined)
        return requireRan('groupadd', await run('groupadd', '--system', USER), [IS_THERE])
      const itsGroup = group ? ['--gid', USER] : ['--user-group']
      const asService = ['--home-dir', HOME, '--shell', '/usr/sbin/nologin']
      requireRan('useradd', await run('useradd', '--system', ...itsGroup, ...asService, USER), [IS_THERE])
    },
  }
}

/** The account that `install` makes; the user and group of somebody else stay. */
export function accountRemoval({ root }: Machine, run: Run): Step | undefined {
  const user = findUser(root)
  if (user === undefined && !hasGroup(root)) return undefined
  return {
    what: 'user',
    path: join(root, PASSWD),
    isDone: user !== undefined && user.home !== HOME,
    async act() {
      if (user !== undefined) requireRan('userdel', await run('userdel', USER))
      if (hasGroup(root)) requireRan('groupdel', await run('groupdel', USER))
    },
  }
}

/** The fields of the service's line. */
function lineOf(root: string, path: string): string[] | undefined {
  try {
    return readFileSync(join(root, path), 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find(([name]) => name === USER)
  } catch {
    return undefined
  }
}
