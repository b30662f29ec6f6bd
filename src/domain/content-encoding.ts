/** The codings that files are stored in, best first. The order breaks ties between equal client preferences. */
export const CONTENT_CODINGS = ['br', 'zstd', 'gzip'] as const
export type ContentCoding = (typeof CONTENT_CODINGS)[number]

/** The weights of one header, in thousandths; null if the header does not mention the coding. */
type Weights = Record<ContentCoding | 'identity' | '*', number | null>

/** Codings that the header does not mention are unwanted. Unencoded content is always accepted, but last. */
const IDENTITY_UNNAMED = 0.5

/**
 * Chooses the best coding, or none, that `Accept-Encoding` allows. RFC 9110 §12.5.3. If it allows nothing available
 * (`identity;q=0`), the content is sent unencoded: §12.4.1 lets a server disregard such a header.
 */
export function chooseEncoding(
  acceptEncoding: string | null,
  available: readonly ContentCoding[],
): ContentCoding | 'identity' {
  if (acceptEncoding === null || available.length === 0) return 'identity'
  switch (acceptEncoding) {
    case 'gzip, deflate, br, zstd':
    case 'deflate, gzip, br, zstd':
    case 'br, zstd, gzip':
      if (available.includes('br')) return 'br'
      return available.includes('zstd') ? 'zstd' : 'gzip'
    case 'gzip, deflate, br':
    case 'br, gzip, deflate':
    case 'gzip, br':
    case 'br, gzip':
      if (available.includes('br')) return 'br'
      return available.includes('gzip') ? 'gzip' : 'identity'
    case 'gzip, deflate':
    case 'gzip':
      return available.includes('gzip') ? 'gzip' : 'identity'
    default:
      return chooseByWeight(parseWeights(acceptEncoding), available)
  }
}

function chooseByWeight(weights: Weights, available: readonly ContentCoding[]): ContentCoding | 'identity' {
  let best: ContentCoding | 'identity' = 'identity'
  let bestWeight = 0
  for (const coding of CONTENT_CODINGS) {
    const weight = weights[coding] ?? weights['*'] ?? 0
    if (weight <= bestWeight || !available.includes(coding)) continue
    best = coding
    bestWeight = weight
  }
  const identity = weights.identity ?? weights['*'] ?? IDENTITY_UNNAMED
  return identity > bestWeight ? 'identity' : best
}

function parseWeights(header: string): Weights {
  const weights: Weights = { br: null, zstd: null, gzip: null, identity: null, '*': null }
  for (const element of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';')
    const coding = canonicalName(name.trim())
    if (coding !== null) weights[coding] = weightOf(parameters)
  }
  return weights
}

function canonicalName(name: string): keyof Weights | null {
  switch (name) {
    case 'br':
    case 'zstd':
    case 'gzip':
    case 'identity':
    case '*':
      return name
    case 'x-gzip':
      return 'gzip'
    default:
      return null
  }
}

/** In thousandths. An unreadable weight counts as 0, so that the coding is not sent on a guess. */
function weightOf(parameters: string[]): number {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2)
    if (name.trim() !== 'q') continue
    const text = value.trim()
    return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Math.round(Number(text) * 1000) : 0
  }
  return 1000
}
