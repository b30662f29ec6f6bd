import { parseIp } from '../domain/ip-ranges.ts'

/**
 * Whether a request is for a name of this machine. Any other name that resolves to it (DNS rebinding) would let foreign pages
 * read what is served here, and the backends behind the rules. Nobody outside owns a name without a dot, or one of these.
 */
export function isOwnHost(header: string | null, listening: string): boolean {
  const host = (header ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  if (parseIp(host.replace(/^\[|\]$/g, '')) !== null) return true
  return !host.includes('.') || host === listening.toLowerCase() || /\.(localhost|local|test)$/.test(host)
}

export const notOurs = (listening: string): Response =>
  new Response(
    `This name is not one of this machine. Use ${listening}, or start svc dev with --host and the name.\n`,
    { status: 421, headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' } },
  )
