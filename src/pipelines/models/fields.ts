import { isRecord } from '../../domain/is-record.ts'
import type { Piece } from './provider.ts'

/** How answers are looked into whose shape nobody promises. */

export const recordAt = (value: unknown, key: string): Record<string, unknown> => {
  const inner = isRecord(value) ? value[key] : undefined
  return isRecord(inner) ? inner : {}
}

export const listAt = (value: unknown, key: string): readonly unknown[] => {
  const inner = isRecord(value) ? value[key] : undefined
  return Array.isArray(inner) ? inner : []
}

export const textAt = (value: unknown, key: string): string | undefined => {
  const inner = isRecord(value) ? value[key] : undefined
  return typeof inner === 'string' ? inner : undefined
}

/** A count; undefined for anything that is none. */
export const countAt = (value: unknown, key: string): number | undefined => {
  const inner = isRecord(value) ? value[key] : undefined
  return typeof inner === 'number' && Number.isSafeInteger(inner) && inner >= 0 ? inner : undefined
}

/** A piece of what is there. */
export const pieceOf = (parts: { [K in keyof Piece]: Piece[K] | undefined }): Piece =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined))
