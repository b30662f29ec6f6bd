import type { Certificate } from '../../platform/certificates.ts'
import type { HostRecord } from './host-record.ts'
import { namesOf } from './wildcard.ts'

/** What a listener takes of these records. */
export const servedOf = (records: Iterable<HostRecord>): Certificate[] =>
  [...records].flatMap(({ host, certificate }) =>
    certificate === null ? [] : [{ ...certificate, hosts: namesOf(host) }],
  )
