import { existsSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import type { Context } from '../../context.ts'
import { openBeside } from '../../db/followed.ts'
import { messageOf } from '../../domain/errors.ts'
import { inspectDatabase } from '../../modules/deployments/check/queries.ts'
import { findUnreadableSecrets } from '../../modules/secrets/unreadable.ts'
import { VERSION } from '../../release-info.ts'
import { contextOn, openParts } from '../../server/open-context.ts'
import { databaseFile, keysToRead } from '../../server/store/arrive.ts'
import { keyHint, Problems, tellOfCertificates, tellOfForeign, tellOfTwins } from '../check-notes.ts'
import { CommandFailure, EXIT, type Io } from '../command.ts'
import { enterOwn } from '../operator.ts'
import { requireWhole } from './check.ts'
import { onStoreOfSvc } from './open.ts'

/** `svc check` of a machine whose workspace is in an object store: what it has, then the store. contract 18 §1. */
export async function checkMachine(config: Config, io: Io): Promise<number> {
  enterOwn(config)
  const problems = new Problems(io)
  await checkCopy(config, problems, io)
  const damage = await onStoreOfSvc(config, (store) => requireWhole(store, false, io)).then(
    () => null,
    (error: unknown) => error,
  )
  if (problems.count > 0) {
    const here = problems.summary(config)
    throw new CommandFailure(damage === null ? here : `${here}; the store: ${messageOf(damage)}`)
  }
  if (damage !== null) throw damage
  io.stdout.write('all is well\n')
  return EXIT.ok
}

/** Contents are cached here, and checked in the store. */
async function checkCopy(config: Config, problems: Problems, io: Io): Promise<void> {
  if (!existsSync(databaseFile(config))) {
    io.stderr.write(
      `note: there is no copy of the database in ${config.dataDir}; the store alone is checked\n`,
    )
    return
  }
  try {
    await onCopy(config, io, (ctx) => {
      for (const problem of inspectDatabase(ctx.db)) problems.tell(problem)
      for (const problem of findUnreadableSecrets(ctx)) problems.tell(problem, keyHint(config))
      tellOfCertificates(ctx, problems, config)
      tellOfTwins(ctx, io)
    })
    problems.add(tellOfForeign(config, io))
  } catch (error) {
    problems.tellOfEnd(error)
  }
}

async function onCopy(config: Config, io: Io, work: (ctx: Context) => void): Promise<void> {
  const db = openBeside(databaseFile(config))
  const parts = await openParts(
    { ...config, logLevel: 'error' },
    { version: VERSION, write: io.stderr.write },
  )
  try {
    work(contextOn(parts, { db, secretKeys: keysToRead(config), machine: null }))
  } finally {
    parts.close()
    db.close()
  }
}
