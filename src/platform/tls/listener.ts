import type { Certificate } from '../certificates.ts'
import type { ListeningSocket, Steering } from './steering.ts'

/** A listener whose certificates change while it serves. */
export type TlsListener = {
  isOpen(): boolean
  /**
   * Serves these from now on. Rejects when they cannot be used, and those before stay. Called again in the meantime, the
   * last call counts.
   */
  serve(certificates: readonly Certificate[]): Promise<void>
  /** As `Bun.Server.stop`: with `isForced` nobody is waited for. */
  stop(isForced: boolean): Promise<void>
}

type TlsListenerOptions = {
  /** Opens a server on the port; others may listen there too. `isRetired`: another one took over. */
  open: (tls: Bun.TLSOptions[], isRetired: () => boolean) => Bun.Server<unknown>
  /** Whose certificate a client gets that names no host, or an unknown one. */
  mainHost: string
  /** How long a listener that was replaced still answers on kept connections: longer than one may be silent. */
  lingerMs: number
  /** The least time from one change to the next. */
  gapMs?: number
}

type Generation = {
  server: Bun.Server<unknown>
  socket: ListeningSocket | undefined
  isRetired: boolean
  closing: ReturnType<typeof setTimeout> | undefined
}

/** A listener to which new connections still come shows them its old certificates: it has to go soon. */
const UNLED_MS = 2_000
const GAP_MS = 2_000

/**
 * Bun cannot change the certificates of a server. So a second one is opened on the same port, new connections are led to
 * it, and the first answers what comes on its connections, asking for their end, until none is left. Nothing is cut.
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

/** One entry a name; the first is what everybody else gets. */
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
