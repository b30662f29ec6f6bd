import http from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { ActionFailure, ApiFailure, messageOf, ServerUnreachable } from './failure.mjs'

/**
 * One request; the answer's JSON. `body` is text or an iterable of buffers, which is sent as the line takes it.
 * Throws `ApiFailure` for a refusal, `ServerUnreachable` for no answer, and what the iterable throws. Redirects
 * are not followed: they would carry the key to another host.
 *
 * @param {{ apiUrl: string, apiKey: string }} server
 * @param {string} path
 * @param {{ method: string, contentType: string, body: string | Iterable<Buffer>, signal: AbortSignal }} call
 * @returns {Promise<any>}
 */
export async function callApi({ apiUrl, apiKey }, path, { method, contentType, body, signal }) {
  const headers = {
    accept: 'application/json',
    'content-type': contentType,
    'user-agent': 'svc-upload-action',
    'x-api-key': apiKey,
  }
  let answer
  try {
    answer = await exchange(apiUrl + path, { method, headers, signal }, body)
  } catch (error) {
    if (error instanceof ActionFailure) throw error
    throw new ServerUnreachable(`${apiUrl} is not reachable: ${reasonOf(error)}`)
  }
  const json = parseJson(answer.text)
  if (answer.status >= 200 && answer.status < 300 && json !== undefined) return json
  throw new ApiFailure({
    status: answer.status,
    code: json?.error,
    message: describeRefusal(apiUrl, answer, json),
    retryAfterMs: parseRetryAfter(answer.headers['retry-after']),
  })
}

/** Not `fetch`: that of Node 20 keeps every chunk of a streamed body in memory until the request is over. */
function exchange(url, options, body) {
  const { request } = url.startsWith('https:') ? https : http
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options)
    outgoing.on('error', reject)
    outgoing.on('response', async (incoming) => {
      try {
        const text = await textOf(incoming)
        resolve({ status: incoming.statusCode, headers: incoming.headers, text })
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

function reasonOf(error) {
  const cause = error?.name === 'AbortError' ? error.cause : error
  return cause?.errors?.[0]?.message ?? messageOf(cause)
}

function parseJson(text) {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

function describeRefusal(apiUrl, { status, headers }, json) {
  const details = Array.isArray(json?.details) ? json.details : []
  if (typeof json?.message === 'string')
    return [json.message, ...details.map(({ path, message }) => `  ${path}: ${message}`)].join('\n')
  if (headers.location !== undefined)
    return `${apiUrl} redirects to ${headers.location}; give that address as api-url`
  return `${apiUrl} answered ${status} without JSON; is it the address of the API?`
}

function parseRetryAfter(value) {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : undefined
}
