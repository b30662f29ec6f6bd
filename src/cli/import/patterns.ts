/** What a source of another host captures, in its order. `isStar`: all that is left, which is `:splat` here. */
type Group = { name: string | null; isStar: boolean }

/** A source as a line of `_redirects` or a block of `_headers` has it. */
export type Translated = { path: string; groups: readonly Group[] }

const PARAMETER = /^:([A-Za-z]\w*)$/
const REST = /^:([A-Za-z]\w*)\*$/
/** What means more than itself in patterns of path-to-regexp and in globs. */
const SPECIAL = /[:(){}[\]?+*\\!@|^$]/

export type Dialect = 'vercel' | 'firebase'

/**
 * `/docs/:slug`, `/docs/:path*`, and at the end `(.*)` (Vercel) or `**` (Firebase). Undefined for a pattern that has no
 * counterpart. contract 13 §10.
 */
export function translateSource(source: string, dialect: Dialect): Translated | undefined {
  const star = dialect === 'vercel' ? '(.*)' : '**'
  const text = dialect === 'firebase' && source === '**' ? '/**' : source
  if (!text.startsWith('/')) return undefined
  const segments = text.slice(1).split('/')
  const last = segments.pop() ?? ''
  const before = segments.map(translateSegment)
  const end = translateLast(last, star)
  if (end === undefined || before.some((one) => one === undefined)) return undefined
  const all = [...before, end].flatMap((one) => (one === undefined ? [] : [one]))
  return {
    path: `/${all.map(({ text }) => text).join('/')}`,
    groups: all.flatMap(({ group }) => (group === null ? [] : [group])),
  }
}

/**
 * The target with this service's placeholders. Undefined if it inserts what the source does not capture, or in a way
 * that has no counterpart. Firebase inserts all that `:name*` took where the target says `:name`.
 */
export function translateTarget(
  target: string,
  { groups }: Translated,
  dialect: Dialect,
): string | undefined {
  const [, origin = '', rest = ''] = /^(https?:\/\/[^/?#]*)?(.*)$/is.exec(target) ?? []
  let isKnown = true
  const inserted = (group: Group | undefined, isStar: boolean): string => {
    const isWhole = isStar || dialect === 'firebase'
    if (group === undefined || (group.isStar ? !isWhole : isStar)) isKnown = false
    return group?.isStar === true ? ':splat' : `:${group?.name ?? ''}`
  }
  const text = rest.replace(
    INSERTION,
    (_, name: string | undefined, star: string | undefined, number: string) =>
      name === undefined
        ? inserted(groups[Number(number) - 1], groups[Number(number) - 1]?.isStar === true)
        : inserted(
            groups.find((group) => group.name === name),
            star !== undefined,
          ),
  )
  return isKnown && !/[()*\\]/.test(text) && !/[:$]/.test(origin.slice(8).replace(/:\d+$/, ''))
    ? `${origin}${text}`
    : undefined
}

const INSERTION = /:([A-Za-z]\w*)(\*)?|\$(\d)/g

type Piece = { text: string; group: Group | null }

function translateSegment(segment: string): Piece | undefined {
  const name = PARAMETER.exec(segment)?.[1]
  if (name !== undefined && name !== 'splat') return { text: segment, group: { name, isStar: false } }
  return SPECIAL.test(segment) ? undefined : { text: literal(segment), group: null }
}

function translateLast(segment: string, star: string): Piece | undefined {
  const rest = REST.exec(segment)?.[1]
  if (rest !== undefined) return { text: '*', group: { name: rest, isStar: true } }
  if (!segment.endsWith(star)) return translateSegment(segment)
  const head = segment.slice(0, -star.length)
  if (SPECIAL.test(head) || (star === '**' && head !== '')) return undefined
  return { text: `${literal(head)}*`, group: { name: null, isStar: true } }
}

/** `#` would begin a fragment. */
const literal = (text: string): string => text.replaceAll('#', '%23')
