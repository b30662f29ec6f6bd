import type { Config } from '../../config/config.ts'
import { storeUrlText } from '../../config/store.ts'
import { countCertificates } from '../../db/stored-workspace/certificates.ts'
import { type StoreStatus, storeStatus } from '../../db/stored-workspace/status.ts'
import { EXIT, type Io, printable, printableJson } from '../command.ts'
import { onStoreOfSvc } from './open.ts'

export const status = (config: Config, isJson: boolean, io: Io): Promise<number> =>
  onStoreOfSvc(config, async (store, file) => {
    const found = await storeStatus(store, file, {
      url: storeUrlText(config),
      now: Date.now(),
      silenceMs: config.takeoverSeconds * 1_000,
    })
    io.stdout.write(isJson ? `${printableJson(found, 2)}\n` : textOf(found, await countCertificates(store)))
    return EXIT.ok
  })

function textOf(
  { id, url, format, primary, log, base, contents }: StoreStatus,
  certificates: number,
): string {
  const lines = [
    ['store', `${id}, ${format}, at ${url}`],
    ['primary', primary === null ? 'none yet' : primaryText(primary)],
    ['log', log.last === null ? 'empty' : `${log.first} to ${log.last}, ${sizeText(log.bytes)}`],
    [
      'base',
      base === null ? 'none' : `${base.last}, ${sizeText(base.bytes)}, of ${base.at ?? 'an unknown time'}`,
    ],
    ['contents', `${contents.objects} objects, ${sizeText(contents.bytes)}`],
    ...(certificates === 0 ? [] : [['certs', `${certificates} files of certificates and accounts`]]),
  ]
  return lines.map(([name = '', text = '']) => `${name.padEnd(9)} ${printable(text)}\n`).join('')
}

const primaryText = ({
  name,
  url,
  epoch,
  lastSeenAt,
  isAlive,
}: NonNullable<StoreStatus['primary']>): string =>
  [name, url, `epoch ${epoch}`, `${isAlive ? 'alive' : 'silent'}, last seen ${lastSeenAt ?? 'never'}`]
    .filter((part) => part !== null)
    .join(', ')

const sizeText = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
