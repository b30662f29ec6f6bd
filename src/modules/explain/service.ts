import type { Caller, Context } from '../../context.ts'
import { AppError, invalidField } from '../../domain/errors.ts'
import { parseSampleHeader } from '../../domain/sample-header.ts'
import type { Grant } from '../auth/authorize.ts'
import { passesGate } from '../auth/gate.ts'
import type { Explained } from './model.ts'

export type { Explained } from './model.ts'

/** The site engine as this module sees it: lower layers do not import it. */
export type Explainer = {
  projectOf(url: URL): string | null
  explain(input: {
    url: URL
    method: string
    headers: Headers
    caller: (site: Caller['site']) => Caller
  }): Promise<Explained>
}

type Sample = { url: string; method: string; as: 'anonymous' | 'me'; headers: Headers }

/** Why a request gets its response. Nothing is sent to a backend, and no pipeline runs. */
export const explainAddress = (
  ctx: Context,
  explainer: Explainer,
  grant: Grant,
  { url, method, as, headers }: Sample,
): Promise<Explained> =>
  explainer.explain({
    url: parseUrl(url) ?? unknownAddress(),
    method: method.toUpperCase(),
    headers,
    caller: (site) => visitorAt(ctx, grant, as, site),
  })

/** The caller as they would be on that host, where the membership gate may make them anonymous. */
function visitorAt(ctx: Context, { caller }: Grant, as: 'anonymous' | 'me', site: Caller['site']): Caller {
  const { actor } = caller
  const nobody = { kind: 'anonymous', ip: actor.kind === 'operator' ? '' : actor.ip } as const
  if (as === 'anonymous') return { actor: nobody, site, refused: null }
  if ('user' in actor && !passesGate(ctx, site, actor.user.id))
    return { actor: nobody, site, refused: actor.user }
  return { actor, site, refused: null }
}

const MAX_HEADERS = 20

/** The headers of the request that is explained. Throws `invalid` for those that are none, or that say who is asking. */
export function sampleHeaders(accept: string, lines: readonly string[]): Headers {
  const headers = new Headers({ accept })
  if (lines.length > MAX_HEADERS) throw invalidField('header', `At most ${MAX_HEADERS} headers`)
  for (const line of lines) {
    const header = parseSampleHeader(line)
    if (!header.ok) throw invalidField('header', header.error)
    headers.set(header.name, header.value)
  }
  return headers
}

export function parseUrl(text: string | undefined): URL | null {
  if (text === undefined || !URL.canParse(text)) return null
  const url = new URL(text)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null
}

function unknownAddress(): never {
  throw new AppError('not_found', 'None of your sites has this address')
}
