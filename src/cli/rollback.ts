import { isRecord } from '../domain/is-record.ts'
import { isAliasName } from '../domain/names.ts'
import { type Command, EXIT, parseFlags, UsageError } from './command.ts'
import { REMOTE_HELP, REMOTE_OPTIONS, remoteProject, requireAlias, textAt } from './remote/project.ts'
import { pointOf, writeMove } from './remote/say-move.ts'
import { requireTarget, resolveTarget, TARGET_HELP } from './remote/target.ts'
import { strangeAnswer } from './strange-answer.ts'

const USAGE = `usage: svc rollback [ALIAS] [--to TARGET] [FLAGS]

Brings an alias, production without a name, back to what it showed before; nothing is uploaded. Twice in a row goes there
and back again. ${TARGET_HELP}

  --to TARGET           to this one of those that the alias has shown
${REMOTE_HELP}`

export const rollbackCommand: Command = {
  summary: 'Bring an alias back to what it showed before',
  usage: USAGE,
  async run(args, io) {
    const { values, positionals } = parseFlags({
      args,
      options: { ...REMOTE_OPTIONS, to: { type: 'string' } },
      allowPositionals: true,
    })
    const [name = 'production', extra] = positionals
    if (extra !== undefined) throw new UsageError(`one alias at a time, so not "${extra}" too`)
    if (!isAliasName(name)) throw new UsageError(`"${name}" is no name of an alias`)
    if (values.to !== undefined) requireTarget(values.to)
    const remote = await remoteProject(values, io)
    const before = await requireAlias(remote, name)
    const to = values.to === undefined ? undefined : (await resolveTarget(remote, values.to)).deploymentId
    const path = `/api/aliases/${encodeURIComponent(textAt(before, 'id'))}/rollback`
    const alias = await remote.client.json('POST', path, to === undefined ? {} : { to })
    if (!isRecord(alias)) throw strangeAnswer()
    writeMove(io, values.json, { alias, from: pointOf(before), to: pointOf(alias) })
    return EXIT.ok
  },
}
