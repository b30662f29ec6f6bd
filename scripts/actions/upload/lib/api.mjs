import http from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ActionFailure, ApiFailure, messageOf, ServerUnreachable } from './failure.mjs'

/** No answer of the API comes near. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const LONGEST_TEXT = 2_000
const MAX_DETAILS = 200

/**
 * @typedef {{ apiUrl: string, apiKey: string }} Server
 * @typedef {string | Iterable<Buffer>} Body
 * @typedef {Record<string, unknown>} Json An object: the API answers nothing else.
 * @typedef {{ status: number, headers: http.IncomingHttpHeaders, text: string }} Answer
 */

/**
 * One request; the answer's JSON, an empty object where there is nothing (204). `body` is text or an iterable of buffers, which is sent as the line takes it.
 * Throws `ApiFailure` for a refusal, `ServerUnreachable` for no answer, and what the iterable throws. Redirects
 * are not followed: they would carry the key to another host.
 *
 * @param {Server} server
 * @param {string} path
 * @param {{ method: string, contentType: string, body: Body, signal: AbortSignal }} call
 * @returns {Promise<Json>}
 */
export async function callApi({ apiUrl, apiKey }, path, { method, contentType, body, signal }) {
  const headers = {
    accept: 'application/json',
    'content-type': contentType,
    'user-agent': 'svc-upload-action',
    'x-api-key': apiKey,
  }
  /** @type {Answer} */
  let answer
  try {
    answer = await exchange(apiUrl + path, { method, headers, signal }, body)
  } catch (error) {
    if (error instanceof ActionFailure) throw error
    throw new ServerUnreachable(`${apiUrl} is not reachable: ${reasonOf(error)}`)
  }
  const json = parseJson(answer.text)
  if (answer.status >= 200 && answer.status < 300 && json !== undefined) return json
  if (answer.status === 204) return {}
  throw new ApiFailure({
    status: answer.status,
    code: typeof json?.['error'] === 'string' ? json['error'] : undefined,
    message: describeRefusal(apiUrl, answer, json),
    retryAfterMs: parseRetryAfter(answer.headers['retry-after']),
  })
}

/**
 * One request to a forge, whatever it answers. Throws `ServerUnreachable`.
 *
 * @type {import('./forge/tell.d.mts').Send}
 */
export async function sendOnce(url, { method, headers, body = '', timeoutMs }) {
  try {
    return await exchange(url, { method, headers, signal: AbortSignal.timeout(timeoutMs) }, body)
  } catch (error) {
    throw new ServerUnreachable(`${new URL(url).origin} is not reachable: ${reasonOf(error)}`)
  }
}

/**
 * Not `fetch`: that of Node 20 keeps every chunk of a streamed body in memory until the request is over.
 *
 * @param {string} url
 * @param {http.RequestOptions} options
 * @param {Body} body
 * @returns {Promise<Answer>}
 */
function exchange(url, options, body) {
  const { request } = url.startsWith('https:') ? https : http
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options)
    outgoing.on('error', reject)
    outgoing.on('response', async (incoming) => {
      try {
        const text = await textOf(incoming)
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
      } catch (error) {
        reject(error)
      } finally {
        // A server that says no early does not want the rest.
        if (!outgoing.writableFinished) outgoing.destroy()
      }
    })
    if (typeof body === 'string') outgoing.end(body)
    else pipeline(Readable.from(body, { objectMode: false }), outgoing).catch(reject)
  })
}

/**
 * An answer may have no end: what is larger than any of svc is not read on.
 *
 * @param {http.IncomingMessage} incoming
 */
async function textOf(incoming) {
  /** @type {Buffer[]} */
  const pieces = []
  let bytes = 0
  for await (const piece of incoming) {
    bytes += piece.length
    if (bytes > MAX_ANSWER_BYTES)
      throw new ActionFailure(
        'The server answered more than any svc does; is api-url the address of the API?',
      )
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/**
 * A name may have several addresses, and none may answer: the first of those says it all.
 *
 * @param {unknown} error
 */
function reasonOf(error) {
  const cause = error instanceof Error && error.name === 'AbortError' ? error.cause : error
  return messageOf(cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause)
}

/**
 * @param {string} text
 * @returns {Json | undefined}
 */
function parseJson(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * @param {string} apiUrl
 * @param {Answer} answer
 * @param {Json | undefined} json
 */
function describeRefusal(apiUrl, { status, headers }, json) {
  if (typeof json?.['message'] === 'string') return [shown(json['message']), ...detailsOf(json)].join('\n')
  if (headers.location !== undefined)
    return `${apiUrl} redirects to ${headers.location}; give that address as api-url`
  return `${apiUrl} answered ${status} without JSON; is it the address of the API?`
}

/**
 * What the message does not say already: it is often the first detail, with or without its place.
 *
 * @param {Json} json
 */
function detailsOf({ message, details }) {
  const list = Array.isArray(details) ? details : []
  return list
    .filter((one) => typeof one?.path === 'string' && typeof one.message === 'string')
    .slice(0, MAX_DETAILS)
    .filter(
      (one) => ![one.message, `${one.path}: ${one.message}`, `The body: ${one.message}`].includes(message),
    )
    .map((one) =>
      one.path === '' ? `  ${shown(one.message)}` : `  ${shown(one.path)}: ${shown(one.message)}`,
    )
}

/** @param {string} text */
function shown(text) {
  const short = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text
  return short.replace(/\p{Cc}+/gu, ' ')
}

/**
 * Only the seconds that svc says: this folder has to work by itself.
 *
 * @param {string | undefined} value
 */
function parseRetryAfter(value) {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : undefined
}
