/** The keys of the object store below its prefix. contract 18 §2. */

/** Objects of the log: the name depends on the number alone. */
export const LOG_FOLDER = 'db/0000/'
/** Every page of the database as of a number. */
export const BASE_FOLDER = 'db/0009/'
export const BEAT_FOLDER = 'beat/'
/** A machine that is to be primary asks the one that is to let it make the next number. */
export const WANTED_KEY = `${BEAT_FOLDER}wanted`
export const PACK_FOLDER = 'packs/'
export const FILE_FOLDER = 'files/'
/** Certificates, and accounts with the authority. */
export const CERT_FOLDER = 'certs/'
/** What the authority is to be told while it looks whether a host is ours. */
export const ANSWER_FOLDER = `${CERT_FOLDER}answers/`

export const logKey = (number: number): string => `${LOG_FOLDER}${hex(number)}-${hex(number)}.ltx`
export const baseKey = (number: number): string => `${BASE_FOLDER}${hex(1)}-${hex(number)}.ltx`
export const beatKey = (epoch: number): string => `${BEAT_FOLDER}${epoch}`
export const packKey = (id: string): string => `${PACK_FOLDER}${id}`
/** `id` is new for each object: a content that was deleted and comes again has another key. */
export const fileKey = (sha256: string, id: string): string => `${FILE_FOLDER}${sha256}-${id}`

/**
 * An object for each version of a file in `DATA_DIR/certs`, in the order of their age: by the epoch of who wrote it, then by its
 * number.
 */
export const certKey = ({ name, epoch, number }: CertKey): string =>
  `${certFolder(name)}${digits(epoch)}-${digits(number)}`
export const certFolder = (name: string): string => `${CERT_FOLDER}${name}/`
export type CertKey = { name: string; epoch: number; number: number }

/** Null for any other key. */
export function certOfKey(key: string): CertKey | null {
  const [, name, epoch, number] =
    /^certs\/((?:host|account)-[\w.*-]+\.json)\/([0-9a-f]{16})-([0-9a-f]{16})$/.exec(key) ?? []
  return name === undefined || epoch === undefined || number === undefined
    ? null
    : { name, epoch: Number.parseInt(epoch, 16), number: Number.parseInt(number, 16) }
}

export const answerKey = (host: string, token: string): string => `${ANSWER_FOLDER}${host}/${token}`

/** The content that an object has, by its key; null for any other key. `id` holds the time when it was made. */
export function contentOfKey(key: string): ContentKey | null {
  const [, pack] = /^packs\/([\w-]+)$/.exec(key) ?? []
  if (pack !== undefined) return { pack, id: pack }
  const [, sha256, object] = /^files\/([0-9a-f]{64})-([\w-]+)$/.exec(key) ?? []
  return sha256 === undefined || object === undefined ? null : { pack: null, sha256, object, id: object }
}

export type ContentKey =
  | { pack: string; id: string }
  | { pack: null; sha256: string; object: string; id: string }

/** The number of a log object; null for any other key, and beyond what a number can hold. */
export const numberOfLog = (key: string): number | null => {
  const [, first, last] = /^db\/0000\/([0-9a-f]{16})-([0-9a-f]{16})\.ltx$/.exec(key) ?? []
  return first !== undefined && first === last ? safeNumber(first) : null
}

/** The same of a base. */
export const numberOfBase = (key: string): number | null => {
  const [, last] = /^db\/0009\/0000000000000001-([0-9a-f]{16})\.ltx$/.exec(key) ?? []
  return last === undefined ? null : safeNumber(last)
}

const hex = (number: number): string => {
  if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`${number} is no number of the log`)
  return digits(number)
}

const digits = (number: number): string => number.toString(16).padStart(16, '0')

function safeNumber(digits: string): number | null {
  const number = Number.parseInt(digits, 16)
  return Number.isSafeInteger(number) && number > 0 ? number : null
}
