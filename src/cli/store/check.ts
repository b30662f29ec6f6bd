import { tmpdir } from 'node:os'
import type { Config } from '../../config/config.ts'
import { checkStore } from '../../db/stored-workspace/check.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { CommandFailure, EXIT, type Io, printable } from '../command.ts'
import { onStoreOfSvc } from './open.ts'

export const check = (config: Config, isQuick: boolean, io: Io): Promise<number> =>
  onStoreOfSvc(config, async (store) => {
    await requireWhole(store, isQuick, io)
    io.stdout.write('all is well\n')
    return EXIT.ok
  })

/** Prints what is damaged and then fails. */
export async function requireWhole(store: ObjectStore, isQuick: boolean, io: Io): Promise<void> {
  let damages = 0
  for await (const { kind, detail } of checkStore(store, { isQuick, tmp: tmpdir() })) {
    if (kind === 'note') io.stderr.write(`note: ${printable(detail)}\n`)
    else {
      damages += 1
      io.stdout.write(`${kind}_damaged: ${printable(detail)}\n`)
    }
  }
  if (damages > 0)
    throw new CommandFailure(`${damages} ${damages === 1 ? 'problem' : 'problems'} found in the store`)
}
