import { isAliasName } from '../domain/names.ts'
import { type Command, EXIT, parseFlags, printable, printableJson, UsageError } from './command.ts'
import {
  listRows,
  numberAt,
  REMOTE_HELP,
  REMOTE_OPTIONS,
  type Row,
  remoteProject,
  textAt,
  versionAt,
} from './remote/project.ts'

const USAGE = `usage: svc list [--alias NAME] [--limit N] [FLAGS]

Lists the deployments of a project, the newest first: the number, SHA@VERSION, the aliases that show it and the title.

  --alias NAME          only what this alias shows
  --limit N             how many; 20 without it
${REMOTE_HELP}`

export const listCommand: Command = {
  summary: 'List the deployments of a project',
  usage: USAGE,
  async run(args, io) {
    const { values } = parseFlags({
      args,
      options: { ...REMOTE_OPTIONS, alias: { type: 'string' }, limit: { type: 'string', default: '20' } },
    })
    const limit = limitOf(values.limit)
    const { alias } = values
    if (alias !== undefined && !isAliasName(alias)) throw new UsageError(`"${alias}" is no name of an alias`)
    const filter: Record<string, string> = alias === undefined ? {} : { alias }
    const deployments = await listRows(await remoteProject(values, io), '/api/deployments', filter, limit)
    const text = values.json ? `${printableJson({ deployments }, 2)}\n` : deployments.map(line).join('')
    io.stdout.write(text)
    return EXIT.ok
  },
}

function limitOf(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`--limit is a number from 1, not "${text}"`)
  return Number(text)
}

/** Number, version, time, aliases, branch, title; an older server has no numbers and titles. */
function line(deployment: Row): string {
  const { branch, aliases, title, description } = deployment
  const number = numberAt(deployment)
  const said = title === undefined ? description : title
  const columns = [
    number === '' ? '' : number.padEnd(4),
    versionAt(deployment).padEnd(14),
    textAt(deployment, 'createdAt').slice(0, 16).replace('T', ' '),
    Array.isArray(aliases) && aliases.length > 0 ? `[${aliases.join(', ')}]` : '',
    typeof branch === 'string' ? branch : '',
    typeof said === 'string' ? said : '',
  ]
  return `${printable(columns.filter((column) => column !== '').join('  '))}\n`
}
