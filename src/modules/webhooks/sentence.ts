import type { EventBody } from './events.ts'

/** One line of text with the facts of an event, and where to look. `title`: two or three words. */
export type Sentence = { title: string; text: string; link: string }

type Data = Record<string, unknown>

export function sentenceOf(body: EventBody): Sentence {
  const { title, text, link } = WORDS[body.event](body, body.data)
  return { title, text: oneLine(`${projectText(body)}${text}`), link: link ?? placeOf(body) }
}

type Words = { title: string; text: string; link?: string | undefined }

const WORDS: Record<EventBody['event'], (body: EventBody, data: Data) => Words> = {
  'deployment.created': (body, { deployment }) => ({
    title: 'New deployment',
    text: `${actorText(body)} published ${deploymentText(deployment)}`,
    link: urlOf(deployment, 'preview'),
  }),
  'deployment.released': (body, { deployment, alias }) => ({
    title: 'Released',
    text: `${actorText(body)} released ${deploymentText(deployment)} to ${textOf(alias)}`,
    link: urlOf(deployment, 'alias') ?? urlOf(deployment, 'preview'),
  }),
  'deployment.failed': (body, { commitSha, alias, error }) => ({
    title: 'Publish failed',
    text: `${actorText(body)} could not publish ${short(commitSha)}${alias === null ? '' : ` to ${textOf(alias)}`}: ${fieldOf(error, 'message')}`,
  }),
  'alias.moved': (body, { alias, from, to, reason }) => ({
    title: 'Alias moved',
    text: `${actorText(body)}: ${textOf(alias)} ${shaOf(from)} → ${shaOf(to)} (${textOf(reason)})`,
  }),
  'preview.ended': (_body, { name, reason }) => ({
    title: 'Preview ended',
    text: `the preview ${textOf(name)} ended (${textOf(reason)})`,
  }),
  'check.failed': (_body, { deployment, alias }) => ({
    title: 'Check failed',
    text: `${deploymentText(deployment)} was held back from ${textOf(alias)}`,
  }),
  'domain.verified': (_body, { domain }) => ({
    title: 'Domain verified',
    text: `the domain ${fieldOf(domain, 'hostname')} is verified`,
    link: fieldOf(domain, 'url') || undefined,
  }),
  'user.invited': (body, { email, role }) => ({
    title: 'Invited',
    text: `${actorText(body)} invited ${textOf(email)} as ${textOf(role)}`,
  }),
  'errors.rising': (_body, { count, share, path }) => ({
    title: 'Errors rising',
    text: `${textOf(count)} errors in 5 minutes, ${(Number(share) * 100).toFixed(1)} % of all answers, most at ${textOf(path)}`,
  }),
  'backup.failed': (_body, { message }) => ({
    title: 'Backup failed',
    text: `a backup failed: ${textOf(message)}`,
  }),
  'certificate.failing': (_body, { host, expiresAt, error }) => ({
    title: 'Certificate failing',
    text: `the certificate of ${textOf(host)} ${expiresAt === null ? 'is missing' : `expires ${textOf(expiresAt)}`}${error === null ? '' : `: ${textOf(error)}`}`,
  }),
  'disk.low': (_body, { freeBytes, totalBytes }) => ({
    title: 'Disk low',
    text: `${textOf(freeBytes)} of ${textOf(totalBytes)} bytes are free`,
  }),
  ping: (body) => ({ title: 'Test', text: `${actorText(body)} tests this webhook` }),
}

const projectText = ({ project }: EventBody): string =>
  project === null ? '' : `${project.owner}/${project.name}: `

const placeOf = ({ workspace, project }: EventBody): string =>
  project === null ? `${workspace.url}/` : `${workspace.url}/projects/${project.id}`

const actorText = ({ actor }: EventBody): string => actor.name ?? 'svc'

function deploymentText(deployment: unknown): string {
  const description = fieldOf(deployment, 'description').split('\n')[0] ?? ''
  const branch = fieldOf(deployment, 'branch')
  return [
    short(fieldOf(deployment, 'commitSha')),
    branch && `(${cut(branch)})`,
    description && `“${cut(description)}”`,
  ]
    .filter((part) => part !== '')
    .join(' ')
}

const shaOf = (end: unknown): string => (end === null ? 'nothing' : short(fieldOf(end, 'commitSha')))
const short = (sha: unknown): string => textOf(sha).slice(0, 12) || 'something'

function fieldOf(record: unknown, name: string): string {
  if (typeof record !== 'object' || record === null) return ''
  const value: unknown = Reflect.get(record, name)
  return textOf(value)
}

const urlOf = (deployment: unknown, name: 'alias' | 'preview'): string | undefined => {
  const urls: unknown =
    typeof deployment === 'object' && deployment !== null ? Reflect.get(deployment, 'urls') : null
  return fieldOf(urls, name) || undefined
}

const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

const MAX_PART = 200
const MAX_TEXT = 1500

/** Whole characters of a text that somebody else wrote. */
const cut = (text: string, max = MAX_PART): string => {
  const characters = [...text.slice(0, max * 2)]
  return characters.length <= max ? characters.join('') : `${characters.slice(0, max - 1).join('')}…`
}

/** Without line breaks and other control characters, nor those that turn the direction of what follows. */
const oneLine = (text: string): string =>
  cut(text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim(), MAX_TEXT)
