import type { Config } from '../config/config.ts'
import { storeWarning } from '../config/store.ts'
import { storeOf } from '../platform/object-store/of-config.ts'
import { type Command, CommandFailure, EXIT, UsageError } from './command.ts'
import { settingsOf } from './settings.ts'

export const storeCommand: Command = {
  summary: 'Prepare the object store that STORE_URL names',
  usage: `usage: svc store init [--create-bucket]

Asks the store whether it honours If-None-Match, then makes svc.json below the prefix of STORE_URL and prints the store's id.
What stands there already is left alone (exit 1). --create-bucket makes the bucket first. The settings are those of svc serve
that begin with STORE_.`,
  verbs: ['init'],
  async run(args, io) {
    const { config, values, words } = settingsOf(args, io, { 'create-bucket': { type: 'boolean' } })
    if (words.length !== 1 || words[0] !== 'init') throw new UsageError('svc store takes one verb: init')
    const warning = storeWarning(config)
    if (warning !== null) io.stderr.write(`svc store: ${warning}\n`)
    const id = await initialised(config, values['create-bucket'] === true)
    io.stdout.write(`${id}\n`)
    return EXIT.ok
  },
}

async function initialised(config: Config, createsBucket: boolean): Promise<string> {
  const { openObjectStore, StoreError } = await import('../platform/object-store.ts')
  const { initStore } = await import('../platform/object-store/init.ts')
  try {
    const store = openObjectStore({ ...storeOf(config), now: Date.now, writer: Bun.randomUUIDv7() })
    if (createsBucket) await store.createBucket()
    const made = await initStore(store, Bun.randomUUIDv7(), Date.now())
    if ('id' in made) return made.id
    throw new CommandFailure(`STORE_URL is not empty: it holds "${made.foundKey}"; nothing was changed`)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new CommandFailure(error.message, error.isSetting ? EXIT.badConfig : EXIT.failed)
  }
}
