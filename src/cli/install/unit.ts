import shipped from '../../../docs/svc.service' with { type: 'file' }
import type { Config } from '../../config/config.ts'

/** A unit that this command wrote, with a hash of all lines behind it. */
const HEAD = /^# Written by svc install \S+ sha256:([0-9a-f]{64})\n/

/** `docs/svc.service`, for a version that says so in the first line. `writable`: absolute paths. contract 19.3. */
export async function unitOf(
  version: string,
  config: Config,
  writable: readonly string[],
): Promise<Uint8Array> {
  const text = withPorts(withPaths(await Bun.file(shipped).text(), writable), config)
  return Buffer.from(`# Written by svc install ${version} sha256:${sha256(text)}\n${text}`)
}

/** False for one that was changed by hand, or made in another way. */
export function isAsWritten(unit: Uint8Array): boolean {
  const text = Buffer.from(unit).toString('latin1')
  const [head, hash] = HEAD.exec(text) ?? []
  return head !== undefined && sha256(unit.subarray(head.length)) === hash
}

const sha256 = (content: string | Uint8Array): string =>
  new Bun.CryptoHasher('sha256').update(content).digest('hex')

const SAMPLE_PATHS = /^# ReadWritePaths=.*$/m
const withPaths = (text: string, paths: readonly string[]): string =>
  paths.length === 0
    ? text
    : text.replace(SAMPLE_PATHS, () => paths.map((path) => `ReadWritePaths=${inUnit(path)}`).join('\n'))

const withPorts = (text: string, config: Config): string =>
  listensBelow1024(config)
    ? text.replaceAll(/^(CapabilityBoundingSet|AmbientCapabilities)=$/gm, '$1=CAP_NET_BIND_SERVICE')
    : text

const listensBelow1024 = ({ tls, port, httpPort }: Config): boolean =>
  [port, tls === 'off' ? null : httpPort].some((one) => one !== null && one > 0 && one < 1024)

/** One word, of which nothing is replaced: systemd.unit(5), systemd.syntax(7). */
function inUnit(path: string): string {
  const plain = path.replaceAll('%', '%%')
  return /[\s"'\\]/.test(plain) ? `"${plain.replace(/["\\]/g, '\\$&')}"` : plain
}
