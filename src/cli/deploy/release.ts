import { isRecord } from '../../domain/is-record.ts'
import { type Io, printable } from '../command.ts'
import type { Published, Target } from './upload.ts'

type Check = { name: string; path: string; ok: boolean | null; message: string | null }
type Release = { status: string; checks: readonly Check[] }

/** What the server says became of the alias; undefined of an older one. contract 13 §8. */
export function releaseOf({ answer }: Pick<Published, 'answer'>): Release | undefined {
  const { status, checks } = isRecord(answer['release']) ? answer['release'] : {}
  if (typeof status !== 'string') return undefined
  return { status, checks: Array.isArray(checks) ? checks.filter(isCheck) : [] }
}

export const isHeldBack = (published: Pick<Published, 'answer'>): boolean =>
  releaseOf(published)?.status === 'failed'

/** One line on what became of the alias; the checks that were not run are named. */
export function writeRelease(io: Io, published: Published): void {
  const release = releaseOf(published)
  if (release === undefined || release.status === 'none') return
  const { status, checks } = release
  const counted = checks.length === 0 ? '' : `, ${checks.length} ${checks.length === 1 ? 'check' : 'checks'}`
  const unrun = checks.filter(({ ok }) => ok === null).map(lineOf)
  io.stdout.write([`release ${printable(status)}${counted}`, ...unrun, ''].join('\n'))
}

/** Names the checks that failed: they held the alias back, or were overruled. */
export function writeFailedChecks(io: Io, target: Target, published: Published): void {
  const failed = releaseOf(published)?.checks.filter(({ ok }) => ok === false) ?? []
  if (failed.length === 0) return
  const place = printable(target.alias ?? target.preview ?? 'the alias')
  const [head, end] = isHeldBack(published)
    ? [
        `${place} was not moved, because of what failed:`,
        'the deployment is kept; mend it and publish again, or move all the same with --force',
      ]
    : [`${place} was moved although this failed:`, null]
  const lines = [head, ...failed.map(lineOf), ...(end === null ? [] : [end])]
  io.stderr.write(`${lines.join('\n')}\n`)
}

const lineOf = ({ name, path, message }: Check): string =>
  printable(`  ${name === path ? path : `${name} (${path})`}: ${message ?? ''}`)

const isCheck = (check: unknown): check is Check =>
  isRecord(check) && typeof check['name'] === 'string' && typeof check['path'] === 'string'
