import type { SecretBox } from '../../platform/secret-box.ts'
import type { HookRow } from './queries.ts'

type Part = 'url' | 'secret' | 'headers'

/** Shown instead of a stored header value. Sent back, it keeps the stored one. */
export const REDACTED = '[redacted]'

/** A sealed value is bound to its place in one hook: it cannot be opened elsewhere. */
export const hookSealContext = (hookId: string, part: Part, name = ''): string =>
  `webhooks ${hookId} ${part} ${name.toLowerCase()}`

export const sealPart = (box: SecretBox, hookId: string, part: 'url' | 'secret', text: string): string =>
  box.seal(text, hookSealContext(hookId, part))

export const openUrl = (box: SecretBox, { id, sealedUrl }: Pick<HookRow, 'id' | 'sealedUrl'>): string =>
  box.open(sealedUrl, hookSealContext(id, 'url'))

/** Scheme, host and port; empty if the server's key does not open the address: such a hook can be given another or deleted. */
export function originOfHook(box: SecretBox, hook: Pick<HookRow, 'id' | 'sealedUrl'>): string {
  const url = readableUrl(box, hook)
  return url === '' ? '' : new URL(url).origin
}

/** Empty if the server's key does not open it. */
export function readableUrl(box: SecretBox, hook: Pick<HookRow, 'id' | 'sealedUrl'>): string {
  try {
    return openUrl(box, hook)
  } catch {
    return ''
  }
}

export const openHookSecret = (
  box: SecretBox,
  { id, sealedSecret }: Pick<HookRow, 'id' | 'sealedSecret'>,
): string => box.open(sealedSecret, hookSealContext(id, 'secret'))

type WithHeaders = Pick<HookRow, 'id' | 'sealedHeaders'>

export const sealedHeadersOf = ({ sealedHeaders }: Pick<HookRow, 'sealedHeaders'>): Record<string, string> =>
  JSON.parse(sealedHeaders) as Record<string, string>

export const openHeaders = (box: SecretBox, hook: WithHeaders): [name: string, value: string][] =>
  Object.entries(sealedHeadersOf(hook)).map(([name, sealed]) => [
    name,
    box.open(sealed, hookSealContext(hook.id, 'headers', name)),
  ])

export const sealHeader = (box: SecretBox, hookId: string, name: string, value: string): string =>
  box.seal(value, hookSealContext(hookId, 'headers', name))

/** The same header values sealed with the current key. */
export const resealHookHeaders = (box: SecretBox, hook: WithHeaders): string =>
  JSON.stringify(
    Object.fromEntries(
      openHeaders(box, hook).map(([name, value]) => [name, sealHeader(box, hook.id, name, value)]),
    ),
  )
