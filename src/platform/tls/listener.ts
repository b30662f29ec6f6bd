import type { Certificate } from '../certificates.ts'
import type { ListeningSocket, Steering } from './steering.ts'

/** A listener whose certificates can change while it serves. */
export type TlsListener = {
  isOpen(): boolean
  /**
   * Serves these certificates from now on. If they are unusable, rejects and keeps the previous ones. If called again
   * meanwhile, the last call wins.
   */
  serve(certificates: readonly Certificate[]): Promise<void>
  /** Like `Bun.Server.stop`; `isForced` waits for nothing. */
  stop(isForced: boolean): Promise<void>
}

type TlsListenerOptions = {
  /** Opens a server on the port, which other servers may share. `isRetired`: another one has replaced it. */
  open: (tls: Bun.TLSOptions[], isRetired: () => boolean) => Bun.Server<unknown>
  /** The host whose certificate a client gets if it names no host or an unknown one. */
  mainHost: string
  /** How long a replaced listener still serves its kept connections: longer than one may be silent. */
  lingerMs: number
  /** The minimum time between two changes. */
  gapMs?: number
}

type Generation = {
  server: Bun.Server<unknown>
  socket: ListeningSocket | undefined
  isRetired: boolean
  closing: ReturnType<typeof setTimeout> | undefined
}

/**
 * How long a replaced listener stays if the kernel may still give it new connections: short, because it serves its old
 * certificates.
 */
const UNLED_MS = 2_000
const GAP_MS = 2_000

/**
 * Bun cannot change the certificates of a running server. So a second server opens on the same port and gets all new
 * connections. The first one serves its remaining connections and asks each to close, until none is left. No connection
 * is aborted.
 */
export function createTlsListener(options: TlsListenerOptions): TlsListener {
  const { gapMs = GAP_MS } = options
  const old = new Set<Generation>()
  let current: Generation | undefined
  let steering: Steering | undefined
  let isSteeringKnown = false
  let isStopped = false
  let next: readonly Certificate[] = []
  let turn: Promise<void> | undefined
  let notBefore = 0

  const take = async (): Promise<void> => {
    await Bun.sleep(Math.max(0, notBefore - performance.now()))
    if (current !== undefined && !isSteeringKnown) {
      steering = (await import('./steering.ts')).createSteering()
      current.socket = steering?.first
      isSteeringKnown = true
    }
    turn = undefined
    if (isStopped) return
    notBefore = performance.now() + gapMs
    const before = current
    const { generation, isLed } = opened(tlsOptions(next, options.mainHost), options, steering)
    current = generation
    if (before !== undefined) retire(before, isLed ? options.lingerMs : UNLED_MS)
  }

  const retire = (generation: Generation, afterMs: number): void => {
    generation.isRetired = true
    old.add(generation)
    generation.closing = setTimeout(() => {
      void generation.server.stop().finally(() => old.delete(generation))
      if (generation.socket !== undefined) steering?.closed(generation.socket)
    }, afterMs)
  }

  return {
    isOpen: () => current !== undefined,
    serve(certificates) {
      next = certificates
      turn ??= take()
      return turn
    },
    async stop(isForced) {
      isStopped = true
      const all = current === undefined ? [...old] : [current, ...old]
      for (const { closing } of all) clearTimeout(closing)
      await Promise.all(all.map(({ server }) => server.stop(isForced)))
    },
  }
}

function opened(
  tls: Bun.TLSOptions[],
  { open }: TlsListenerOptions,
  steering: Steering | undefined,
): { generation: Generation; isLed: boolean } {
  const state = { isRetired: false, closing: undefined }
  const start = () => open(tls, () => generation.isRetired)
  const led = steering?.opening(start)
  const generation: Generation = { ...state, server: led?.opened ?? start(), socket: led?.socket }
  return { generation, isLed: led?.isLed ?? false }
}

/** One entry per name. The first is the default for all other names. */
export function tlsOptions(certificates: readonly Certificate[], mainHost: string): Bun.TLSOptions[] {
  const byName = new Map<string, Bun.TLSOptions>()
  for (const { hosts, certPem, keyPem } of certificates)
    for (const name of hosts.length === 0 ? [mainHost] : hosts)
      if (!byName.has(name)) byName.set(name, { cert: certPem, key: keyPem, serverName: name })
  const parent = `*${mainHost.slice(mainHost.indexOf('.'))}`
  const main = byName.get(mainHost) ?? byName.get(parent)
  const entries = [...byName.values()]
  return main === undefined ? entries : [main, ...entries.filter((entry) => entry !== main)]
}
