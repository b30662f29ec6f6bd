import type { Config } from '../config/config.ts'
import { storeWarning } from '../config/store.ts'
import { type Command, type Io, UsageError } from './command.ts'
import { settingsOf } from './settings.ts'

/** The flags of each verb, and what runs it: prints, and returns the exit code. */
type Verb = {
  flags: readonly string[]
  run(config: Config, has: (flag: string) => boolean, io: Io): Promise<number>
}

const VERBS: Readonly<Record<string, Verb>> = {
  init: {
    flags: ['create-bucket'],
    run: async (config, has, io) => (await import('./store/init.ts')).init(config, has('create-bucket'), io),
  },
  status: {
    flags: ['json'],
    run: async (config, has, io) => (await import('./store/status.ts')).status(config, has('json'), io),
  },
  check: {
    flags: ['quick'],
    run: async (config, has, io) => (await import('./store/check.ts')).check(config, has('quick'), io),
  },
  push: {
    flags: ['remove-local'],
    run: async (config, has, io) => (await import('./store/push.ts')).push(config, has('remove-local'), io),
  },
}

export const storeCommand: Command = {
  summary: 'Prepare, fill, look at and check the object store that STORE_URL names',
  usage: `usage: svc store init [--create-bucket] | status [--json] | check [--quick] | push [--remove-local]

init asks the store whether it honours If-None-Match, then makes svc.json below the prefix of STORE_URL and prints the store's
id. What stands there already is left alone (exit 1). --create-bucket makes the bucket first.

status shows the primary, the log, the newest base and the contents. Reading suffices for it, as for check.

check reads everything: the log without a gap, its bases, the database that they are, and each content against its SHA-256.
--quick looks at the contents' sizes only. It needs room for a copy of the database in the system's temporary folder. Exit 1
names the damage, a line each; objects that belong to nothing are a note on stderr.

push moves the workspace in DATA_DIR, whose server is stopped, into an initialised store that holds no database: contents
first, database last. Run again it goes on where it stopped. A database already there, or a server running: exit 1. The local
contents stay; --remove-local checks the store, also after a push of before, and removes them.

The settings are DATA_DIR and those of svc serve that begin with STORE_.`,
  verbs: Object.keys(VERBS),
  async run(args, io) {
    const names = Object.values(VERBS).flatMap(({ flags }) => flags)
    const own = Object.fromEntries(names.map((name) => [name, { type: 'boolean' as const }]))
    const { config, values, words } = settingsOf(args, io, own)
    const [name = '', ...others] = words
    const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
    if (verb === undefined || others.length > 0)
      throw new UsageError('svc store takes one verb: init, status, check or push')
    const strange = names.find((flag) => values[flag] === true && !verb.flags.includes(flag))
    if (strange !== undefined) throw new UsageError(`svc store ${name} takes no --${strange}`)
    const warning = storeWarning(config)
    if (warning !== null) io.stderr.write(`svc store: ${warning}\n`)
    return verb.run(config, (flag) => values[flag] === true, io)
  },
}
