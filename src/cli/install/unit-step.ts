import { join } from 'node:path'
import { CommandFailure } from '../command.ts'
import type { Machine } from './machine.ts'
import { UNIT_FILE } from './paths.ts'
import { type PlainFile, readPlainFile, replaceFile } from './plain-file.ts'
import type { Step } from './step.ts'
import { isAsWritten } from './unit.ts'

const MODE = 0o644

/** Throws if the unit that is there was changed by hand, unless `isForced`: then it is kept beside. contract 19.3. */
export function unitStep({ root }: Machine, wanted: Uint8Array, isForced: boolean): Step {
  const found = readPlainFile(root, UNIT_FILE)
  const isForeign = found !== undefined && !isAsWritten(found.bytes)
  if (isForeign && !isForced)
    throw changedByHand(root, '--force writes it anew and keeps this one as svc.service.before')
  return {
    what: 'unit',
    path: join(root, UNIT_FILE),
    isDone: found?.mode === MODE && found.bytes.equals(wanted),
    act() {
      if (isForeign) replaceFile(root, `${UNIT_FILE}.before`, MODE, found.bytes)
      replaceFile(root, UNIT_FILE, MODE, wanted)
    },
  }
}

/** The unit as `install` wrote it; undefined if there is none. Throws if it was changed by hand. */
export function findOwnUnit({ root }: Machine): PlainFile | undefined {
  const found = readPlainFile(root, UNIT_FILE)
  if (found !== undefined && !isAsWritten(found.bytes))
    throw changedByHand(root, 'delete it yourself, and run this again')
  return found
}

const changedByHand = (root: string, otherwise: string): CommandFailure =>
  new CommandFailure(
    `${join(root, UNIT_FILE)} was changed by hand, or not written by svc install; nothing was changed. Changes of your own go into systemctl edit svc; ${otherwise}`,
  )
