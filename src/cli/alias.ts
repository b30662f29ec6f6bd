import { isRecord } from '../domain/is-record.ts'
import { isAliasName, isCommitSha } from '../domain/names.ts'
import { type Command, EXIT, type Io, parseFlags, printable, printableJson, UsageError } from './command.ts'
import {
  findAlias,
  listRows,
  nameAt,
  REMOTE_HELP,
  REMOTE_OPTIONS,
  type RemoteFlags,
  remoteProject,
  requireAlias,
  textAt,
} from './remote/project.ts'
import { pointOf, writeMove } from './remote/say-move.ts'
import { requireTarget, resolveTarget, TARGET_HELP } from './remote/target.ts'
import { strangeAnswer } from './strange-answer.ts'

const USAGE = `usage: svc alias list [FLAGS]
       svc alias set NAME TARGET [FLAGS]
       svc alias delete NAME [FLAGS]

  list    the aliases of a project, and what each shows
  set     point an alias at TARGET, and make it where there is none of that name; nothing is uploaded, so that
          "svc alias set production next" releases what was tried as next
  delete  the alias alone; its deployments stay

${TARGET_HELP}

${REMOTE_HELP}`

type Run = (words: readonly string[], flags: RemoteFlags, io: Io) => Promise<number>

const VERBS: Readonly<Record<string, Run>> = { list: listAliases, set: setAlias, delete: deleteAlias }

export const aliasCommand: Command = {
  summary: 'List, set or delete the aliases of a project',
  usage: USAGE,
  verbs: ['list', 'set', 'delete'],
  async run(args, io) {
    const { values, positionals } = parseFlags({ args, options: REMOTE_OPTIONS, allowPositionals: true })
    const [verb, ...words] = positionals
    const run = verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
    if (run === undefined) throw new UsageError('name what to do: list, set or delete')
    return run(words, values, io)
  },
}

async function listAliases(words: readonly string[], flags: RemoteFlags, io: Io): Promise<number> {
  if (words.length > 0) throw new UsageError(`list takes flags only, not "${words[0]}"`)
  const aliases = await listRows(await remoteProject(flags, io), '/api/aliases', {
    sort: 'name',
    order: 'asc',
  })
  const lines = aliases.map((alias) => {
    const lock = alias['isLocked'] === true ? '  locked' : ''
    const line = `${textAt(alias, 'name')}  ${nameAt(alias)}  ${textAt(alias, 'url')}${lock}`
    return `${printable(line)}\n`
  })
  io.stdout.write(flags.json ? `${printableJson({ aliases }, 2)}\n` : lines.join(''))
  return EXIT.ok
}

async function setAlias(words: readonly string[], flags: RemoteFlags, io: Io): Promise<number> {
  const [name, target, extra] = words
  if (name === undefined || target === undefined || extra !== undefined)
    throw new UsageError('set takes the name of an alias and a TARGET')
  requireAliasName(name)
  requireTarget(target)
  const remote = await remoteProject(flags, io)
  const { deploymentId } = await resolveTarget(remote, target)
  const before = await findAlias(remote, name)
  const { owner, repo, client } = remote
  const alias = await (before === undefined
    ? client.json('POST', '/api/aliases', { owner, repo, name, deploymentId })
    : client.json('PATCH', pathOf(textAt(before, 'id')), { deploymentId }))
  if (!isRecord(alias)) throw strangeAnswer()
  writeMove(io, flags.json, {
    alias,
    from: before === undefined ? null : pointOf(before),
    to: pointOf(alias),
  })
  return EXIT.ok
}

async function deleteAlias(words: readonly string[], flags: RemoteFlags, io: Io): Promise<number> {
  const [name, extra] = words
  if (name === undefined || extra !== undefined) throw new UsageError('delete takes the name of one alias')
  requireAliasName(name)
  const remote = await remoteProject(flags, io)
  const alias = await requireAlias(remote, name)
  await remote.client.json('DELETE', pathOf(textAt(alias, 'id')))
  const deleted = textAt(alias, 'name')
  io.stdout.write(flags.json ? `${printableJson({ deleted }, 2)}\n` : `${printable(`deleted ${deleted}`)}\n`)
  return EXIT.ok
}

function requireAliasName(name: string): void {
  if (!isAliasName(name) || isCommitSha(name)) throw new UsageError(`"${name}" is no name of an alias`)
}

const pathOf = (id: string): string => `/api/aliases/${encodeURIComponent(id)}`
