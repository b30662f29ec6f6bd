/**
 * @typedef {(method: string, path: string, body?: object) => Promise<{ json: unknown, hasNext: boolean }>} ForgeCall
 */

/** Nobody waits for a comment longer than this. */
const TIMEOUT_MS = 10_000
const LONGEST_TEXT = 200

/** The forge said no, or nothing that one can work with: `status` is then 0. */
export class ForgeRefusal extends Error {
  /**
   * @param {string} message
   * @param {number} status
   */
  constructor(message, status = 0) {
    super(message)
    this.status = status
  }
}

/**
 * Calls below `apiUrl`; one that does not answer is not asked again. `send` must not follow redirects, which would carry
 * the token to another host. Throws `ForgeRefusal`.
 *
 * @param {{ apiUrl: string, headers: Record<string, string>, send: import('./tell.d.mts').Send }} forge
 * @returns {ForgeCall}
 */
export function createForgeCall({ apiUrl, headers, send }) {
  const base = apiUrl.replace(/\/+$/, '')
  /** @type {ForgeRefusal | undefined} */
  let silence
  return async (method, path, body) => {
    if (silence !== undefined) throw silence
    const request = { method, headers: headersOf(headers, body), timeoutMs: TIMEOUT_MS }
    let answer
    try {
      answer = await send(
        base + path,
        body === undefined ? request : { ...request, body: JSON.stringify(body) },
      )
    } catch (error) {
      silence = new ForgeRefusal(short(error instanceof Error ? error.message : String(error)))
      throw silence
    }
    return readAnswer(`${method} ${path}`, answer)
  }
}

/**
 * @param {Record<string, string>} given
 * @param {object | undefined} body
 * @returns {Record<string, string>}
 */
function headersOf(given, body) {
  const headers = { accept: 'application/json', 'user-agent': 'svc', ...given }
  return body === undefined ? headers : { ...headers, 'content-type': 'application/json' }
}

/**
 * @param {string} call
 * @param {Awaited<ReturnType<import('./tell.d.mts').Send>>} answer
 */
function readAnswer(call, { status, headers, text }) {
  const json = parseJson(text)
  const said = typeof json === 'object' && json !== null && 'message' in json ? `: ${json.message}` : ''
  if (status < 200 || status > 299)
    throw new ForgeRefusal(short(`${call} was answered ${status}${said}`), status)
  if (json === undefined) throw new ForgeRefusal(short(`${call} was answered ${status} without JSON`))
  return { json, hasNext: /;\s*rel="?next"?/.test(String(headers['link'] ?? '')) }
}

/** @param {string} text */
function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param {string} text */
function short(text) {
  const line = text.replace(/\p{Cc}+/gu, ' ')
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line
}
