import type { Config } from '../config/config.ts'
import { systemNow } from '../server/open-context.ts'
import { type Command, EXIT, type Io, UsageError } from './command.ts'
import { parseProject } from './deploy/settings.ts'
import { isOfStore, onWorkspace } from './on-workspace.ts'
import { requireDatabase } from './operator.ts'
import { rotateSecret } from './rotate-secret.ts'
import { settingsOf } from './settings.ts'

type Settings = ReturnType<typeof settingsOf>

export const keyCommand: Command = {
  summary: 'Create an API key or replace the key of secrets, on the data directory',
  usage: `usage: svc key create NAME [--project owner/repo] [--data-dir ./data]
       svc key rotate-secret [--data-dir ./data]

create prints the API key, and nothing else, on stdout. It is shown only now. Without --project it is a global key.
The server may be running; it must be where the workspace is in an object store, as it makes the key then.

rotate-secret replaces the key in secret.key that stored secrets are encrypted with: header values of proxy rules,
secrets of projects, addresses and secrets of webhooks, TOTP secrets, keys of certificates. Stop the server first. Stopped half-way, the data can be read and it is run again.
Backups keep the key that they were made with.
Where the workspace is in an object store, no server may be its primary meanwhile: this command waits for its silence, takes
over, and steps down again. Put the new secret.key on every other machine then, and start it again.`,
  verbs: ['create', 'rotate-secret'],
  async run(args, io) {
    const settings = settingsOf(args, io, { project: { type: 'string' } })
    const [verb, ...words] = settings.words
    if (verb === 'create') return createKey(settings, words, io)
    if (verb === 'rotate-secret') return rotate(settings, words, io)
    throw new UsageError('name what to do: create or rotate-secret')
  },
}

async function createKey({ config, values }: Settings, words: string[], io: Io): Promise<number> {
  const [name, ...others] = words
  if (name === undefined || others.length > 0) throw new UsageError('name the key')
  const project = typeof values['project'] === 'string' ? values['project'] : null
  if (project !== null) parseProject(project)
  requireDatabase(config)
  const ofProject = project === null ? {} : { repository: project }
  const key = await onWorkspace(config, io, 'key create', { name, ...ofProject })
  io.stdout.write(`${key}\n`)
  return EXIT.ok
}

async function rotate({ config, values }: Settings, words: string[], io: Io): Promise<number> {
  if (words.length > 0 || values['project'] !== undefined)
    throw new UsageError('rotate-secret takes nothing but --data-dir')
  const count = isOfStore(config)
    ? await (await import('./store/rotate-secret.ts')).rotateStoredSecret(config, io)
    : await rotateHere(config)
  io.stderr.write(
    `secret.key holds a new key; ${count} stored ${count === 1 ? 'secret' : 'secrets'} moved to it\n`,
  )
  return EXIT.ok
}

function rotateHere(config: Config): Promise<number> {
  requireDatabase(config)
  return rotateSecret(config, systemNow())
}
