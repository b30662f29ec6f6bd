/**
 * Runs inside the sandbox before the author's code and keeps references of its own to what it needs. The author's code
 * can change every global, but only in its own realm, which is discarded after the call. Returns `{ state, invoke }`.
 * It is a text because another engine runs it, as a script whose value is this function: neither the bundler nor types
 * know that engine.
 */
export const GUEST_SOURCE = `(function (inputJson, host) {
  'use strict'
  const { parse, stringify } = JSON
  const { freeze, values } = Object
  for (const name of ['SharedArrayBuffer', 'Atomics', 'performance']) delete globalThis[name]
  const deepFreeze = (value) => {
    if (typeof value === 'object' && value !== null) {
      const inner = values(value)
      for (let i = 0; i < inner.length; i++) deepFreeze(inner[i])
      freeze(value)
    }
    return value
  }
  const { sha256, randomToken, randomUUID, base64urlEncode, base64urlDecode } = host
  const hmac = host.hmacSha256
  const signJson = host.sign
  const verifyJson = host.verify
  const input = parse(inputJson)
  input.utils = {
    sha256, randomToken, randomUUID, base64urlEncode, base64urlDecode,
    // A missing secret is null, or empty in a template: a key that anybody could guess.
    hmacSha256: (key, text) => {
      if (key === null || key === undefined || key === '')
        throw { message: 'hmacSha256 needs a key: a secret that is not set is null, or empty in a template' }
      return hmac(key, text)
    },
    sign: (value, seconds) => signJson(stringify(value) ?? 'null', +seconds),
    verify: (token) => {
      const json = verifyJson('' + token)
      return json === null ? null : parse(json)
    },
  }
  deepFreeze(input)
  const state = { __proto__: null, kind: 'pending', text: '' }
  const describe = (error) => {
    try {
      return error !== null && typeof error === 'object' && 'message' in error ? '' + error.message : '' + error
    } catch {
      return 'an error that cannot be shown'
    }
  }
  const invoke = async (handler) => {
    try {
      if (typeof handler !== 'function') throw { message: 'the code declares no function named handler' }
      const text = stringify(await handler(input))
      state.text = text === undefined ? 'null' : text
      state.kind = 'ok'
    } catch (error) {
      state.text = describe(error)
      state.kind = 'threw'
    }
  }
  return { __proto__: null, state, invoke: (handler) => void invoke(handler) }
})`
