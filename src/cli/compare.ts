import { isRecord } from '../domain/is-record.ts'
import { type Command, EXIT, parseFlags, printable, printableJson, UsageError } from './command.ts'
import {
  REMOTE_HELP,
  REMOTE_OPTIONS,
  type Remote,
  type Row,
  remoteProject,
  textAt,
} from './remote/project.ts'
import { requireTarget, resolveTarget, TARGET_HELP } from './remote/target.ts'
import { strangeAnswer } from './strange-answer.ts'

const USAGE = `usage: svc compare A B [--patch] [--exit-code] [FLAGS]

Lists the files in which deployment B differs from A. ${TARGET_HELP}

  --patch               print a patch that makes B of A with "patch -p1"
  --exit-code           exit with 1 when they differ
${REMOTE_HELP}`

export const compareCommand: Command = {
  summary: 'Compare two deployments, file by file',
  usage: USAGE,
  async run(args, io) {
    const { values, positionals } = parseFlags({
      args,
      options: {
        ...REMOTE_OPTIONS,
        patch: { type: 'boolean', default: false },
        'exit-code': { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
    const [from, to, extra] = positionals
    if (from === undefined || to === undefined || extra !== undefined)
      throw new UsageError('compare takes two deployments: svc compare A B')
    if (values.json && values.patch) throw new UsageError('give --json or --patch, not both')
    for (const target of [from, to]) requireTarget(target)
    const remote = await remoteProject(values, io)
    const fromId = (await resolveTarget(remote, from)).deploymentId
    const toId = (await resolveTarget(remote, to)).deploymentId
    const { head, changes } = await compare(remote, fromId, toId)
    if (values.json) io.stdout.write(`${printableJson({ ...head, data: changes }, 2)}\n`)
    else if (values.patch)
      await writePatches(remote, fromId, toId, changes, (bytes) => io.stdout.write(bytes))
    else io.stdout.write(changes.map(line).join(''))
    return values['exit-code'] && changes.length > 0 ? EXIT.failed : EXIT.ok
  },
}

const PAGE = 100

/** All changes, and what the answer says beside them. */
async function compare(remote: Remote, fromId: string, toId: string): Promise<{ head: Row; changes: Row[] }> {
  const changes: Row[] = []
  for (let page = 1; ; page++) {
    const query = new URLSearchParams({ with: fromId, page: String(page), limit: String(PAGE) })
    const answer = await remote.client.json('GET', `/api/deployments/${toId}/compare?${query}`)
    if (!isRecord(answer) || !Array.isArray(answer['data'])) throw strangeAnswer()
    const { data, pagination, ...head } = answer
    const rows = answer['data'].filter(isRecord)
    changes.push(...rows)
    if (rows.length < PAGE) return { head, changes }
  }
}

/** What goes comes first, so that a folder can take the place of a file. */
async function writePatches(
  remote: Remote,
  fromId: string,
  toId: string,
  changes: readonly Row[],
  write: (bytes: Uint8Array) => unknown,
): Promise<void> {
  const isRemoved = (change: Row) => (change['kind'] === 'removed' ? 0 : 1)
  for (const change of changes.toSorted((a, b) => isRemoved(a) - isRemoved(b))) {
    const query = new URLSearchParams({ with: fromId, path: textAt(change, 'path'), format: 'patch' })
    write(await remote.client.bytes(`/api/deployments/${toId}/compare/file?${query}`))
  }
}

function line(change: Row): string {
  const { fromPath } = change
  const moved = typeof fromPath === 'string' ? `${fromPath} → ` : ''
  return `${printable(`${textAt(change, 'kind').padEnd(8)} ${moved}${textAt(change, 'path')}`)}\n`
}
