import type { Finding } from './findings.ts'

export type LeftOutKind = 'left-out' | 'secret-left-out'

/** What of an upload was not taken in: the first paths of each kind, and how many there were. */
export type LeftOutPaths = { paths: readonly string[]; counts: Readonly<Record<LeftOutKind, number>> }

const SECRETS: readonly RegExp[] = [
  /^\.env(?:$|\.)/i,
  /^\.npmrc$/i,
  /^\.netrc$/i,
  /^\.git/i,
  /^\.ssh$/i,
  /^\.aws$/i,
  /^\.htpasswd$/i,
]
/** What packages bring along is nobody's secret. */
const OF_OTHERS: ReadonlySet<string> = new Set(['node_modules', '__MACOSX'])

/** Whether something that was left out would have told secrets. Only its name is looked at. */
export function leftOutKind(path: string): LeftOutKind {
  const segments = path.split(/[/\\]/)
  const others = segments.findIndex((segment) => OF_OTHERS.has(segment))
  const own = others === -1 ? segments : segments.slice(0, others)
  return own.some((segment) => SECRETS.some((secret) => secret.test(segment)))
    ? 'secret-left-out'
    : 'left-out'
}

export function* findLeftOut({ paths }: Pick<LeftOutPaths, 'paths'>): Generator<Finding> {
  for (const sent of paths) {
    const kind = leftOutKind(sent)
    const file = sent
      .split(/[/\\]/)
      .filter((segment) => segment !== '' && segment !== '.')
      .join('/')
    yield { kind, file, line: null, target: null, message: MESSAGES[kind] }
  }
}

const MESSAGES: Record<LeftOutKind, string> = {
  'left-out': 'Dot files, node_modules and __MACOSX are left out of deployments.',
  'secret-left-out': 'It may hold secrets, so it was left out. See that it is not in what your build makes.',
}
