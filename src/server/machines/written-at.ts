import { cookieValues, setCookie } from '../../domain/cookies.ts'

/** Where the log stood when an answer that waited for it left, so that a machine that follows shows no older state. contract 18 §6. */
export type WrittenAt = { epoch: number; number: number }

export const WRITTEN_AT_COOKIE = 'svc-at'
const MAX_AGE_SECONDS = 60

export const writtenAtCookie = ({ epoch, number }: WrittenAt, isSecure: boolean): string =>
  setCookie(WRITTEN_AT_COOKIE, `${epoch}.${number}`, {
    domain: null,
    maxAgeSeconds: MAX_AGE_SECONDS,
    isSecure,
  })

/** The latest one that a `Cookie` header names; null for none. What is no such pair is ignored. */
export function writtenAt(cookieHeader: string | null): WrittenAt | null {
  if (cookieHeader === null || !cookieHeader.includes(WRITTEN_AT_COOKIE)) return null
  const all = cookieValues(cookieHeader, WRITTEN_AT_COOKIE).flatMap((value) => pairOf(value) ?? [])
  return all.reduce<WrittenAt | null>(
    (last, one) => (last === null || one.number > last.number ? one : last),
    null,
  )
}

function pairOf(value: string): WrittenAt | null {
  const [, epoch, number] = /^([1-9]\d{0,8})\.([1-9]\d{0,14})$/.exec(value) ?? []
  return epoch === undefined || number === undefined ? null : { epoch: Number(epoch), number: Number(number) }
}
