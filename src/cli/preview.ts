import { isRecord } from '../domain/is-record.ts'
import {
  type Command,
  CommandFailure,
  EXIT,
  type Io,
  parseFlags,
  printable,
  printableJson,
  UsageError,
} from './command.ts'
import { branchHere, previewNameOf } from './preview/ci-review.ts'
import { tellForge } from './preview/tell-forge.ts'
import {
  REMOTE_HELP,
  REMOTE_OPTIONS,
  type Remote,
  type RemoteFlags,
  type Row,
  remoteProject,
  textAt,
  unlessMissing,
} from './remote/project.ts'
import { strangeAnswer } from './strange-answer.ts'

const USAGE = `usage: svc preview list [FLAGS]
       svc preview end [NAME] [--comment] [FLAGS]

  list  the previews of a project, the one that ends first at the top
  end   a preview with all that was published as it; without NAME the one that "svc deploy --preview auto" made in this
        CI job or on this branch, and it is no failure where there is none any more

"svc deploy DIR --preview NAME" publishes one.

  --comment             say so in its comment on the pull or merge request, with GITHUB_TOKEN or GITLAB_TOKEN, and on
                        GitHub set its deployments inactive
${REMOTE_HELP}`

type Flags = RemoteFlags & { comment: boolean }
type Run = (words: readonly string[], flags: Flags, io: Io) => Promise<void>

const VERBS: Readonly<Record<string, Run>> = { list: listPreviews, end: endPreview }

export const previewCommand: Command = {
  summary: 'List or end the previews of a project',
  usage: USAGE,
  verbs: ['list', 'end'],
  async run(args, io) {
    const options = { ...REMOTE_OPTIONS, comment: { type: 'boolean', default: false } } as const
    const { values, positionals } = parseFlags({ args, options, allowPositionals: true })
    const [verb, ...words] = positionals
    const run = verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
    if (run === undefined) throw new UsageError('name what to do: list or end')
    await run(words, values, io)
    return EXIT.ok
  },
}

async function listPreviews(words: readonly string[], flags: Flags, io: Io): Promise<void> {
  if (words.length > 0) throw new UsageError(`list takes flags only, not "${words[0]}"`)
  if (flags.comment) throw new UsageError('--comment belongs to end')
  const remote = await remoteProject(flags, io)
  const answer = await remote.client.json('GET', `/api/projects/${await projectId(remote)}/previews`)
  if (!isRecord(answer) || !Array.isArray(answer['previews'])) throw strangeAnswer()
  const previews = answer['previews'].filter(isRecord)
  io.stdout.write(flags.json ? `${printableJson({ previews }, 2)}\n` : previews.map(line).join(''))
}

/** Name, commit, end, address. */
function line(preview: Row): string {
  const { expiresAt, isLocked } = preview
  const end = typeof expiresAt === 'string' ? `ends ${expiresAt.slice(0, 16).replace('T', ' ')}` : 'stays'
  const lock = isLocked === true ? '  locked' : ''
  const columns = [
    textAt(preview, 'name'),
    textAt(preview, 'commitSha').slice(0, 12),
    end,
    textAt(preview, 'url'),
  ]
  return `${printable(`${columns.join('  ')}${lock}`)}\n`
}

async function endPreview(words: readonly string[], flags: Flags, io: Io): Promise<void> {
  const [given, extra] = words
  if (extra !== undefined) throw new UsageError(`one preview at a time, so not "${extra}" too`)
  const branch = given === undefined ? await branchHere(io) : undefined
  const preview = previewNameOf(given ?? 'auto', branch, io.env)
  const remote = await remoteProject(flags, io)
  const isEnded = await deletePreview(remote, preview)
  if (!isEnded && given !== undefined) throw new CommandFailure(`${remote.name} has no preview ${preview}`)
  const said = isEnded ? `ended ${preview}` : `there is no preview ${preview} any more`
  io.stdout.write(flags.json ? `${printableJson({ ended: isEnded ? preview : null }, 2)}\n` : `${said}\n`)
  if (!flags.comment) return
  const trouble = await tellForge(io.env, { project: remote.name, preview }, 'ended')
  if (trouble !== undefined) io.stderr.write(`${printable(trouble)}\n`)
}

/** False where the project has none of this name. */
async function deletePreview(remote: Remote, preview: string): Promise<boolean> {
  const path = `/api/projects/${await projectId(remote)}/previews/${encodeURIComponent(preview)}`
  const gone = Symbol()
  const answer = await unlessMissing(remote.client.json('DELETE', path).then(() => gone))
  return answer === gone
}

async function projectId({ client, owner, repo }: Remote): Promise<string> {
  const project = await client.json('GET', `/api/projects/${owner}/${repo}`)
  if (!isRecord(project)) throw strangeAnswer()
  return encodeURIComponent(textAt(project, 'id'))
}
